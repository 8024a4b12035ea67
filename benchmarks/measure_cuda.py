"""Times one workload on a GPU: a graph for each side, replayed in rounds.

Many rounds are queued before the host waits for the GPU, so that no reading holds the time
of a launch. With TunableOp there is a third side: the solution that it would choose.
"""

from __future__ import annotations

import functools
import statistics
import time
from collections.abc import Sequence

import torch
from agreement import complaint
from graph_side import GraphSide, Reading
from rounds import LEAST_ROUNDS, Round, draw_order, microseconds, one_round, ratios, tuned_columns
from sides import Call, Operands, bytes_of, calls_of, forced, key_of, rotation, stored_solution
from tunableop import DEFAULT, GraphTimer, choose, competitors
from tunedops import _C
from tunedops.workloads import Workload

METHOD = (
    "fresh process, tuning off, cold cache, CUDA graphs, shuffled rounds there and back, "
    "median of their ratios"
)
QUEUE_MS = 40.0  # of rounds between two waits


class WrongResult(RuntimeError):
    """The tuned output is not the product."""


def measure(
    workload: Workload, device: tuple[str, int], seconds: float, with_tunableop: bool
) -> dict[str, float | int | str]:
    """The columns of one row, its rounds measured for about `seconds`.

    Raises:
        WrongResult: the tuned output is not the product.
    """
    place = torch.device(*device)
    # Of a GPU this is twice its cache.
    operands = rotation(workload, place, _C.cache_bytes(device))
    key = key_of(operands[0])
    default, tuned = calls_of(workload)
    stream = measuring_stream(place)
    torch.cuda.synchronize()
    sides = [GraphSide(call, operands, stream) for call in (default, tuned)]
    outputs = [side.fresh_output() for side in sides]
    if problem := complaint(outputs[1], outputs[0], operands[0]):
        raise WrongResult(f"{stored_solution(device, key)} is wrong: {problem}")
    row: dict[str, float | int | str] = {"solution": stored_solution(device, key)}
    if with_tunableop:
        solution = DEFAULT
        if key is not None:
            few = tunableop_rotation(workload, place, operands)
            names = competitors(_C.candidates(device, *key))
            solution = choose(names, GraphTimer(tuned, few, stream))
        sides.append(forced_side(solution, default, tuned, operands, stream))
        row["emulated_tunableop_solution"] = solution
    rounds = run_rounds(sides, seconds)
    columns = tuned_columns(rounds) | row
    if with_tunableop:
        columns["emulated_tunableop_us"] = microseconds(rounds, 2)
        columns["emulated_tunableop_ratio"] = statistics.median(ratios(rounds, 2))
    return columns


@functools.cache
def measuring_stream(place: torch.device) -> torch.cuda.Stream:
    """One for all rows: torch keeps a workspace for each stream that it has seen."""
    return torch.cuda.Stream(place)


def tunableop_rotation(
    workload: Workload, place: torch.device, operands: list[Operands]
) -> list[Operands]:
    """The operand sets that TunableOp's rotation over the cache's size has."""
    cache = torch.cuda.get_device_properties(place).L2_cache_size
    return operands[: cache // bytes_of(workload) + 1]


def forced_side(
    solution: str, default: Call, tuned: Call, operands: list[Operands], stream: torch.cuda.Stream
) -> GraphSide:
    """The side that runs one solution; Default is torch's own function."""
    if solution == DEFAULT:
        return GraphSide(default, operands, stream)
    with forced(solution):
        return GraphSide(tuned, operands, stream)


def run_rounds(sides: Sequence[GraphSide], seconds: float) -> list[Round]:
    """Rounds for about `seconds`, and at least the few that a median needs."""
    round_ms = 2 * sum(side.replay_ms for side in sides)
    queued = max(1, int(min(QUEUE_MS, 1e3 * seconds) / round_ms))
    rounds: list[Round] = []
    deadline = time.perf_counter() + seconds
    with torch.cuda.stream(sides[0].stream):
        while time.perf_counter() < deadline or len(rounds) < LEAST_ROUNDS:
            orders = [draw_order(len(sides)) for _ in range(queued)]
            # The first reading waits behind this replay, not for its own launch.
            sides[orders[0][-1]].graph.replay()
            readings = [[Reading(sides[i].graph) for i in order] for order in orders]
            torch.cuda.synchronize()
            for order, taken in zip(orders, readings, strict=True):
                per_call = [
                    reading.milliseconds() / 1e3 / sides[i].calls
                    for i, reading in zip(order, taken, strict=True)
                ]
                rounds.append(one_round(order, per_call))
    return rounds
