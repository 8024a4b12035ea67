"""Times one workload on the CPU: calls in a loop, between two readings of the clock."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Sequence

import torch
from agreement import check_outputs
from results_files import Solutions, solution_for
from rounds import LEAST_ROUNDS, Round, draw_order, one_round, side_columns, tuned_columns
from sides import (
    DEFAULT,
    Call,
    Operands,
    calls_of,
    forced,
    is_default,
    key_of,
    rotation,
    stored_solution,
)
from torch import Tensor
from tunedops import _C
from tunedops.workloads import Workload

METHOD = "fresh process, tuning off, cold cache, A B B A rounds, median of their ratios"
CPU = ("cpu", 0)
SAMPLE_SECONDS = 100e-6  # a sample shorter than this is mostly the clock


class LoopSide:
    """One of the implementations, walking through the rotation."""

    def __init__(self, call: Call, operands: list[Operands], solution: str | None = None):
        self.call = call
        self.operands = operands
        self.solution = solution
        """The one that is forced."""
        self.next = 0
        estimate = min(self.run(2) for _ in range(3))
        self.calls = max(1, math.ceil(SAMPLE_SECONDS / estimate))

    def fresh_output(self) -> Tensor:
        """Of the first operands."""
        with contextlib.nullcontext() if self.solution is None else forced(self.solution):
            return self.call(*self.operands[0])

    def run(self, calls: int) -> float:
        """Mean seconds of a call over `calls` calls."""
        with contextlib.nullcontext() if self.solution is None else forced(self.solution):
            return self.walk(calls)

    def walk(self, calls: int) -> float:
        """The same, with the solution that is in force."""
        call, operands, position = self.call, self.operands, self.next
        count = len(operands)
        begin = time.perf_counter()
        for _ in range(calls):
            call(*operands[position])
            position = position + 1 if position + 1 < count else 0
        elapsed = time.perf_counter() - begin
        self.next = position
        return elapsed / calls


def measure(
    workload: Workload, seconds: float, library: Solutions | None = None
) -> dict[str, float | int | str]:
    """The columns of one row, measured for about `seconds`.

    Raises:
        WrongResult: an output is not the product.
    """
    operands = operands_of(workload)
    key = key_of(operands[0])
    names = [DEFAULT, stored_solution(CPU, key)]
    row: dict[str, float | int | str] = {"solution": names[1]}
    sides = [LoopSide(call, operands) for call in calls_of(workload)]
    if library is not None:
        row["library_solution"] = solution = solution_for(key, library)
        if solution != names[1]:
            names.append(solution)
            sides.append(forced_side(workload, solution, operands))
    check_outputs(sides, names, operands[0])
    rounds = run_rounds(sides, seconds)
    columns = tuned_columns(rounds) | row
    if library is not None:
        columns |= side_columns(rounds, len(sides) - 1, "library")
    return columns


def time_solutions(workload: Workload, solutions: Sequence[str], seconds: float) -> list[Round]:
    """Rounds of these solutions, in their order within a round; the first is torch's own.

    Raises:
        WrongResult: an output is not the product.
    """
    operands = operands_of(workload)
    sides = [forced_side(workload, name, operands) for name in solutions]
    check_outputs(sides, solutions, operands[0])
    return run_rounds(sides, seconds)


def operands_of(workload: Workload) -> list[Operands]:
    """The operand sets that are walked through."""
    return rotation(workload, torch.device("cpu"), 2 * _C.cache_bytes(CPU))


def forced_side(workload: Workload, solution: str, operands: list[Operands]) -> LoopSide:
    """The side that runs one solution; Default is torch's own function."""
    default, tuned = calls_of(workload)
    if is_default(solution):
        return LoopSide(default, operands)
    return LoopSide(tuned, operands, solution)


def run_rounds(sides: Sequence[LoopSide], seconds: float) -> list[Round]:
    """Rounds for about `seconds`, and at least the few that a median needs."""
    deadline = time.perf_counter() + seconds
    rounds: list[Round] = []
    while time.perf_counter() < deadline or len(rounds) < LEAST_ROUNDS:
        order = draw_order(len(sides))
        rounds.append(one_round(order, [sides[i].run(sides[i].calls) for i in order]))
    return rounds
