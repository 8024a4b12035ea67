"""A product by torch's own kernel and by others, timed in the same rounds on either device.

The others are solutions that are forced, without a results file, or what the results file in use
says. Nothing is tuned.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import measure_cpu
import measure_cuda
import torch
from results_files import tune_nothing
from rounds import Round, microseconds
from sides import DEFAULT
from tunedops.workloads import Workload


@dataclass(frozen=True)
class SideBySide:
    """What the rounds say."""

    solutions: Sequence[str]
    """The sides of a round, `Default` first."""
    rounds: Sequence[Round]

    def microseconds(self, solution: str) -> float:
        """The median of its times."""
        return microseconds(self.rounds, self.solutions.index(solution))

    def excess(self, solution: str, other: str) -> float:
        """The part by which it takes longer than another, 0.02 for 2 %; the median of rounds."""
        one, two = self.solutions.index(solution), self.solutions.index(other)
        return statistics.median(taken[one] / taken[two] for taken in self.rounds) - 1

    def by_time(self, solutions: Iterable[str]) -> list[str]:
        """These solutions, the fastest first."""
        return sorted(solutions, key=lambda solution: self.excess(solution, DEFAULT))


def start_timing(device: tuple[str, int]) -> None:
    """What comes before the first product of a process that times solutions."""
    tune_nothing()
    if device[0] == "cuda":
        torch.cuda.set_device(device[1])


def time_side_by_side(
    workload: Workload, device: tuple[str, int], solutions: Iterable[str], seconds: float
) -> SideBySide:
    """Times each of the solutions, and `Default`, for about `seconds` in all."""
    sides = list(dict.fromkeys([DEFAULT, *solutions]))
    try:
        if device[0] == "cpu":
            rounds = measure_cpu.time_solutions(workload, sides, seconds)
        else:
            rounds = measure_cuda.time_solutions(workload, device, sides, seconds)
    finally:
        torch.cuda.empty_cache()
    return SideBySide(sides, rounds)


def time_tuned(workload: Workload, device: tuple[str, int], seconds: float) -> dict[str, Any]:
    """The columns of a row, torch's kernel and what the results file in use says."""
    if device[0] == "cpu":
        return measure_cpu.measure(workload, seconds)
    try:
        return measure_cuda.measure(workload, device, seconds, with_tunableop=False)
    finally:
        torch.cuda.empty_cache()


def method(device: tuple[str, int]) -> str:
    """How, in the words of a record."""
    return measure_cpu.METHOD if device[0] == "cpu" else measure_cuda.METHOD
