"""Tuned products against plain torch, side by side in one process.

The process tunes nothing: it reads a results file and calls the ops that a program would
call. torch's own products stay as they are (routing is not installed). Operands rotate over
more memory than the last cache holds; how a row is timed is in measure_cpu.py and
measure_cuda.py, what its ratio means in rounds.py.

    python benchmarks/compare.py --workloads W.csv --results R.csv [--device cuda]
        [--tunableop] [--record NAME]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import measure_cpu
import measure_cuda
import torch
import tunableop
import tunedops
from ceilings import measure_ceilings
from record import facts_of, write_record
from report import print_families, print_header, print_row
from sides import key_of
from tunedops import _C
from tunedops.device import parse_device
from tunedops.workloads import Workload, read_workloads

SECONDS = {"cpu": 2.0, "cuda": 0.8}
QUICK_SECONDS = 0.2


def parse_arguments(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """The arguments; `device` is what `_C` calls it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--workloads", required=True, type=Path)
    parser.add_argument("--results", required=True, type=Path, help="results file to use")
    parser.add_argument("--device", default="cpu", help="cpu, cuda or cuda:INDEX (default: cpu)")
    parser.add_argument(
        "--seconds",
        type=float,
        help=f"for each row (default: {SECONDS['cpu']} on a CPU, {SECONDS['cuda']} on a GPU)",
    )
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_SECONDS} seconds a row")
    parser.add_argument(
        "--tunableop", action="store_true", help="also what PyTorch's TunableOp would choose (GPU)"
    )
    parser.add_argument(
        "--record", metavar="NAME", help="of the record in benchmarks/results, or a path"
    )
    arguments = parser.parse_args(argv)
    try:
        arguments.device = parse_device(arguments.device)
    except (ValueError, RuntimeError, AssertionError) as error:
        parser.error(f"--device {arguments.device}: {str(error).splitlines()[0]}")
    if arguments.tunableop and arguments.device[0] != "cuda":
        parser.error("--tunableop: TunableOp has no CPU part, so this needs --device cuda")
    if arguments.quick or arguments.seconds is None:
        arguments.seconds = QUICK_SECONDS if arguments.quick else SECONDS[arguments.device[0]]
    return arguments


def use_results(path: Path) -> None:
    """Products take what the file says, and nothing is tuned or written.

    Raises:
        SystemExit: there is no such file.
    """
    if not path.is_file():
        sys.exit(f"--results {path}: there is no such file; `tune` makes one")
    tunedops.set_filename(path)
    for name, value in (("ENABLED", "1"), ("TUNING", "0"), ("READ_ONLY", "1")):
        _C.set_setting(name, value)


def warn_without_results(
    path: Path, workloads: Sequence[Workload], device: tuple[str, int]
) -> None:
    """Says so if no product has a result: torch would be compared with itself."""
    place = torch.device(*device)
    if not any(has_result(workload, device, place) for workload in workloads):
        print(
            f"WARNING: {path} has no result for any of the {len(workloads)} products on "
            f"{_C.device_name(device)}, so all of them run torch's own kernel; "
            f"`python -m tunedops check {path}` says what is wrong with a file",
            file=sys.stderr,
        )


def has_result(workload: Workload, device: tuple[str, int], place: torch.device) -> bool:
    """Whether the results file in use has a row for the product."""
    try:
        key = key_of(workload.operands(place))
    except RuntimeError:  # no memory for the operands
        return False
    return key is not None and _C.stored(device, *key) is not None


Measure = Callable[[Workload], dict[str, Any]]


def start_cpu(arguments: argparse.Namespace) -> tuple[Measure, dict[str, Any]]:
    """What measures a row, and what the record says about it."""
    return (
        lambda workload: measure_cpu.measure(workload, arguments.seconds),
        {"method": measure_cpu.METHOD},
    )


def start_cuda(
    arguments: argparse.Namespace, workloads: Sequence[Workload]
) -> tuple[Measure, dict[str, Any]]:
    """The same on a GPU, whose ceilings are measured here."""
    device = arguments.device
    torch.cuda.set_device(device[1])
    ceilings = measure_ceilings((w.dtype for w in workloads), torch.device(*device))

    def measure(workload: Workload) -> dict[str, Any]:
        try:
            row = measure_cuda.measure(workload, device, arguments.seconds, arguments.tunableop)
            return row | {"floor_us": ceilings.floor_us(workload)}
        finally:
            torch.cuda.empty_cache()

    about = {"method": measure_cuda.METHOD, "ceilings": vars(ceilings)}
    return measure, about | ({"tunableop": tunableop.ABOUT} if arguments.tunableop else {})


def measure_all(
    workloads: Sequence[Workload], measure: Measure
) -> tuple[list[dict[str, Any]], list[str]]:
    """The measured rows, and what failed: a wrong result, or an error of the device."""
    rows: list[dict[str, Any]] = []
    failed: list[str] = []
    print_header()
    for workload in workloads:
        try:
            measured = measure(workload)
        except RuntimeError as error:
            failed.append(f"{workload}: {str(error).partition(chr(10))[0]}")
            print(f"FAILED {failed[-1]}", flush=True)
            continue
        rows.append({"problem": str(workload), "suite": workload.suite, **measured})
        print_row(rows[-1])
    return rows, failed


def main(argv: Sequence[str] | None = None) -> None:
    """Reads the arguments and runs the comparison."""
    arguments = parse_arguments(argv)
    begin = time.perf_counter()
    torch.set_grad_enabled(False)
    use_results(arguments.results)
    workloads = read_workloads(arguments.workloads)
    warn_without_results(arguments.results, workloads, arguments.device)
    on_cpu = arguments.device[0] == "cpu"
    measure, about = start_cpu(arguments) if on_cpu else start_cuda(arguments, workloads)
    rows, failed = measure_all(workloads, measure)
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
