"""The processes that are compared, and the rounds in which they are asked in turn.

Whether tunedops was enabled cannot be undone in a process, so each side has one of its own.
Only one of them works at a time, all on the same core unless threads are compared.
"""

from __future__ import annotations

import contextlib
import json
import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from fresh_process import environment
from overhead_plan import ENABLED, Cell, Group, Side, Task
from overhead_results import write_results
from progress import counted
from rounds import Round, draw_order, one_round

CHILD = Path(__file__).with_name("overhead_child.py")


class Child:
    """One process, and the numbers of its cells."""

    def __init__(self, task: Task):
        self.side = task.side
        self.numbers = {cell: number for number, cell in enumerate(task.cells)}
        self.process = subprocess.Popen(
            [sys.executable, str(CHILD)],
            env=environment() | {"OMP_NUM_THREADS": "1"},  # threads of torch's pool
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.send(json.dumps(task.to_json()))

    def send(self, line: str) -> None:
        """Writes a line; a process that has ended is found out when it should answer."""
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(f"{line}\n")
            self.process.stdin.flush()

    def answer(self) -> Any:
        """What it answers.

        Raises:
            RuntimeError: it ended instead; its standard error says why.
        """
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the process '{self.side}' ended with {self.process.wait()}")
        return json.loads(line)

    def seconds(self, cell: Cell) -> float:
        """A reading of one of its cells."""
        self.send(str(self.numbers[cell]))
        return float(self.answer())

    def finish(self) -> None:
        """Lets it end.

        Raises:
            RuntimeError: it found at its end that something was wrong.
        """
        assert self.process.stdin is not None
        self.process.stdin.close()
        if code := self.process.wait():
            raise RuntimeError(f"the process '{self.side}' ended with {code}")


def tasks_of(groups: Sequence[Group], folder: Path, common: dict[str, Any]) -> Iterator[Task]:
    """The task of each side of the groups, after its results file was written."""
    cells = [cell for group in groups for cell in group]
    for number, side in enumerate(dict.fromkeys(cell.side for cell in cells)):
        own = tuple(dict.fromkeys(cell for cell in cells if cell.side == side))
        results = folder / f"{number}.csv"
        if side.state == ENABLED:
            write_results(results, common["device"], side, own)
        trace = folder / f"{number}.trace"
        yield Task(side=side, cells=own, results=str(results), trace=str(trace), **common)


@contextlib.contextmanager
def started(tasks: Sequence[Task]) -> Iterator[dict[Side, Child]]:
    """The processes, ready to be asked. They end with the block, also by an error."""
    children: dict[Side, Child] = {}
    try:
        for task in tasks:
            children[task.side] = Child(task)
        yield children
        for child in children.values():
            child.finish()
    finally:
        for child in children.values():
            child.process.kill()
            child.process.wait()


def run_rounds(
    children: dict[Side, Child], groups: Sequence[Group], rounds: int
) -> list[list[Round]]:
    """The rounds of each group. In a round all groups have their turn, in random order."""
    found: list[list[Round]] = [[] for _ in groups]
    for _ in counted(rounds, "rounds"):
        for number in random.sample(range(len(groups)), len(groups)):
            order = draw_order(len(groups[number]))
            cells = [groups[number][place] for place in order]
            readings = [children[cell.side].seconds(cell) for cell in cells]
            found[number].append(one_round(order, readings))
    return found
