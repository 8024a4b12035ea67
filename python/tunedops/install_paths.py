"""Where the files that come with the package are, installed or in a source tree."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_ROOT = _PACKAGE.parents[1]


def get_include() -> str:
    """The folder to compile other extensions against (``tunedops/tuning_context.h``)."""
    installed = _PACKAGE / "include"
    return str(installed if installed.is_dir() else _ROOT / "csrc")


def get_workloads() -> Path:
    """The folder of the workload files."""
    return _data("workloads")


def get_databases() -> Path:
    """The folder of results that were tuned beforehand, with a folder for each device."""
    return _data("databases")


def _data(name: str) -> Path:
    installed = _PACKAGE / name
    return installed if installed.is_dir() else _ROOT / "tuning" / name
