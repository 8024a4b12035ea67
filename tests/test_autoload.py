"""With TUNEDOPS_ENABLED set, `import torch` alone is enough; without it, it costs nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import RunPython

NOTHING = "import json, os, sys\n"
ROUTED = "sys.modules['tunedops']._C.routing_is_installed()"


@pytest.mark.smoke
def test_the_variable_alone_tunes_a_program(run_python: RunPython, tmp_path: Path) -> None:
    run_python(
        "import torch; torch.ones(9, 8) @ torch.ones(8, 7)", prelude=NOTHING, TUNEDOPS_ENABLED="1"
    )
    assert "nn_7_9_8" in (tmp_path / "tunedops_results_cpu.csv").read_text()


@pytest.mark.parametrize("value", [None, "0", ""])
def test_without_it_nothing_is_loaded(run_python: RunPython, value: str | None) -> None:
    run_python(
        """
        before = set(sys.modules)
        import tunedops_autoload
        assert set(sys.modules) - before == {"tunedops_autoload"}
        import torch
        assert "tunedops" not in sys.modules
        """,
        prelude=NOTHING,
        TUNEDOPS_ENABLED=value,
    )


@pytest.mark.parametrize("order", ["import torch, tunedops", "import tunedops, torch"])
@pytest.mark.parametrize("autoload", ["0", "1"])
def test_a_program_may_import_it_too(run_python: RunPython, order: str, autoload: str) -> None:
    done = run_python(
        f"{order}\nassert {ROUTED}",
        prelude=NOTHING,
        TUNEDOPS_ENABLED="1",
        TORCH_DEVICE_BACKEND_AUTOLOAD=autoload,
    )
    assert done.stderr == ""


def test_switched_off_by_another_word(run_python: RunPython) -> None:
    run_python(f"import torch\nassert not {ROUTED}", prelude=NOTHING, TUNEDOPS_ENABLED="off")


def test_a_broken_setting_is_said_and_torch_works(run_python: RunPython) -> None:
    done = run_python(
        f"import torch\nassert not {ROUTED}\nprint(torch.ones(1, 1) @ torch.ones(1, 1))",
        prelude=NOTHING,
        TUNEDOPS_ENABLED="banana",
        TUNEDOPS_VERBOSE="much",
    )
    assert "TUNEDOPS_ENABLED is 'banana'" in done.stderr


def test_a_broken_installation_is_said_and_torch_works(
    run_python: RunPython, tmp_path: Path
) -> None:
    (tmp_path / "tunedops").mkdir()
    (tmp_path / "tunedops" / "__init__.py").write_text("raise OSError('built for another torch')")
    done = run_python(
        "import torch\nprint(torch.ones(1, 1) @ torch.ones(1, 1))",
        prelude=NOTHING,
        TUNEDOPS_ENABLED="1",
    )
    assert "tunedops could not be imported (OSError('built for another torch'))" in done.stderr


def test_nothing_fails_where_warnings_are_errors(run_python: RunPython, tmp_path: Path) -> None:
    (tmp_path / "tunedops").mkdir()
    (tmp_path / "tunedops" / "__init__.py").write_text("raise OSError('built for another torch')")
    done = run_python(
        "import torch", "-W", "error::UserWarning", prelude=NOTHING, TUNEDOPS_ENABLED="1"
    )
    assert "tunedops could not be imported" in done.stderr


def test_a_broken_setting_fails_nothing_either(run_python: RunPython) -> None:
    done = run_python(
        "import torch", "-W", "error::UserWarning", prelude=NOTHING, TUNEDOPS_ENABLED="maybe"
    )
    assert "TUNEDOPS_ENABLED is 'maybe'" in done.stderr
