"""``trace-to-bound-args``: the products of a profiled program, as a list to tune."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from rich.table import Table

from tunedops.bound_json import write_list
from tunedops.cli.errors import CliError
from tunedops.cli.output import say, visible
from tunedops.cli.text_file import write_text
from tunedops.device import described_device
from tunedops.table import make_console, microseconds, percent
from tunedops.trace_products import calls
from tunedops.traces import TraceReport, read_trace

if TYPE_CHECKING:
    from tunedops.cli.argparse_types import Commands


def add_to(commands: Commands) -> None:
    """Adds the command to the parser."""
    parser = commands.add_parser(
        "trace-to-bound-args",
        help="list the products of a profiled program",
        description="Reads a Chrome trace that torch.profiler exported (record_shapes=True), of a "
        "program that uses tunedops or not, and lists its products with their count and their "
        "share of the time: of a GPU's kernels or, without any, of the ops on the CPU. What the "
        "trace leaves open is assumed and said. `tune` takes the list.",
    )
    parser.add_argument(
        "--trace", metavar="FILE", required=True, help="the trace, compressed with gzip or not"
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="where the list is written, as JSON (default: not)"
    )
    parser.add_argument(
        "--device",
        metavar="DEVICE",
        default="cpu",
        help="where products ran that launched no kernels of a GPU in the trace: cpu, cuda or "
        "cuda:INDEX (default: cpu); no GPU is needed here",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Prints the table and the notes, and writes the list."""
    try:
        device = described_device("--device", arguments.device)
        report = read_trace(arguments.trace, device)
    except OSError as error:
        raise CliError(f"cannot read '{arguments.trace}': {error.strerror}") from error
    except ValueError as error:
        raise CliError(str(error)) from error
    print_report(report)
    if arguments.output is not None:
        write_report(report, arguments.output)
        print(f"bound arguments: {arguments.output}")
    return 0


def print_report(report: TraceReport) -> None:
    """One row a problem, and what was assumed."""
    table = Table()
    for column in ("calls", "time\n[us]", "share"):
        table.add_column(column, justify="right", no_wrap=True)
    for column in ("device", "product", "from", "op", "params"):
        table.add_column(column, overflow="fold")
    for problem in report.problems:
        table.add_row(
            str(problem.count),
            microseconds(problem.time_us / 1000),
            percent(problem.share),
            str(problem.bound.device),
            visible(str(problem.bound)),
            "name" if problem.is_exact else "shapes",
            *map(visible, problem.bound.key),
        )
    console = make_console()
    console.print(table)
    share = sum(problem.share for problem in report.problems)
    count = sum(problem.count for problem in report.problems)
    products = "1 product" if len(report.problems) == 1 else f"{len(report.problems)} products"
    console.print(f"{products} in {calls(count)}, {percent(share)} of the time")
    for note in report.notes:
        say(note)


def write_report(report: TraceReport, path: str) -> None:
    """Writes the list.

    Raises:
        CliError: it cannot be written.
    """
    problems = [
        (
            problem.bound,
            {
                "count": problem.count,
                "time_us": round(problem.time_us, 3),
                "share": round(problem.share, 6),
                "is_exact": problem.is_exact,
            },
        )
        for problem in report.problems
    ]
    write_text(path, write_list(problems, report.notes))
