"""The stopwatches of a call: a loop in Python, as programs call, and one in C++.

What a process does after others had the processor is slower at first, so a reading begins
with as many calls that do not count.
"""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
from overhead_plan import BIAS, CPP, Cell, Operands, Task
from torch import Tensor


class Call:
    """A function with its arguments for each variant of a product that a process knows."""

    def __init__(self, name: str, operands: list[Operands]):
        self.name = name
        self.operands = operands
        self.function = function_of(name)
        self.arguments = [arguments_of(name, one) for one in operands]

    def make_all(self) -> None:
        """One call of each variant."""
        for arguments in self.arguments:
            self.function(*arguments)


def function_of(name: str) -> Callable[..., Tensor]:
    """The function that a cell's call names."""
    if name in ("torch.mm", "at::mm"):  # the same, but for Python's part
        return torch.mm
    if name.startswith("F.linear"):
        return torch.nn.functional.linear
    import tunedops

    ours: dict[str, Any] = {
        "torch.ops.tunedops.mm": torch.ops.tunedops.mm,
        "tunedops.mm": tunedops.mm,
        "tunedops.linear": tunedops.linear,
    }
    return ours[name.removesuffix(BIAS)]


def arguments_of(name: str, operands: Operands) -> tuple[Tensor, ...]:
    """What that function takes."""
    x, weight, bias = operands
    if name.endswith("mm"):
        return x, weight.t()
    return (x, weight, bias) if name.endswith(BIAS) else (x, weight)


class Loop:
    """A stopwatch for a cell. A reading is the median of its batches: one may be disturbed."""

    def __init__(self, cell: Cell, call: Call, task: Task):
        variants = call.arguments if cell.cycles else call.arguments[:1]
        count = max(1, task.calls // task.batch)
        turns = itertools.cycle(variants)
        self.batches = [list(itertools.islice(turns, task.batch)) for _ in range(count)]

    def seconds(self) -> float:
        """Mean time of a call, from the call to its return."""
        for batch in self.batches:
            self.run(batch)
        return statistics.median(self.run(batch) / len(batch) for batch in self.batches)

    def run(self, batch: list[tuple[Tensor, ...]]) -> float:
        """Seconds of a batch."""
        raise NotImplementedError


class PythonLoop(Loop):
    """A loop as programs have it. It waits for a GPU between batches, so that no launch has to."""

    def __init__(self, cell: Cell, call: Call, task: Task):
        super().__init__(cell, call, task)
        self.function = call.function
        self.on_gpu = task.device != "cpu"

    def run(self, batch: list[tuple[Tensor, ...]]) -> float:
        function = self.function
        begin = time.perf_counter_ns()
        for arguments in batch:
            function(*arguments)
        elapsed = time.perf_counter_ns() - begin
        if self.on_gpu:
            torch.cuda.synchronize()
        return elapsed / 1e9


class CppLoop(Loop):
    """The loop in overhead_threads.cpp, on some of the threads that `start` made."""

    def __init__(self, cell: Cell, call: Call, task: Task):
        super().__init__(cell, call, task)
        self.cell = cell

    @staticmethod
    def start(call: Call, threads: int, library: str) -> None:
        """Makes the threads; each of them meets all variants."""
        torch.ops.load_library(library)  # type: ignore[no-untyped-call]
        left, right = [pair[0] for pair in call.arguments], [pair[1] for pair in call.arguments]
        torch.ops.tunedops_overhead.start(left, right, threads)

    def run(self, batch: list[tuple[Tensor, ...]]) -> float:
        threads, cycles = self.cell.threads, self.cell.cycles
        return torch.ops.tunedops_overhead.seconds(threads, len(batch), cycles)


def calls_of(task: Task) -> list[Call]:
    """The call of each cell; cells that only count differently share one."""
    operands = {cell.product: cell.product.operands(task.device) for cell in task.cells}
    known = {
        key: Call(key[0], operands[key[1]][: task.side.variants])
        for key in {(cell.call, cell.product) for cell in task.cells}
    }
    return [known[cell.call, cell.product] for cell in task.cells]


def make_loops(task: Task, calls: list[Call]) -> list[Loop]:
    """The stopwatch of each cell. After this no call is new to its thread."""
    in_cpp = [number for number, cell in enumerate(task.cells) if cell.loop == CPP]
    if in_cpp:
        threads = max(task.cells[number].threads for number in in_cpp)
        CppLoop.start(calls[in_cpp[0]], threads, task.library)
    for call in calls:
        call.make_all()
    return [
        (CppLoop if cell.loop == CPP else PythonLoop)(cell, call, task)
        for cell, call in zip(task.cells, calls, strict=True)
    ]
