"""Tuned products against plain torch, side by side in one process.

The process tunes nothing: it reads a results file and calls the ops that a program would
call. torch's own products stay as they are (routing is not installed). Operands rotate over
more memory than the last cache holds; every round times one side, the other twice, and the
first again, and the ratio of a row is the median of the rounds' ratios.

    python benchmarks/compare.py --workloads W.csv --results R.csv [--record NAME]
"""

from __future__ import annotations

import argparse
import csv
import datetime
import gc
import json
import math
import platform
import random
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import tunedops
from rich.console import Console
from rich.table import Table
from tunedops import _C
from tunedops.workloads import Workload, read_workloads

RECORDS = Path(__file__).parent / "results"
MAX_COPIES = 128
SAMPLE_SECONDS = 100e-6  # a sample shorter than this is mostly the clock


def rotation(workload: Workload, rotating_bytes: int) -> list[tuple[torch.Tensor, ...]]:
    """Operand sets that together exceed the cache."""
    first = workload.operands("cpu", random=True)
    size = sum(t.numel() * t.element_size() for t in first)
    size += workload.batch * workload.m * workload.n * first[0].element_size()
    copies = min(MAX_COPIES, rotating_bytes // size + 1)
    return [first] + [workload.operands("cpu", random=True) for _ in range(copies - 1)]


def calls_of(workload: Workload) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """torch's function and ours, on the operands of `Workload.operands`."""
    if workload.op == "bmm":
        return torch.bmm, tunedops.bmm
    if workload.op == "mm":
        return torch.mm, tunedops.mm
    return (
        lambda x, w_t, bias: torch.nn.functional.linear(x, w_t.t(), bias),
        lambda x, w_t, bias: tunedops.linear(x, w_t.t(), bias),
    )


class Side:
    """One of the two implementations, walking through the rotation."""

    def __init__(self, call: Callable[..., Any], operands: list[tuple[torch.Tensor, ...]]):
        self.call = call
        self.operands = operands
        self.next = 0
        self.seconds: list[float] = []

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


def measure(workload: Workload, seconds: float, rotating_bytes: int) -> dict[str, Any]:
    """Times one workload for about `seconds`."""
    operands = rotation(workload, rotating_bytes)
    sides = [Side(call, operands) for call in calls_of(workload)]
    estimates = [min(side.run(2) for _ in range(3)) for side in sides]
    batches = [max(1, math.ceil(SAMPLE_SECONDS / estimate)) for estimate in estimates]
    deadline = time.perf_counter() + seconds
    ratios: list[float] = []
    order = [0, 1]
    while time.perf_counter() < deadline or len(ratios) < 11:
        # There and back (A B B A), so that neither side gains from its place; who
        # comes first is drawn anew.
        random.shuffle(order)
        taken: list[list[float]] = [[], []]
        for index in (*order, *reversed(order)):
            taken[index].append(sides[index].run(batches[index]))
        for side, readings in zip(sides, taken, strict=True):
            side.seconds += readings
        ratios.append(sum(taken[0]) / sum(taken[1]))
    key = _C.key_of(*operands[0])
    stored = _C.stored(("cpu", 0), *key) if key is not None else None
    return {
        "default_us": statistics.median(sides[0].seconds) * 1e6,
        "tuned_us": statistics.median(sides[1].seconds) * 1e6,
        "ratio": statistics.median(ratios),
        "ratio_p10": statistics.quantiles(ratios, n=10)[0],
        "ratio_p90": statistics.quantiles(ratios, n=10)[-1],
        "rounds": len(ratios),
        "solution": stored[2] if stored is not None else "(no result)",
    }


def geomean(values: list[float]) -> float:
    """The geometric mean."""
    return math.exp(statistics.fmean(math.log(v) for v in values))


def print_table(rows: list[dict[str, Any]], title: str) -> None:
    """The measured rows and their geometric mean."""
    table = Table(title=title)
    for column in ("problem", "torch [us]", "tuned [us]", "ratio", "solution"):
        table.add_column(column, justify="right" if "us" in column or column == "ratio" else "left")
    for row in rows:
        table.add_row(
            row["problem"],
            f"{row['default_us']:.1f}",
            f"{row['tuned_us']:.1f}",
            f"{row['ratio']:.2f}x",
            row["solution"],
        )
    console = Console()
    console.print(table)
    ratios = [row["ratio"] for row in rows]
    worst = min(rows, key=lambda row: row["ratio"])
    console.print(
        f"geomean {geomean(ratios):.3f}x over {len(ratios)} rows, "
        f"worst {worst['ratio']:.3f}x ({worst['problem']})"
    )


def facts() -> dict[str, Any]:
    """What the numbers depend on."""
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "device": _C.device_name(("cpu", 0)),
        "torch": torch.__version__,
        "tunedops": tunedops.__version__,
        "python": platform.python_version(),
        "threads": torch.get_num_threads(),
        "cache_bytes": _C.cache_bytes(("cpu", 0)),
        "method": "fresh process, tuning off, cold cache, A B B A rounds, median of their ratios",
    }


def record(rows: list[dict[str, Any]], name: str) -> None:
    """Writes the rows as CSV, and the facts beside them."""
    with open(RECORDS / f"{name}.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    (RECORDS / f"{name}.json").write_text(json.dumps(facts(), indent=2) + "\n")


def main() -> None:
    """Reads the arguments and runs the comparison."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--workloads", required=True, type=Path)
    parser.add_argument("--results", required=True, type=Path, help="results file to use")
    parser.add_argument("--seconds", type=float, default=2.0, help="for each row")
    parser.add_argument("--quick", action="store_true", help="a fifth of a second for each row")
    parser.add_argument("--record", help="name of the record in benchmarks/results")
    arguments = parser.parse_args()

    torch.set_grad_enabled(False)
    tunedops.set_filename(arguments.results)
    for name, value in (("ENABLED", "1"), ("TUNING", "0"), ("READ_ONLY", "1")):
        _C.set_setting(name, value)
    seconds = 0.2 if arguments.quick else arguments.seconds
    rotating_bytes = 2 * _C.cache_bytes(("cpu", 0))
    rows = []
    for workload in read_workloads(arguments.workloads):
        measured = measure(workload, seconds, rotating_bytes)
        rows.append(
            {
                "problem": str(workload),
                **{
                    key: round(value, 4) if isinstance(value, float) else value
                    for key, value in measured.items()
                },
            }
        )
        gc.collect()
    print_table(rows, f"{_C.device_name(('cpu', 0))}, {torch.get_num_threads()} threads")
    if arguments.record:
        record(rows, arguments.record)


if __name__ == "__main__":
    main()
