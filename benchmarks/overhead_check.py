"""Whether a process runs what it is timed for.

It is asked in the process itself: that it never saw tunedops, or that each call is answered
from the results file by the expected kind of plan. With VERBOSE=3 every decision is a line;
calls that were met before are decided without one, so lines that come later tell that
something else was timed too.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import torch
from overhead_loops import Call
from overhead_plan import ABSENT, ENABLED, Task


class Wrong(RuntimeError):
    """The process is not what it should be."""


def enter(task: Task) -> None:
    """Imports and enables what the side says, and nothing else.

    Raises:
        Wrong: routing is not as it should be.
    """
    if task.side.state == ABSENT:
        return
    import tunedops
    from tunedops import _C

    if task.side.state == ENABLED:
        tunedops.set_filename(task.results)
        settings = {"TUNING": "0", "READ_ONLY": "1", "ON_MISS": "error"}
        settings |= {"VERBOSE": "3", "VERBOSE_FILENAME": task.trace}
        for name, value in settings.items():
            _C.set_setting(name, value)
        tunedops.enable()
    if _C.routing_is_installed() != (task.side.state == ENABLED):
        raise Wrong(f"routing is not as it should be where tunedops is '{task.side.state}'")


def decisions(task: Task) -> list[str]:
    """The lines so far."""
    path = Path(task.trace)
    return path.read_text().splitlines() if path.exists() else []


def check(task: Task, call: Call) -> dict[str, Any]:
    """Makes a call of each variant and looks at how it was decided.

    Returns:
        The solution of its first variant in the results file, and that file's length.

    Raises:
        Wrong: something else ran.
    """
    if task.side.state == ENABLED:
        from tunedops import _C

        _C.set_setting("VERBOSE", "3")  # no call counts as met before a setting was set
    before = len(decisions(task))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call.make_all()
        if task.device != "cpu":
            torch.cuda.synchronize()
    messages = [str(warning.message) for warning in caught]
    if ours := [message for message in messages if message.startswith("tunedops: ")]:
        raise Wrong("; ".join(ours))
    said = decisions(task)[before:]
    if task.side.state == ENABLED:
        return check_decisions(task, call, said)
    if said or (task.side.state == ABSENT and "tunedops" in sys.modules):
        raise Wrong(f"tunedops is at work where it is '{task.side.state}'")
    return {"solution": "", "results": 0}


def check_decisions(task: Task, call: Call, said: list[str]) -> dict[str, Any]:
    """The same of a process that is enabled, from the lines that `call` caused."""
    from overhead_results import key_of
    from tunedops import _C
    from tunedops.device import parse_device

    device = parse_device(task.device)
    keys = [key_of(call.name, operands) for operands in call.operands]
    kind = "Default" if task.side.kernel == "Default" else "a plan of ours"
    wanted = [f"{','.join(key)}: from the file, {kind}" for key in keys]
    if said != wanted:
        raise Wrong(f"{call.name}: expected '{wanted[0]}' and so on, got {said[:1]}")
    stored = {row[:2]: row[2] for row in _C.results(device)}
    solutions = {stored[key] for key in keys}
    if any(kernel_of(solution) != task.side.kernel for solution in solutions):
        raise Wrong(f"{call.name}: expected {task.side.kernel}, got {solutions}")
    return {"solution": stored[keys[0]], "results": len(stored)}


def kernel_of(solution: str) -> str:
    """The kernel's name: what stands before the parameters, as in ``Gemm_Skinny_rows_4``."""
    return "_".join(solution.split("_")[:2])
