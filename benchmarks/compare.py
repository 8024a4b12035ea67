"""Tuned products against plain torch, side by side in one process.

The process tunes nothing: it reads a results file (or takes the database that ships with the
package) and calls the ops that a program would call. torch's own products stay as they are
(routing is not installed). Operands rotate over more memory than the last cache holds; how a row
is timed is in measure_cpu.py and measure_cuda.py, what its ratio means in rounds.py.

A second results file makes a side more: what tuning finds among the kernels of libraries alone,
so that the part of our own kernels shows.

    python benchmarks/compare.py --workloads W.csv (--results R.csv | --database)
        [--library-results L.csv] [--device cuda] [--tunableop] [--record NAME]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import measure_cpu
import measure_cuda
import options
import torch
import tunableop
from ceilings import measure_ceilings
from cpu_ceilings import measure_cpu_ceilings
from measured_rows import Measure, measure_all
from record import facts_of, write_record
from report import print_families, print_header, print_row
from results_files import (
    Solutions,
    require_file,
    solutions_in,
    use_database,
    use_results,
    warn_without_results,
)
from tunedops.workloads import Workload

QUICK_SECONDS = 0.2


def parse_arguments(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """The arguments; `device` is what `_C` calls it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--workloads", required=True, type=Path)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--results", type=Path, help="results file to use")
    what.add_argument("--database", action="store_true", help="use the packaged database")
    parser.add_argument(
        "--library-results",
        type=Path,
        metavar="FILE",
        help="results file that was tuned with TUNEDOPS_KERNELS=Gemm_Cublas,Gemm_Cublaslt",
    )
    options.add_device(parser)
    options.add_seconds(parser)
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_SECONDS} seconds a row")
    parser.add_argument(
        "--tunableop", action="store_true", help="also what PyTorch's TunableOp would choose (GPU)"
    )
    options.add_record(parser)
    arguments = parser.parse_args(argv)
    options.take_device(parser, arguments)
    if arguments.tunableop and arguments.device[0] != "cuda":
        parser.error("--tunableop: TunableOp has no CPU part, so this needs --device cuda")
    if arguments.quick:
        arguments.seconds = QUICK_SECONDS
    options.take_seconds(parser, arguments)
    options.take_workloads(parser, arguments)
    return arguments


def read_library(arguments: argparse.Namespace) -> Solutions | None:
    """What the second results file says, if there is one."""
    path = arguments.library_results
    if path is None:
        return None
    require_file(path, "--library-results")
    return solutions_in(path, arguments.device)


def start_cpu(
    arguments: argparse.Namespace, workloads: Sequence[Workload], library: Solutions | None
) -> tuple[Measure, dict[str, Any]]:
    """What measures a row, and what the record says about it; the CPU's ceilings are measured."""
    ceilings = measure_cpu_ceilings(w.dtype for w in workloads)

    def measure(workload: Workload) -> dict[str, Any]:
        row = measure_cpu.measure(workload, arguments.seconds, library)
        return row | {"floor_us": ceilings.floor_us(workload)}

    return measure, {"method": measure_cpu.METHOD, "ceilings": vars(ceilings)}


def start_cuda(
    arguments: argparse.Namespace, workloads: Sequence[Workload], library: Solutions | None
) -> tuple[Measure, dict[str, Any]]:
    """The same on a GPU, whose ceilings are measured here."""
    device = arguments.device
    torch.cuda.set_device(device[1])
    ceilings = measure_ceilings((w.dtype for w in workloads), torch.device(*device))

    def measure(workload: Workload) -> dict[str, Any]:
        try:
            row = measure_cuda.measure(
                workload, device, arguments.seconds, arguments.tunableop, library
            )
            return row | {"floor_us": ceilings.floor_us(workload)}
        finally:
            torch.cuda.empty_cache()

    about = {"method": measure_cuda.METHOD, "ceilings": vars(ceilings)}
    return measure, about | ({"tunableop": tunableop.ABOUT} if arguments.tunableop else {})


def main(argv: Sequence[str] | None = None) -> None:
    """Reads the arguments and runs the comparison."""
    arguments = parse_arguments(argv)
    begin = time.perf_counter()
    if arguments.database:
        use_database()
    else:
        use_results(arguments.results)
    library = read_library(arguments)
    workloads = arguments.products
    warn_without_results(arguments.results, workloads, arguments.device)
    on_cpu = arguments.device[0] == "cpu"
    measure, about = (
        start_cpu(arguments, workloads, library)
        if on_cpu
        else start_cuda(arguments, workloads, library)
    )
    print_header()
    rows, failed = measure_all(workloads, measure, print_row)
    facts = facts_of(arguments.device) | about | {"failed": failed}
    print(f"{len(rows)} rows in {time.perf_counter() - begin:.0f} s")
    if rows:
        if arguments.record:
            print(f"record: {write_record(rows, facts, arguments.record)}")
        print_families(rows, f"{facts['device']}, torch {facts['torch']}")
    if failed:
        sys.exit("\n".join([f"{len(failed)} rows failed:", *failed]))


if __name__ == "__main__":
    main()
