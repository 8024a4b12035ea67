"""``check``: would a results file be used here, and if not, why."""

from __future__ import annotations

import argparse
import os
import re
from typing import TYPE_CHECKING

from tunedops import _C
from tunedops.cli.busy import words_for_busy
from tunedops.cli.device import add_device_to, device_of
from tunedops.cli.errors import CliError
from tunedops.cli.output import visible
from tunedops.cli.results_text import ResultsText, parse_results
from tunedops.cli.text_file import read_text

if TYPE_CHECKING:
    from tunedops.cli.argparse_types import Commands


def add_to(commands: Commands) -> None:
    """Adds the command to the parser."""
    parser = commands.add_parser(
        "check",
        help="say whether a results file is accepted here",
        description="Says whether a results file is accepted on this machine and each "
        "of its rows can be used; if not, which validator or line it is, and why. Says too which "
        "rows are overruled by a later one, and how many were timed on a busy machine. "
        "Exit code 0: accepted, 1: not, 2: there is no such file, or it is a workload.",
    )
    parser.add_argument("file", metavar="FILE", help="a results file")
    add_device_to(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Prints one sentence for each thing that is wrong, in the order of lines, or that none is."""
    path: str = arguments.file
    device = device_of(arguments)
    if not os.path.exists(path):
        raise CliError(f"cannot read '{path}': No such file or directory")
    found = what_it_holds(path) if os.path.isfile(path) else ResultsText()
    if found.is_workload:
        raise CliError(f"{path}: is a workload, no results file; `tune` takes it")
    sentences = _C.check_file(device, path)
    for sentence in sorted([*sentences, *overruled(path, found)], key=lambda s: line_of(path, s)):
        print(visible(sentence))
    if not sentences:
        print(f"{path}: accepted on {_C.device_name(device)}")
    # Of a file that is no one's here no row is used, however it was timed.
    if all(line_of(path, sentence) for sentence in sentences):
        words = words_for_busy(found.rows.values(), device, path)
        if words is not None:
            print(visible(f"{path}: {words}"))
    return 1 if sentences else 0


def what_it_holds(path: str) -> ResultsText:
    """A file as its text; what cannot be read is left to the library's words."""
    try:
        return parse_results(read_text(path))
    except CliError:
        return ResultsText()


def overruled(path: str, found: ResultsText) -> list[str]:
    """A sentence about each row whose key comes again."""
    return [
        f"{path}:{line}: has the key of line {lines[-1]}, which is used instead"
        for lines in found.lines.values()
        for line in lines[:-1]
    ]


def line_of(path: str, sentence: str) -> int:
    """The line that a sentence is about; 0 for the whole file."""
    place = re.match(re.escape(path) + r":(\d+): ", sentence)
    return int(place[1]) if place else 0
