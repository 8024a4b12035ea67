"""What PyTorch's TunableOp would choose, found by its own procedure.

Emulated, because TunableOp itself searches cuBLASLt on CUDA from torch 2.14 on only; before, it
has no candidate there but torch's own kernel. Its candidates are torch's kernel and the
algorithms that cuBLASLt's heuristic proposes, which it times one after the other: a call that
shows whether the candidate can run, three timed calls that end it if it is over 1.5 times as
slow as the best so far, ten more that end it at 1.15 times, then as many as fit into 30 ms, at
most 100. An event pair stands around each call, the mean counts, and whoever is faster by
anything wins. Before each group of timed calls are two untimed ones.

Where this differs from it, it is to its advantage. Its operands are uninitialised memory; here
they are normal numbers. Between its events is one call from C++; from Python there would be the
interpreter and the dispatcher too, which take longer than a small product, so here it is the
replay of a graph of that call, and the GPU is kept waiting until all of a group is queued.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

import torch
from sides import DEFAULT, Call, Operands, forced
from torch import Tensor

PREFIX = "Gemm_Cublaslt_"
MOST_PROPOSALS = 8
DURATION_MS = 30.0
ITERATIONS = 100
WARM_UP_CALLS = 2

ABOUT = (
    "TunableOp's procedure, emulated: candidates are torch's kernel and the first "
    f"{MOST_PROPOSALS} proposals of cuBLASLt's heuristic, each timed call is a replay of a CUDA "
    "graph between two events"
)
CYCLES_PER_CALL = 60_000  # some 30 us: more than the host takes to queue a replay


class Timer(Protocol):
    """Times one solution after the other."""

    def begin(self, solution: str) -> None:
        """Makes one untimed call; raises RuntimeError if the solution cannot run."""

    def mean_ms(self, calls: int) -> float:
        """Mean milliseconds of a call of the solution begun last, over `calls` calls."""


def competitors(candidates: Sequence[str]) -> list[str]:
    """Those of our candidates that TunableOp has, torch's kernel first."""
    proposals = [name for name in candidates if name.startswith(PREFIX)]
    return [DEFAULT, *proposals[:MOST_PROPOSALS]]


def choose(solutions: Sequence[str], timer: Timer) -> str:
    """The winner of the procedure; `solutions` are as `competitors` orders them."""
    best, best_ms = DEFAULT, math.inf
    for solution in solutions:
        try:
            timer.begin(solution)
        except RuntimeError:
            continue
        estimate = timer.mean_ms(3)
        if estimate > 1.5 * best_ms:
            continue
        estimate = timer.mean_ms(10)
        if estimate > 1.15 * best_ms:
            continue
        calls = max(1, min(ITERATIONS, int(DURATION_MS / estimate)))
        time_ms = timer.mean_ms(calls)
        if time_ms < best_ms:
            best, best_ms = solution, time_ms
    return best


class GraphTimer:
    """Times a call by graphs of it, one for each operand set, replayed in turn.

    Outputs live as long as the graphs, so that they rotate with the operands.
    """

    def __init__(self, call: Call, operands: list[Operands], stream: torch.cuda.Stream):
        self.call = call
        self.operands = operands
        self.stream = stream

    def begin(self, solution: str) -> None:
        """Makes one untimed call, and forgets the solution before."""
        self.solution = solution
        self.graphs: list[torch.cuda.CUDAGraph] = []
        self.outputs: list[Tensor] = []
        self.pool = torch.cuda.graph_pool_handle()
        self.next = 0
        with torch.cuda.stream(self.stream), forced(solution):
            self.call(*self.operands[0])
            torch.cuda.synchronize()

    def capture(self, count: int) -> None:
        """Makes the graphs of the first `count` operand sets, if they are not there yet."""
        count = min(count, len(self.operands))
        for operands in self.operands[len(self.graphs) : count]:
            graph = torch.cuda.CUDAGraph()
            where = torch.cuda.graph(graph, pool=self.pool, stream=self.stream)
            with forced(self.solution), where:
                self.outputs.append(self.call(*operands))
            self.graphs.append(graph)
            with torch.cuda.stream(self.stream):
                graph.replay()  # the first one brings the graph to the GPU

    def replay(self) -> None:
        """One call on the next operand set."""
        self.graphs[self.next].replay()
        self.next = (self.next + 1) % len(self.operands)

    def mean_ms(self, calls: int) -> float:
        """Mean milliseconds of `calls` calls, each between two events."""
        self.capture(self.next + WARM_UP_CALLS + calls)
        pairs = [
            (torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True))
            for _ in range(calls)
        ]
        with torch.cuda.stream(self.stream):
            torch.cuda._sleep(CYCLES_PER_CALL * (WARM_UP_CALLS + calls))
            for _ in range(WARM_UP_CALLS):
                self.replay()
            for begin, end in pairs:
                begin.record()
                self.replay()
                end.record()
            torch.cuda.synchronize()
        return sum(float(begin.elapsed_time(end)) for begin, end in pairs) / calls
