"""What PyTorch's TunableOp would choose, found by its own procedure.

Its candidates are torch's kernel and the algorithms that cuBLASLt's heuristic proposes,
which it times one after the other: a call that shows whether the candidate can run, three
timed calls that end it if it is over 1.5 times as slow as the best so far, ten more that end
it at 1.15 times, then as many as fit into 30 ms, at most 100. An event pair stands around
each call, the mean counts, and whoever is faster by anything wins. Before each group of timed
calls are two untimed ones. (Its operands are uninitialised memory; here they are normal
numbers, which does it no harm.)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from sides import Call, Operands, forced

DEFAULT = "Default"
PREFIX = "Gemm_Cublaslt_"
MOST_PROPOSALS = 8
DURATION_MS = 30.0
ITERATIONS = 100
WARM_UP_CALLS = 2

MeanMs = Callable[[str, int], float]
"""Mean milliseconds of some calls of a solution."""


def competitors(candidates: Sequence[str]) -> list[str]:
    """Those of our candidates that TunableOp has, torch's kernel first."""
    proposals = [name for name in candidates if name.startswith(PREFIX)]
    return [DEFAULT, *proposals[:MOST_PROPOSALS]]


def choose(solutions: Sequence[str], mean_ms: MeanMs) -> str:
    """The winner of the procedure.

    Args:
        solutions: as `competitors` orders them.
        mean_ms: times a solution; raises RuntimeError if it cannot run.
    """
    best, best_ms = DEFAULT, math.inf
    for solution in solutions:
        try:
            estimate = mean_ms(solution, 3)
        except RuntimeError:
            continue
        if estimate > 1.5 * best_ms:
            continue
        estimate = mean_ms(solution, 10)
        if estimate > 1.15 * best_ms:
            continue
        calls = max(1, min(ITERATIONS, int(DURATION_MS / estimate)))
        time_ms = mean_ms(solution, calls)
        if time_ms < best_ms:
            best, best_ms = solution, time_ms
    return best


class EagerTimer:
    """Times solutions as TunableOp does: one call after the other, from the host."""

    def __init__(self, call: Call, operands: list[Operands]):
        self.call = call
        self.operands = operands
        self.next = 0

    def run(self) -> None:
        """One call on the next operand set."""
        self.call(*self.operands[self.next])
        self.next = (self.next + 1) % len(self.operands)

    def mean_ms(self, solution: str, calls: int) -> float:
        """Mean milliseconds of `calls` calls, each between two events."""
        pairs = [
            (torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True))
            for _ in range(calls)
        ]
        with forced(solution):
            for _ in range(WARM_UP_CALLS):
                self.run()
            for begin, end in pairs:
                begin.record()
                self.run()
                end.record()
            torch.cuda.synchronize()
        return sum(float(begin.elapsed_time(end)) for begin, end in pairs) / calls
