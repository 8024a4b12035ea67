"""Times one workload on the CPU: calls in a loop, between two readings of the clock."""

from __future__ import annotations

import math
import time

import torch
from rounds import LEAST_ROUNDS, Round, draw_order, one_round, tuned_columns
from sides import Call, Operands, calls_of, key_of, rotation, stored_solution
from tunedops import _C
from tunedops.workloads import Workload

METHOD = "fresh process, tuning off, cold cache, A B B A rounds, median of their ratios"
CPU = ("cpu", 0)
SAMPLE_SECONDS = 100e-6  # a sample shorter than this is mostly the clock


class LoopSide:
    """One of the two implementations, walking through the rotation."""

    def __init__(self, call: Call, operands: list[Operands]):
        self.call = call
        self.operands = operands
        self.next = 0
        estimate = min(self.run(2) for _ in range(3))
        self.calls = max(1, math.ceil(SAMPLE_SECONDS / estimate))

    def run(self, calls: int) -> float:
        """Mean seconds of a call over `calls` calls."""
        call, operands, position = self.call, self.operands, self.next
        count = len(operands)
        begin = time.perf_counter()
        for _ in range(calls):
            call(*operands[position])
            position = position + 1 if position + 1 < count else 0
        elapsed = time.perf_counter() - begin
        self.next = position
        return elapsed / calls


def measure(workload: Workload, seconds: float) -> dict[str, float | int | str]:
    """The columns of one row, measured for about `seconds`."""
    operands = rotation(workload, torch.device("cpu"), 2 * _C.cache_bytes(CPU))
    sides = [LoopSide(call, operands) for call in calls_of(workload)]
    deadline = time.perf_counter() + seconds
    rounds: list[Round] = []
    while time.perf_counter() < deadline or len(rounds) < LEAST_ROUNDS:
        order = draw_order(len(sides))
        rounds.append(one_round(order, [sides[i].run(sides[i].calls) for i in order]))
    return {
        **tuned_columns(rounds),
        "solution": stored_solution(CPU, key_of(operands[0])),
    }
