"""``check``: would a results file be used here, and if not, why."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from tunedops import _C
from tunedops.cli.device import add_device_to, device_of
from tunedops.cli.errors import CliError
from tunedops.cli.output import visible
from tunedops.cli.results_text import parse_results
from tunedops.cli.text_file import read_text

if TYPE_CHECKING:
    from tunedops.cli.argparse_types import Commands


def add_to(commands: Commands) -> None:
    """Adds the command to the parser."""
    parser = commands.add_parser(
        "check",
        help="say whether a results file is accepted here",
        description="Says whether a results file is accepted on this machine and each "
        "of its rows can be used; if not, which validator or line it is, and why. "
        "Exit code 0: accepted, 1: not, 2: there is no such file, or it is a workload.",
    )
    parser.add_argument("file", metavar="FILE", help="a results file")
    add_device_to(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Prints one sentence for each thing that is wrong, or that nothing is."""
    path: str = arguments.file
    device = device_of(arguments)
    if not os.path.exists(path):
        raise CliError(f"cannot read '{path}': No such file or directory")
    if os.path.isfile(path) and is_workload(path):
        raise CliError(f"{path}: is a workload, no results file; `tune` takes it")
    sentences = _C.check_file(device, path)
    for sentence in sentences:
        print(visible(sentence))
    if sentences:
        return 1
    print(f"{path}: accepted on {_C.device_name(device)}")
    return 0


def is_workload(path: str) -> bool:
    """Whether a file is a workload; what cannot be read is left to the library's words."""
    try:
        return parse_results(read_text(path)).is_workload
    except CliError:
        return False
