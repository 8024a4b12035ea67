"""One side of a comparison on a GPU: a CUDA graph that walks through the rotation.

A graph leaves out what the host spends on a call, which is more than a small product takes.
Each call's output is made inside the graph's own memory pool, so that all sides allocate
alike, and lives until its place in the rotation comes again, so that outputs rotate too.
"""

from __future__ import annotations

import itertools
import math

import torch
from sides import Call, Operands
from torch import Tensor
from tunedops import _C

LEAST_REPLAY_MS = 0.3  # a shorter replay is mostly the two events
LEAST_CALLS = 2
WARM_UP_CALLS = 3


_seeds = itertools.count(1)


class Reading:
    """A replay between two events, which is known once the GPU has got there.

    Where the blocks of a kernel land depends on who ran before, and stays the same while only
    a few kernels are replayed by turns. Some of cuBLAS have two speeds by that, a tenth apart.
    So blocks are scattered first, as other kernels of a program do between products.
    """

    def __init__(self, graph: torch.cuda.CUDAGraph, stream: torch.cuda.Stream):
        _C.scatter_blocks(stream.device.index, next(_seeds), stream.cuda_stream)
        self.begin = torch.cuda.Event(enable_timing=True)
        self.end = torch.cuda.Event(enable_timing=True)
        self.begin.record()
        graph.replay()
        self.end.record()

    def milliseconds(self) -> float:
        """The time between the events."""
        return float(self.begin.elapsed_time(self.end))


class GraphSide:
    """A captured call over all operand sets, repeated until a replay is long enough."""

    def __init__(self, call: Call, operands: list[Operands], stream: torch.cuda.Stream):
        self.operands = operands
        self.stream = stream
        with torch.cuda.stream(stream):
            for number in range(WARM_UP_CALLS):
                call(*operands[number % len(operands)])
        self.outputs: list[Tensor]
        repetitions = math.ceil(LEAST_CALLS / len(operands))
        self.capture(call, repetitions)
        for _ in range(2):
            # The host may have been slower than the GPU, and the reading too long.
            self.replay_ms = self.shortest_replay()
            if self.replay_ms >= LEAST_REPLAY_MS:
                break
            repetitions = math.ceil(1.2 * repetitions * LEAST_REPLAY_MS / self.replay_ms)
            self.capture(call, repetitions)
        self.replay_ms = self.shortest_replay()

    def capture(self, call: Call, repetitions: int) -> None:
        """Makes the graph anew."""
        self.outputs = []
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph, stream=self.stream):
            self.outputs = [call(*operands) for operands in self.operands]
            for _ in range(repetitions - 1):
                for place, operands in enumerate(self.operands):
                    self.outputs[place] = call(*operands)
        self.calls = repetitions * len(self.operands)

    def shortest_replay(self) -> float:
        """Milliseconds of the fastest of a few replays."""
        with torch.cuda.stream(self.stream):
            self.graph.replay()  # the others wait behind it, not for their launch
            readings = [Reading(self.graph, self.stream) for _ in range(3)]
            torch.cuda.synchronize()
        return min(reading.milliseconds() for reading in readings)

    def fresh_output(self) -> Tensor:
        """The first output, written by a replay over NaN."""
        with torch.cuda.stream(self.stream):
            self.outputs[0].fill_(float("nan"))
            self.graph.replay()
            torch.cuda.synchronize()
        return self.outputs[0]
