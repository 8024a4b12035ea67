"""One of the processes whose calls are timed; overhead_sides.py starts them.

It reads its task, says what it will run, and then takes a reading of a cell whenever its
number comes. So the parent can ask several of them in turn, and what happens on the machine
meanwhile happens to all.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from typing import Any

import overhead_check
import torch
from overhead_loops import calls_of, make_loops
from overhead_plan import Task


def answer(value: Any) -> None:
    """A line for the parent."""
    print(json.dumps(value), flush=True)


def main() -> None:
    """Answers until nothing more is asked."""
    task = Task.from_json(json.loads(sys.stdin.readline()))
    torch.set_grad_enabled(False)
    if task.device != "cpu":
        torch.cuda.set_device(task.device)
    overhead_check.enter(task)
    calls = calls_of(task)
    about = {call: overhead_check.check(task, call) for call in dict.fromkeys(calls)}
    if task.core is not None:
        os.sched_setaffinity(0, [task.core])  # this thread and those that it will start
    loops = make_loops(task, calls)
    decided = len(overhead_check.decisions(task))
    gc.collect()
    gc.disable()
    answer([about[call] for call in calls])
    for line in sys.stdin:
        answer(loops[int(line)].seconds())
    if len(overhead_check.decisions(task)) != decided:
        raise overhead_check.Wrong("calls were timed that had not been met before")


if __name__ == "__main__":
    main()
