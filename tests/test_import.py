"""Importing costs little and does nothing that was not asked for."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from conftest import RunPython

TORCH = "import json, os, sys\nimport torch\n"


@pytest.mark.smoke
def test_import_brings_in_the_package_and_nothing_else(run_python: RunPython) -> None:
    # Numbers of modules instead of seconds: what takes time is what is loaded.
    done = run_python(
        """
        before = set(sys.modules)
        import tunedops
        print(json.dumps(sorted(set(sys.modules) - before)))
        """,
        prelude=TORCH,
    )
    foreign = {
        name
        for name in json.loads(done.stdout)
        if name.split(".")[0] not in {"tunedops", *sys.stdlib_module_names}
    }
    assert foreign == set()
    assert (done.stderr, len(json.loads(done.stdout)) < 80) == ("", True)


def test_import_and_use_load_no_compiler_and_no_terminal(run_python: RunPython) -> None:
    run_python(
        """
        before = set(sys.modules)
        import tunedops
        tunedops.enable()
        tunedops.mm(torch.ones(2, 3), torch.ones(3, 4))
        tunedops.get_results()
        new = {name.split(".")[0] for name in set(sys.modules) - before}
        assert not new & {"rich", "sympy", "triton", "numpy"}, new
        for name in ("torch._dynamo", "torch._inductor"):
            assert name in before or name not in sys.modules, name
        """,
        prelude=TORCH,
    )


def test_import_touches_no_file_no_device_and_no_switch(
    run_python: RunPython, tmp_path: Path
) -> None:
    run_python(
        """
        def state():
            return (torch.get_num_threads(), torch.get_float32_matmul_precision(),
                    torch.is_grad_enabled(), torch.is_warn_always_enabled(),
                    torch.get_default_dtype(), torch.backends.mkldnn.enabled)
        before = state()
        import tunedops
        from tunedops import _C
        assert not _C.routing_is_installed()
        assert not torch.cuda.is_initialized()
        tunedops.mm(torch.ones(2, 3), torch.ones(3, 4))
        tunedops.get_results()
        tunedops.get_validators()
        tunedops.enable()
        assert not torch.cuda.is_initialized()
        assert state() == before
        """,
        "-W",
        "error",
        prelude=TORCH,
    )
    assert list(tmp_path.iterdir()) == []


def test_import_without_a_gpu(run_python: RunPython) -> None:
    run_python(
        """
        tunedops.enable()
        result = tunedops.mm(torch.ones(2, 3), torch.ones(3, 4))
        assert torch.equal(result, torch.full((2, 4), 3.0))
        assert isinstance(_C.built_with_cuda, bool)
        assert _C.has_backend("cpu")
        """,
        CUDA_VISIBLE_DEVICES="",
    )


@pytest.mark.parametrize("order", ["tunedops, torch", "torch, tunedops"])
@pytest.mark.parametrize("enabled", ["0", "1"])
def test_either_may_be_imported_first(run_python: RunPython, order: str, enabled: str) -> None:
    done = run_python(
        f"import {order}\nassert torch.ones(2, 2).mm(torch.ones(2, 2)).sum() == 8\n",
        prelude="",
        TUNEDOPS_ENABLED=enabled,
    )
    assert done.stderr == ""


def test_everything_public_is_there(run_python: RunPython) -> None:
    run_python(
        """
        from torch.cuda import tunable
        for name in tunedops.__all__:
            assert getattr(tunedops, name) is not None, name
        # Every name of torch.cuda.tunable, but for what only several GPUs or their
        # library's heuristic give a meaning.
        missing = {name for name in set(tunable.__all__) - set(tunedops.__all__)
                   if not name.startswith("mgpu_") and "cublaslt" not in name}
        assert not missing, missing
        assert tunedops.__version__
        assert repr(tunedops.mm) == "<op tunedops.mm>"
        assert tunedops.linear.name == "linear"
        """
    )


def test_exit_is_quiet(run_python: RunPython) -> None:
    done = run_python(
        """
        from threading import Thread
        def multiply():
            for _ in range(100):
                torch.mm(torch.ones(2, 2), torch.ones(2, 2))
        tunedops.enable()
        Thread(target=multiply).start()
        sys.exit()
        """
    )
    assert (done.stdout, done.stderr) == ("", "")
