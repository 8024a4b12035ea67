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
from collections.abc import Sequence
from typing import Any

import tuning_study
from record import write_record
from regret_report import columns_of, print_regrets, print_row, row_of, summary_of
from side_by_side import time_side_by_side
from sides import key_on
from tunedops.workloads import Workload
from tuning_runs import TuningRun

BUDGETS_MS = "50,100,200,400,800,20000"


def parse_arguments(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """The arguments; `device` is what `_C` calls it, `budgets` are milliseconds."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    tuning_study.add_options(parser, "regret.csv")
    parser.add_argument(
        "--budgets",
        default=BUDGETS_MS,
        metavar="MS,MS,...",
        help=f"milliseconds for one product (default: {BUDGETS_MS})",
    )
    arguments = parser.parse_args(argv)
    tuning_study.take_options(parser, arguments)
    texts = arguments.budgets.split(",")
    if not all(text.isdecimal() and int(text) > 0 for text in texts):
        parser.error(f"--budgets {arguments.budgets}: expected whole milliseconds with commas")
    arguments.budgets = sorted({int(text) for text in texts})
    return arguments


def measure(
    workload: Workload, arguments: argparse.Namespace, runs: Sequence[TuningRun]
) -> dict[str, Any]:
    """The row of one product; a run for each budget.

    Raises:
        RuntimeError: none of them has a result for it.
    """
    key = key_on(workload, arguments.device)
    if key is None or not any(key in run.solutions for run in runs):
        raise RuntimeError("no run has a result for it")
    choices = {
        budget: run.choice_or_default(key)
        for budget, run in zip(arguments.budgets, runs, strict=True)
    }
    solutions = [choice.solution for choice in choices.values()]
    timed = time_side_by_side(workload, arguments.device, solutions, arguments.seconds)
    return row_of(choices, timed)


def main(argv: Sequence[str] | None = None) -> None:
    """Tunes with each budget, times what was found, prints and records."""
    arguments = parse_arguments(argv)
    settings = {
        f"budget of {budget} ms": {**arguments.setting, "MAX_TUNING_BUDGET_MS": str(budget)}
        for budget in arguments.budgets
    }
    rows, facts = tuning_study.run(
        arguments,
        settings,
        lambda workload, runs: measure(workload, arguments, runs),
        print_row,
        "for each budget",
    )
    if rows:
        facts["summary"] = summary_of(rows, arguments.budgets)
        if arguments.record:
            columns = columns_of(arguments.budgets)
            print(f"record: {write_record(rows, facts, arguments.record, columns)}")
        print_regrets(rows, facts["summary"], f"{facts['device']}, torch {facts['torch']}")
    if facts["failed"]:
        sys.exit("\n".join([f"{len(facts['failed'])} rows failed:", *facts["failed"]]))


if __name__ == "__main__":
    main()
