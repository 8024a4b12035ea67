"""Results files as a comparison takes them: the one in use, and what others say.

The products of a process take what one file says. Of another file the solutions are read, and
a comparison forces them.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import fresh_process
import torch
import tunedops
from sides import NO_RESULT, Key, key_on
from tunedops import _C
from tunedops.cli.results_text import parse_results
from tunedops.workloads import Workload

Solutions = Mapping[Key, str]


def tune_nothing() -> None:
    """Products take what the file says, or what is forced; nothing is tuned or written."""
    torch.set_grad_enabled(False)
    settings = {"ENABLED": "1", "TUNING": "0", "READ_ONLY": "1"} | fresh_process.FILE_ONLY
    for name, value in settings.items():
        _C.set_setting(name, value)


def use_database() -> None:
    """Products take what the packaged database says, for want of a results file."""
    with tempfile.TemporaryDirectory() as gone:
        tunedops.set_filename(Path(gone) / "none.csv")
    tune_nothing()
    _C.set_setting("DATABASE_DIR", str(tunedops.get_databases()))


def use_results(path: Path, option: str = "--results") -> None:
    """Products take what the file says, and nothing is tuned or written.

    Raises:
        SystemExit: there is no such file.
    """
    require_file(path, option)
    tunedops.set_filename(path)
    tune_nothing()


def require_file(path: Path, option: str) -> None:
    """Raises SystemExit if there is no such file."""
    if not path.is_file():
        sys.exit(f"{option} {path}: there is no such file; `tune` makes one")


def solutions_in(path: Path, device: tuple[str, int]) -> Solutions:
    """What a file says, without bringing it into use.

    Raises:
        SystemExit: the file or one of its rows cannot be used here. A solution that cannot run
            would be torch's kernel when it is forced, and nobody would notice.
    """
    if complaints := _C.check_file(device, str(path)):
        sys.exit("\n".join(complaints))
    return {key: row.solution for key, row in parse_results(path.read_text()).rows.items()}


def warn_without_results(
    path: Path | None, workloads: Sequence[Workload], device: tuple[str, int]
) -> None:
    """Says so if no product has a result: torch would be compared with itself.

    Args:
        path: of the file in use; None: it is the database.
    """
    if not any(has_result(workload, device) for workload in workloads):
        hint = f"; `python -m tunedops check {path}` says what is wrong with a file"
        print(
            f"WARNING: {path or 'the database'} has no result for any of the {len(workloads)} "
            f"products on {_C.device_name(device)}, so all of them run torch's own kernel"
            f"{'' if path is None else hint}",
            file=sys.stderr,
        )


def has_result(workload: Workload, device: tuple[str, int]) -> bool:
    """Whether what is in use has a row for the product."""
    try:
        key = key_on(workload, device)
    except RuntimeError:  # no memory for the operands
        return False
    return key is not None and _C.stored_anywhere(device, *key) is not None


def solution_for(key: Key | None, solutions: Solutions) -> str:
    """What such a file says for a key."""
    return NO_RESULT if key is None else solutions.get(key, NO_RESULT)
