"""Single products by Inductor's max-autotune, beside torch's own kernel and tunedops.

Inductor (`torch.compile(mode="max-autotune-no-cudagraphs")`) also measures kernels for a product:
torch's own, and ones that it generates with Triton or, on a CPU, with C++. It may pad an unaligned
product. Here it compiles the function that torch's side calls, one product at a time, in this
process, before anything is timed. What it computes is checked, and then all three are timed in
the same rounds as compare.py times two: on a GPU each is captured in a CUDA graph, so that no
side's host is in its time.

What this does not compare: a product that Inductor fuses with what stands around it, which is its
strength in a whole program; weights that are constant and padded once, since operands here are
arguments; and the time of the host, which in a compiled program is another one. How long compiling
took is recorded (the first row's holds what Inductor sets up once), but it is no time of tuning:
compiling is part of it.

    python benchmarks/max_autotune.py --write-workloads W.csv
    python -m tunedops tune W.csv --device cuda -o R.csv
    python benchmarks/max_autotune.py --results R.csv --device cuda [--record NAME]

Without `--rows` it takes a dozen bfloat16 rows of `gpu.csv`, half of them unaligned. Compiling
one may take a minute; where time is short, `--limit` keeps what was done until then.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import options
import torch
from inductor_side import MODE, empty_caches
from max_autotune_report import COLUMNS, print_row, print_summary, summary_of
from measure_inductor import measure_on_cpu, measure_on_gpu
from measured_rows import measure_all
from record import facts_of, write_record
from results_files import use_results, warn_without_results
from row_choice import spread
from side_by_side import method
from tunedops import get_workloads
from tunedops.workloads import Workload
from workload_file import write_workloads

COUNT = 12


def parse_arguments(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """The arguments; `device` is what `_C` calls it, `products` are the chosen rows."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    options.add_results(parser)
    parser.add_argument("--workloads", type=Path, default=get_workloads() / "gpu.csv")
    parser.add_argument(
        "--rows", nargs="+", type=int, metavar="ROW", help="of that file; its first product is 1"
    )
    parser.add_argument(
        "--count", type=int, default=COUNT, help=f"rows without --rows (default: {COUNT})"
    )
    parser.add_argument(
        "--limit",
        type=float,
        default=math.inf,
        metavar="SECONDS",
        help="after which no further row begins (default: none)",
    )
    options.add_device(parser)
    options.add_seconds(parser)
    options.add_record(parser)
    arguments = parser.parse_args(argv)
    options.take_workloads(parser, arguments)
    rows, products = arguments.rows, arguments.products
    if rows and not all(1 <= row <= len(products) for row in rows):
        parser.error(f"--rows {rows}: {arguments.workloads} has rows 1 to {len(products)}")
    if arguments.count < 1:
        parser.error(f"--count {arguments.count}: expected 1 or more")
    arguments.products = (
        [products[row - 1] for row in rows] if rows else spread(products, arguments.count)
    )
    if not arguments.products:
        parser.error(f"{arguments.workloads} has no product in bfloat16: choose some by --rows")
    if not arguments.write_workloads:  # which may be done where there is no such device
        options.take_device(parser, arguments)
        options.take_seconds(parser, arguments)
    return arguments


def main(argv: Sequence[str] | None = None) -> None:
    """Writes the products down, or compiles and times them, prints and records."""
    arguments = parse_arguments(argv)
    workloads, device = arguments.products, arguments.device
    if arguments.write_workloads:
        comment = f"Some products of {arguments.workloads.name}, which names the sources."
        write_workloads(arguments.write_workloads, workloads, comment)
        return
    use_results(arguments.results)
    warn_without_results(arguments.results, workloads, device)
    if device[0] == "cuda":
        torch.cuda.set_device(device[1])

    deadline = time.perf_counter() + arguments.limit

    def measure_row(workload: Workload) -> dict[str, Any]:
        if time.perf_counter() > deadline:
            raise RuntimeError("not begun, since the time was up")
        if device[0] == "cpu":
            return measure_on_cpu(workload, arguments.seconds)
        try:
            return measure_on_gpu(workload, device, arguments.seconds)
        finally:
            torch.cuda.empty_cache()

    with empty_caches():
        rows, failed = measure_all(workloads, measure_row, print_row)
    facts = facts_of(device) | {
        "method": f"compiled first; then {method(device)}",
        "mode": MODE,
        "workloads": arguments.workloads.name,
        "summary": summary_of(rows),
        "failed": failed,
    }
    if rows:
        if arguments.record:
            print(f"record: {write_record(rows, facts, arguments.record, COLUMNS)}")
        print_summary(facts["summary"])
    if failed:
        sys.exit("\n".join([f"{len(failed)} rows failed:", *failed]))


if __name__ == "__main__":
    main()
