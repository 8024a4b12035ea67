"""What one call costs: torch's, one that is routed, and ours.

One of four questions is asked, in fresh processes that are read in turn (overhead_sides.py),
and torch's own call is always among what is read:

- on a GPU, the processor's time from an eager call to its return, for each kind of plan;
- on the CPU, what it costs to look a call up, with one and with many results;
- with --small, what a product costs that takes less time than the call around it, for each
  kind of plan, on the CPU;
- with --threads, how many calls threads make together, on the CPU.

    python benchmarks/overhead.py [--device cuda | --small | --threads] [--record NAME]
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import options
import overhead_library
import overhead_parts
import overhead_report
import overhead_rows
import progress
import torch
from overhead_plan import CPP, Cell, Group
from overhead_sides import run_rounds, started, tasks_of
from record import facts_of, write_record
from rounds import Round
from tunedops import _C
from tunedops.device import parse_device

METHOD = (
    "fresh processes, tuning off, read in turn, each round there and back in random order, "
    "medians of the rounds"
)


@dataclass(frozen=True)
class Part:
    """A question: how its rows are made and printed, and how long it is asked."""

    rows: Callable[[Group, Sequence[Round], overhead_rows.About], list[overhead_rows.Row]]
    show: Callable[[Sequence[overhead_rows.Row]], None]
    rounds: int
    calls: int
    batch: int


PARTS = {
    "eager": Part(overhead_rows.eager_rows, overhead_report.print_eager, 40, 1_000, 100),
    "small": Part(overhead_rows.eager_rows, overhead_report.print_small, 40, 10_000, 1_000),
    "lookup": Part(overhead_rows.lookup_rows, overhead_report.print_lookups, 60, 10_000, 1_000),
    "threads": Part(overhead_rows.thread_rows, overhead_report.print_threads, 15, 50_000, 50_000),
}


def parse_arguments(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """The arguments; `part` is the question that they ask."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    options.add_device(parser)
    question = parser.add_mutually_exclusive_group()
    question.add_argument("--threads", action="store_true", help="several threads at once (CPU)")
    question.add_argument("--small", action="store_true", help="small products (CPU)")
    parser.add_argument("--rounds", type=int, help="2 or more (default: depends on the question)")
    parser.add_argument("--calls", type=int, help="in a reading (default: likewise)")
    parser.add_argument(
        "--results", type=int, default=overhead_parts.RESULTS, help="that are many (CPU)"
    )
    options.add_record(parser)
    arguments = parser.parse_args(argv)
    options.take_device(parser, arguments)
    kind, index = arguments.device
    asked = [name for name in ("threads", "small") if getattr(arguments, name)]
    if asked and kind != "cpu":
        parser.error(f"--{asked[0]} is about the CPU")
    arguments.device = "cpu" if kind == "cpu" else f"{kind}:{index}"
    arguments.part = asked[0] if asked else "lookup" if kind == "cpu" else "eager"
    part = PARTS[arguments.part]
    arguments.rounds = part.rounds if arguments.rounds is None else arguments.rounds
    arguments.calls = part.calls if arguments.calls is None else arguments.calls
    if min(arguments.rounds, arguments.results) < 2 or arguments.calls < 1:
        parser.error("--rounds and --results are 2 at least, --calls 1")
    return arguments


def groups_of(arguments: argparse.Namespace) -> list[Group]:
    """What is compared."""
    if arguments.part == "eager":
        return overhead_parts.eager_calls(arguments.device)
    if arguments.part == "small":
        return overhead_parts.eager_calls("cpu", overhead_parts.SMALL)
    make = overhead_parts.threads if arguments.part == "threads" else overhead_parts.lookups
    return make(arguments.results)


def measure(arguments: argparse.Namespace, groups: Sequence[Group]) -> list[overhead_rows.Row]:
    """The rows of all groups."""
    in_cpp = any(cell.loop == CPP for group in groups for cell in group)
    if in_cpp:
        progress.say("the loops in C++ are built, unless they are there")
    common: dict[str, Any] = {
        "device": arguments.device,
        "calls": arguments.calls,
        "batch": min(arguments.calls, PARTS[arguments.part].batch),
        "core": None if arguments.threads else max(os.sched_getaffinity(0)),
        "library": overhead_library.built() if in_cpp else "",
    }
    with tempfile.TemporaryDirectory() as folder:
        tasks = list(tasks_of(groups, Path(folder), common))
        progress.say(
            f"{len(tasks)} processes start and make their first calls, then come "
            f"{arguments.rounds} rounds; the table is printed at the end"
        )
        with started(tasks) as children:
            about: dict[Cell, dict[str, Any]] = {}
            for task in tasks:
                about |= dict(zip(task.cells, children[task.side].answer(), strict=True))
            found = run_rounds(children, groups, arguments.rounds)
    make = PARTS[arguments.part].rows
    return [
        row
        for group, rounds in zip(groups, found, strict=True)
        for row in make(group, rounds, about)
    ]


def facts(arguments: argparse.Namespace) -> dict[str, Any]:
    """What the numbers depend on."""
    device = parse_device(arguments.device)
    return facts_of(device) | {
        "threads": 1,  # of torch's pool, in each process
        "processor": _C.device_name(("cpu", 0)),
        "processors": len(os.sched_getaffinity(0)),
        "load_average": os.getloadavg()[0],
        "method": METHOD if arguments.threads else f"{METHOD}, all on the same core",
        "part": arguments.part,
        "calls": arguments.calls,
    }


def main(argv: Sequence[str] | None = None) -> None:
    """Reads the arguments, measures, prints and records."""
    arguments = parse_arguments(argv)
    begin = time.perf_counter()
    torch.set_num_threads(1)  # keys say how many
    if arguments.device != "cpu":
        torch.cuda.set_device(arguments.device)
    before = facts(arguments)
    rows = measure(arguments, groups_of(arguments))
    print(
        f"{before['device']}, torch {before['torch']}: {len(rows)} rows, {arguments.rounds} "
        f"rounds of {arguments.calls} calls, {time.perf_counter() - begin:.0f} s"
    )
    PARTS[arguments.part].show(rows)
    if arguments.record:
        print(f"record: {write_record(rows, before, arguments.record, columns=list(rows[0]))}")


if __name__ == "__main__":
    main()
