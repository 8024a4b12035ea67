"""The frame of a study of tuning.

Products are tuned from nothing in processes of their own (`tuning_runs.py`); then this process,
which tunes nothing, times what was found in the same rounds. `regret.py` and `repeat.py` differ
in what is tuned, and in what a row says.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import options
from measured_rows import Show, measure_all
from record import facts_of
from side_by_side import method, start_timing
from tunedops import get_workloads
from tunedops.workloads import Workload
from tuning_runs import TuningRun, tune_in_turn

Rows = list[dict[str, Any]]


def add_options(parser: argparse.ArgumentParser, workloads: str) -> None:
    """The options of every study; `workloads` is the file among the packaged ones."""
    parser.add_argument("--workloads", type=Path, default=get_workloads() / workloads)
    options.add_device(parser)
    options.add_seconds(parser)
    options.add_settings(parser)
    options.add_record(parser)


def take_options(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    """Checks them; `device` becomes what `_C` calls it."""
    options.take_device(parser, arguments)
    options.take_seconds(parser, arguments)
    options.take_workloads(parser, arguments)
    options.take_settings(parser, arguments)


def run(
    arguments: argparse.Namespace,
    settings: Mapping[str, Mapping[str, str]],
    measure: Callable[[Workload, Sequence[TuningRun]], dict[str, Any]],
    show: Show,
    times: str,
) -> tuple[Rows, dict[str, Any]]:
    """Tunes with each of the settings, which have labels, and measures a row for each product.

    Returns:
        The rows, and the facts for a record; `times` is what its method says of the tuning.
    """
    begin = time.perf_counter()
    runs = tune_in_turn(arguments.workloads, arguments.device, settings)
    start_timing(arguments.device)
    rows, failed = measure_all(arguments.products, lambda workload: measure(workload, runs), show)
    print(f"{len(rows)} rows in {time.perf_counter() - begin:.0f} s")
    facts = facts_of(arguments.device) | {
        "method": f"tuned in a process {times}; then {method(arguments.device)}",
        "workloads": arguments.workloads.name,
        "settings": arguments.setting,
        "failed": failed,
    }
    return rows, facts
