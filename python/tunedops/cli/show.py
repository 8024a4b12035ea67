"""``show``: a results file as a table."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from tunedops.cli.errors import CliError
from tunedops.cli.output import say, visible
from tunedops.cli.results_text import parse_results
from tunedops.cli.text_file import read_text
from tunedops.table import (
    date_column,
    make_console,
    microseconds,
    ratio_of,
    results_table,
    spread_text,
    times,
)

if TYPE_CHECKING:
    from tunedops.cli.argparse_types import Commands


def add_to(commands: Commands) -> None:
    """Adds the command to the parser."""
    parser = commands.add_parser(
        "show",
        help="print a results file as a table",
        description="Prints a results file as a table: the environment that it was "
        "tuned in, then one product a row. The file may be another machine's.",
    )
    parser.add_argument("file", metavar="FILE", help="a results file")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Prints the table on standard output and what was not understood on the other."""
    path: str = arguments.file
    found = parse_results(read_text(path))
    if found.is_workload:
        raise CliError(f"{path}: is a workload, no results file; `tune` takes it")
    if (
        found.complaints
        and not found.validators
        and not any("TunableOp_" in row.op for row in found.rows.values())
    ):
        number, complaint = found.complaints[0]
        raise CliError(f"{path}:{number}: {complaint}; this is no results file")
    console = make_console()
    for key, value in found.validators:
        console.print(f"{key}: {visible(value)}", soft_wrap=True)
    table = results_table(["op", "params"], ["solution", *date_column(console)])
    for row in found.rows.values():
        cells = (
            visible(row.op),
            visible(row.params),
            microseconds(row.default_ms),
            microseconds(row.time_ms),
            times(ratio_of(row.default_ms, row.time_ms, row.timing)),
            spread_text(row.spread, row.samples, row.timing),
            visible(row.solution),
            row.date or "-",
        )
        table.add_row(*cells[: len(table.columns)])
    console.print(table)
    for number, complaint in found.complaints:
        say(f"{path}:{number}: {complaint}")
    return 0
