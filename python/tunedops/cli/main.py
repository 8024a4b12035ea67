"""Chooses the command, and turns whatever ends it into a line and an exit code."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

import tunedops
from tunedops.cli import check, doctor, show, trace_to_bound_args, tune
from tunedops.cli.errors import CliError
from tunedops.cli.output import say, warnings_as_lines

_DESCRIPTION = """\
Finds the fastest correct kernel for matrix products and keeps the choices in a CSV
that people can read and edit."""

_EPILOGUE = """\
exit codes: 0 done, 1 no (a file is not accepted, a product could not be tuned),
2 bad input or a file that cannot be read or written, 130 interrupted"""


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, without the usage before it."""

    def error(self, message: str) -> NoReturn:
        command = self.prog.removeprefix("tunedops").strip()
        say(f"{command}: {message}" if command else message)
        raise SystemExit(2)


def build_parser() -> argparse.ArgumentParser:
    """The parser; ``run`` in what it returns is the command's function, or None."""
    parser = _Parser(
        prog="tunedops",
        description=_DESCRIPTION,
        epilog=_EPILOGUE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"tunedops {tunedops.__version__}")
    parser.set_defaults(run=None)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for command in (tune, show, check, doctor, trace_to_bound_args):
        command.add_to(commands)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command.

    Args:
        argv: the words behind the program's name; None: those of this process.

    Returns:
        The exit code.
    """
    parser = build_parser()
    arguments = parser.parse_args(argv)
    if arguments.run is None:
        parser.print_help(sys.stderr)
        return 2
    with warnings_as_lines():
        try:
            code: int = arguments.run(arguments)
            sys.stdout.flush()
            return code
        except CliError as error:
            say(str(error))
            return 2
        except KeyboardInterrupt:
            say("interrupted")
            return 130
        except BrokenPipeError:
            # The reader has seen enough (`| head`). Python would complain once more
            # when it flushes at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 1
