"""What an odd size costs: products of N - 1, N and N + 1, for several N.

A product whose lines are no multiple of 16 bytes cannot be loaded as the fastest kernels load it.
A program may pad it to the next size that is one. So each product here, a cube in bfloat16, is
timed by torch and by tunedops as in compare.py, and the time of each odd size is divided by what
the next aligned size takes at best, by either. That is N for N - 1, and for N + 1 it is N + 8,
which is timed too. Above 1.25 padding is likely to be the better way, so that is the aim.

The ratio of torch to tunedops is of the same rounds. An odd size and its aligned one are timed one
after the other: their quotient is one of medians.

    python benchmarks/alignment.py --write-workloads W.csv
    python -m tunedops tune W.csv --device cuda -o R.csv
    python benchmarks/alignment.py --results R.csv --device cuda [--layouts nt nn tn]
        [--sizes 512 4096] [--record NAME]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

import options
import torch
from alignment_report import AIM, COLUMNS, DTYPE, ELEMENTS, add_quotients, print_sizes, summary_of
from measured_rows import measure_all
from record import facts_of, write_record
from report import print_header, print_row
from results_files import use_results, warn_without_results
from side_by_side import method, time_tuned
from tunedops.workloads import LAYOUTS, Workload
from workload_file import write_workloads

SIZES = (512, 768, 1024, 1536, 2048, 3072, 4096, 5120, 6144, 8192)


def parse_arguments(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """The arguments; `device` is what `_C` calls it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    options.add_results(parser)
    parser.add_argument("--layouts", nargs="+", choices=LAYOUTS, default=["nt"])
    parser.add_argument(
        "--sizes", nargs="+", type=int, default=list(SIZES), metavar="N", help="multiples of 8"
    )
    options.add_device(parser)
    options.add_seconds(parser)
    options.add_record(parser)
    arguments = parser.parse_args(argv)
    if not all(size > 0 and size % ELEMENTS == 0 for size in arguments.sizes):
        parser.error(f"--sizes {arguments.sizes}: expected multiples of {ELEMENTS}")
    if not arguments.write_workloads:  # which may be done where there is no such device
        options.take_device(parser, arguments)
        options.take_seconds(parser, arguments)
    return arguments


def cubes(layouts: Sequence[str], sizes: Sequence[int]) -> list[Workload]:
    """The products, of each N those around it one after the other."""
    around = [other for size in sizes for other in (size - 1, size, size + 1, size + ELEMENTS)]
    return [
        Workload("unaligned" if n % ELEMENTS else "aligned", "mm", DTYPE, layout, 1, n, n, n)
        for layout in dict.fromkeys(layouts)
        for n in dict.fromkeys(around)
    ]


def main(argv: Sequence[str] | None = None) -> None:
    """Writes the products down, or times them, prints and records."""
    arguments = parse_arguments(argv)
    workloads = cubes(arguments.layouts, arguments.sizes)
    if arguments.write_workloads:
        write_workloads(
            arguments.write_workloads, workloads, "Cubes around sizes that vector loads divide."
        )
        return
    device = arguments.device
    use_results(arguments.results)
    warn_without_results(arguments.results, workloads, device)
    if device[0] == "cuda":
        torch.cuda.set_device(device[1])

    def measure(workload: Workload) -> dict[str, Any]:
        about = {"layout": workload.layout, "size": workload.n}
        return about | time_tuned(workload, device, arguments.seconds)

    print_header()
    rows, failed = measure_all(workloads, measure, print_row)
    add_quotients(rows)
    summary = summary_of(rows)
    facts = facts_of(device) | {
        "method": method(device),
        "sizes": arguments.sizes,
        "layouts": arguments.layouts,
        "aim": AIM,
        "summary": summary,
        "failed": failed,
    }
    if rows:
        if arguments.record:
            print(f"record: {write_record(rows, facts, arguments.record, COLUMNS)}")
        title = f"{facts['device']}, torch {facts['torch']}"
        print_sizes(rows, summary, arguments.sizes, title)
    if failed:
        sys.exit("\n".join([f"{len(failed)} rows failed:", *failed]))


if __name__ == "__main__":
    main()
