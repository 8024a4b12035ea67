"""Times one workload on a GPU: a graph for each side, replayed in rounds.

Many rounds are queued before the host waits for the GPU, so that no reading holds the time
of a launch. Further sides are forced solutions: what another results file says, and what
TunableOp would choose.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Sequence

import torch
from agreement import check_outputs
from graph_side import GraphSide, Reading
from results_files import Solutions, solution_for
from rounds import LEAST_ROUNDS, Round, draw_order, one_round, side_columns, tuned_columns
from sides import (
    DEFAULT,
    Operands,
    bytes_of,
    calls_of,
    forced,
    is_default,
    key_of,
    rotation,
    stored_solution,
)
from tunableop import GraphTimer, choose, competitors
from tunedops import _C
from tunedops.workloads import Workload

METHOD = (
    "fresh process, tuning off, cold cache, CUDA graphs behind scattered blocks, "
    "shuffled rounds there and back, median of their ratios"
)
QUEUE_MS = 40.0  # of rounds between two waits


def measure(
    workload: Workload,
    device: tuple[str, int],
    seconds: float,
    with_tunableop: bool,
    library: Solutions | None = None,
) -> dict[str, float | int | str]:
    """The columns of one row, its rounds measured for about `seconds`.

    Raises:
        WrongResult: an output is not the product.
    """
    operands, stream = prepare(workload, device)
    key = key_of(operands[0])
    default, tuned = calls_of(workload)
    names = [DEFAULT, stored_solution(device, key)]
    row: dict[str, float | int | str] = {"solution": names[1]}
    sides = [GraphSide(call, operands, stream) for call in (default, tuned)]
    others: dict[str, int] = {}  # sides that have columns of their own
    if library is not None:
        row["library_solution"] = solution = solution_for(key, library)
        if solution != names[1]:
            names.append(solution)
            sides.append(forced_side(workload, solution, operands, stream))
        others["library"] = len(sides) - 1
    check_outputs(sides, names, operands[0])
    if with_tunableop:
        solution = DEFAULT
        if key is not None:
            few = tunableop_rotation(workload, torch.device(*device), operands)
            names = competitors(_C.candidates(device, *key))
            solution = choose(names, GraphTimer(tuned, few, stream))
        row["emulated_tunableop_solution"] = solution
        sides.append(forced_side(workload, solution, operands, stream))
        others["emulated_tunableop"] = len(sides) - 1
    rounds = run_rounds(sides, seconds)
    columns = tuned_columns(rounds) | row
    for name, side in others.items():
        columns |= side_columns(rounds, side, name)
    return columns


def time_solutions(
    workload: Workload, device: tuple[str, int], solutions: Sequence[str], seconds: float
) -> list[Round]:
    """Rounds of these solutions, in their order within a round; the first is torch's own.

    Raises:
        WrongResult: an output is not the product.
    """
    operands, stream = prepare(workload, device)
    sides = [forced_side(workload, name, operands, stream) for name in solutions]
    check_outputs(sides, solutions, operands[0])
    return run_rounds(sides, seconds)


def prepare(
    workload: Workload, device: tuple[str, int]
) -> tuple[list[Operands], torch.cuda.Stream]:
    """Operand sets, of twice the size of the cache, and the stream to measure on."""
    place = torch.device(*device)
    operands = rotation(workload, place, _C.cache_bytes(device))
    stream = measuring_stream(place)
    torch.cuda.synchronize()
    return operands, stream


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
    workload: Workload, solution: str, operands: list[Operands], stream: torch.cuda.Stream
) -> GraphSide:
    """The side that runs one solution; Default is torch's own function."""
    default, tuned = calls_of(workload)
    if is_default(solution):
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
            readings = [
                [Reading(sides[i].graph, sides[i].stream) for i in order] for order in orders
            ]
            torch.cuda.synchronize()
            for order, taken in zip(orders, readings, strict=True):
                per_call = [
                    reading.milliseconds() / 1e3 / sides[i].calls
                    for i, reading in zip(order, taken, strict=True)
                ]
                rounds.append(one_round(order, per_call))
    return rounds
