"""Whether tuning chooses the same again, and what it costs where it does not.

The products of a file are tuned from nothing several times, each time in a fresh process. Where
the winners of a product differ, this process, which tunes nothing, times all of them and torch's
own kernel in the same rounds. What counts is not that another wins, since many are as good, but
how much slower one winner is than another. Ends with an error if that is --limit or more.

    python benchmarks/repeat.py [--device cuda] [--times 5] [--workloads W.csv]
        [--setting NAME=VALUE] [--limit 2.0] [--record NAME]
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any

import tuning_study
from record import write_record
from repeat_report import COLUMNS, print_repeats, print_row, row_of, sentences, summary_of
from side_by_side import time_side_by_side
from sides import key_on
from tunedops.workloads import Workload
from tuning_runs import TuningRun


def parse_arguments(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """The arguments; `device` is what `_C` calls it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    tuning_study.add_options(parser, "repeat.csv")
    parser.add_argument("--times", type=int, default=5, help="that are tuned, 2 or more")
    parser.add_argument(
        "--limit", type=float, default=2.0, help="percent that winners may differ by (default: 2)"
    )
    arguments = parser.parse_args(argv)
    tuning_study.take_options(parser, arguments)
    if arguments.times < 2:
        parser.error("--times is 2 at least")
    if not (math.isfinite(arguments.limit) and arguments.limit > 0):
        parser.error(f"--limit {arguments.limit}: expected a number above 0")
    return arguments


def measure(
    workload: Workload, arguments: argparse.Namespace, runs: Sequence[TuningRun]
) -> dict[str, Any]:
    """The row of one product; what won every time is not timed."""
    key = key_on(workload, arguments.device)
    winners = Counter(run.choice(key).solution for run in runs)
    if len(winners) == 1:
        return row_of(winners, None)
    timed = time_side_by_side(workload, arguments.device, winners, arguments.seconds)
    return row_of(winners, timed)


def main(argv: Sequence[str] | None = None) -> None:
    """Tunes several times, times winners that differ, prints and records."""
    arguments = parse_arguments(argv)
    rows, facts = tuning_study.run(
        arguments,
        {f"run {number + 1}": arguments.setting for number in range(arguments.times)},
        lambda workload, runs: measure(workload, arguments, runs),
        print_row,
        "each time",
    )
    faults = [f"failed: {one}" for one in facts["failed"]]
    if rows:
        facts["summary"] = summary = summary_of(rows, arguments.times)
        if arguments.record:
            print(f"record: {write_record(rows, facts, arguments.record, COLUMNS)}")
        print_repeats(rows, f"{facts['device']}, torch {facts['torch']}")
        print("\n".join(sentences(summary)))
        if 100 * summary["largest_difference"] >= arguments.limit:
            faults.append(f"winners of a product differ by {arguments.limit} % or more")
    if faults:
        sys.exit("\n".join(faults))


if __name__ == "__main__":
    main()
