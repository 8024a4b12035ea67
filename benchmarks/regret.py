"""What a larger budget of tuning would have gained.

The products of a file are tuned from nothing with each of several budgets, each time in a fresh
process. Then this process, which tunes nothing, times all solutions that were found for a
product, and torch's own kernel, in the same rounds. The regret of a budget is the part by which
its solution takes longer than the best of them: 0.02 is 2 %. It holds what a short search
missed and what it decided wrongly.

    python benchmarks/regret.py [--device cuda] [--budgets 50,100,200] [--workloads W.csv]
        [--setting NAME=VALUE] [--record NAME]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import options
from measured_rows import measure_all
from record import facts_of, write_record
from regret_report import columns_of, print_regrets, print_row, row_of, summary_of
from side_by_side import method, start_timing, time_side_by_side
from sides import key_on
from tunedops import get_workloads
from tunedops.workloads import Workload, read_workloads
from tuning_runs import TuningRun, tune_in_turn

BUDGETS_MS = "50,100,200,400,800,20000"


def parse_arguments(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """The arguments; `device` is what `_C` calls it, `budgets` are milliseconds."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--workloads", type=Path, default=get_workloads() / "regret.csv")
    parser.add_argument(
        "--budgets",
        default=BUDGETS_MS,
        metavar="MS,MS,...",
        help=f"milliseconds for one product (default: {BUDGETS_MS})",
    )
    options.add_device(parser)
    options.add_seconds(parser)
    options.add_settings(parser)
    options.add_record(parser)
    arguments = parser.parse_args(argv)
    options.take_device(parser, arguments)
    options.take_seconds(arguments)
    options.take_settings(parser, arguments)
    texts = arguments.budgets.split(",")
    if not all(text.isdecimal() and int(text) > 0 for text in texts):
        parser.error(f"--budgets {arguments.budgets}: expected whole milliseconds with commas")
    arguments.budgets = sorted({int(text) for text in texts})
    return arguments


def tune_all(arguments: argparse.Namespace) -> dict[int, TuningRun]:
    """What each budget found."""
    settings = {
        f"budget of {budget} ms": {**arguments.setting, "MAX_TUNING_BUDGET_MS": str(budget)}
        for budget in arguments.budgets
    }
    runs = tune_in_turn(arguments.workloads, arguments.device, settings)
    return dict(zip(arguments.budgets, runs, strict=True))


def measure(
    workload: Workload, arguments: argparse.Namespace, runs: Mapping[int, TuningRun]
) -> dict[str, Any]:
    """The row of one product."""
    key = key_on(workload, arguments.device)
    choices = {budget: run.choice(key) for budget, run in runs.items()}
    solutions = [choice.solution for choice in choices.values()]
    timed = time_side_by_side(workload, arguments.device, solutions, arguments.seconds)
    return row_of(choices, timed)


def main(argv: Sequence[str] | None = None) -> None:
    """Tunes with each budget, times what was found, prints and records."""
    arguments = parse_arguments(argv)
    begin = time.perf_counter()
    workloads = read_workloads(arguments.workloads)
    runs = tune_all(arguments)
    start_timing(arguments.device)
    rows, failed = measure_all(
        workloads, lambda workload: measure(workload, arguments, runs), print_row
    )
    print(f"{len(rows)} rows in {time.perf_counter() - begin:.0f} s")
    if rows:
        summary = summary_of(rows, arguments.budgets)
        facts = facts_of(arguments.device) | {
            "method": f"tuned in a process for each budget; then {method(arguments.device)}",
            "workloads": arguments.workloads.name,
            "settings": arguments.setting,
            "summary": summary,
            "failed": failed,
        }
        if arguments.record:
            columns = columns_of(arguments.budgets)
            print(f"record: {write_record(rows, facts, arguments.record, columns)}")
        print_regrets(rows, summary, f"{facts['device']}, torch {facts['torch']}")
    if failed:
        sys.exit("\n".join([f"{len(failed)} rows failed:", *failed]))


if __name__ == "__main__":
    main()
