"""What every test starts from: no results, no file, no switch on, small limits.

There is one TuningContext a process, so each test gets it as if it were new, with a
results file of its own. What depends on the environment or on the first use runs in
fresh processes (`run_python`).
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

# Before anything reads them: tests must not depend on who starts them.
for variable in [name for name in os.environ if name.startswith("TUNEDOPS_")]:
    del os.environ[variable]
# Threads that spin while they wait make tests slow where cores are shared.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import pytest  # noqa: E402
import torch  # noqa: E402
import tunedops  # noqa: E402
from tunedops import _C  # noqa: E402

CPU = ("cpu", 0)

# Enough to choose something, which is all that tests may rely on.
QUICK = {
    "MAX_TUNING_DURATION_MS": "1",
    "MAX_TUNING_ITERATIONS": "2",
    "MAX_TUNING_BUDGET_MS": "100",
    "ROTATING_BUFFER_SIZE": "0",
    "MAX_WAITING_PERCENT": "100",  # whoever runs the tests may do other things
}

# The first product of a process, for which libraries load, may need all of that budget on a GPU
# that other tests keep busy. To search is for the tests that ask for it.
UNHURRIED = QUICK | {"MAX_TUNING_BUDGET_MS": "1000", "SEARCH": "proposals"}

PRELUDE = """
import json, os, sys
import torch
import tunedops
from tunedops import _C
CPU = ("cpu", 0)
"""


# Tests that need an NVIDIA GPU.
collect_ignore_glob = [] if torch.cuda.is_available() else ["gpu/*"]


def pytest_report_header() -> str:
    return "tests/gpu: run" if torch.cuda.is_available() else "tests/gpu: left out, no GPU here"


def limits_of(request: pytest.FixtureRequest) -> dict[str, str]:
    """Those of the test that asks."""
    return UNHURRIED if request.node.get_closest_marker("gpu") else QUICK


def pytest_configure() -> None:
    torch.set_num_threads(2)  # keys say how many


@pytest.fixture(autouse=True)
def fresh_context(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[None]:
    """The context as after import, but for the limits and the file's place."""
    torch.manual_seed(0)
    tunedops.clear()
    tunedops.set_filename(tmp_path / "results.csv")
    limits = limits_of(request)
    for name, _, standard, _, _ in _C.describe_settings():
        if name != "FILENAME":
            _C.set_setting(name, limits.get(name, standard))
    _C.set_setting("UNTUNED_FILENAME", str(tmp_path / "untuned.csv"))
    _C.set_setting("CACHE_DIR", str(tmp_path / "cache"))
    _C.set_setting("DATABASE_DIR", "")  # what it holds for this device is no matter of tests
    yield
    _C.exchange_overlay(0)
    _C.set_setting("ENABLED", "0")
    torch.set_num_threads(2)
    torch.set_grad_enabled(True)  # benchmarks need none, and run in this process too


@pytest.fixture
def tuning() -> None:
    """Products are looked up and tuned."""
    tunedops.enable()


@pytest.fixture
def stored_only() -> None:
    """Products are looked up, and not tuned."""
    tunedops.enable()
    tunedops.tuning_enable(False)


@pytest.fixture
def results_path(tmp_path: Path) -> Path:
    return tmp_path / "results.csv"


@pytest.fixture
def write_results(results_path: Path) -> Callable[..., str]:
    """Writes a results file of this environment by hand, as a user would."""

    def write(*rows: str, validators: dict[str, str] | None = None) -> str:
        lines = dict(tunedops.get_validators()) | (validators or {})
        text = "".join(f"Validator,{key},{value}\n" for key, value in lines.items())
        text += "".join(f"{row}\n" for row in rows)
        results_path.write_text(text)
        return text

    return write


def keys() -> list[tuple[str, str]]:
    """Keys of all stored results."""
    return [(result.op, result.params) for result in tunedops.get_results()]


def messages(action: Callable[[], object]) -> list[str]:
    """The warnings of an action."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        action()
    return [str(warning.message) for warning in caught]


RunPython = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run_python(tmp_path: Path, request: pytest.FixtureRequest) -> RunPython:
    """Runs a snippet in a fresh process, in the test's folder.

    Keywords are environment variables (None: not set). The snippet may use json, os, sys,
    torch, _C and tunedops, unless another prelude is given. The process must succeed
    unless `fails`.
    """

    def run(
        code: str,
        *options: str,
        prelude: str = PRELUDE,
        fails: bool = False,
        **environment: str | None,
    ) -> subprocess.CompletedProcess[str]:
        folders = [str(Path(tunedops.__file__).parents[1]), str(Path(__file__).parent)]
        inherited = os.environ.get("PYTHONPATH")
        variables: dict[str, str | None] = {
            **os.environ,
            **{f"TUNEDOPS_{name}": value for name, value in limits_of(request).items()},
            "TUNEDOPS_CACHE_DIR": str(tmp_path / "cache"),
            "TUNEDOPS_DATABASE_DIR": "",
            "OMP_NUM_THREADS": "2",
            "PYTHONPATH": os.pathsep.join(folders + ([inherited] if inherited else [])),
            **environment,
        }
        done = subprocess.run(
            [sys.executable, *options, "-c", prelude + textwrap.dedent(code)],
            cwd=tmp_path,
            env={name: value for name, value in variables.items() if value is not None},
            capture_output=True,
            text=True,
            timeout=240,
        )
        assert (done.returncode != 0) == fails, done.stdout + done.stderr
        return done

    return run


@pytest.fixture(scope="session")
def extra_kernels(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Code for `run_python` that registers kernels which are wrong on purpose."""
    import extra_kernels

    assert extra_kernels.compiler() is not None, "these tests need a C++ compiler"
    library = extra_kernels.build(tmp_path_factory.mktemp("kernels"))
    return (
        PRELUDE + f"import extra_kernels\nlibrary = {str(library)!r}\nextra_kernels.load(library)\n"
    )
