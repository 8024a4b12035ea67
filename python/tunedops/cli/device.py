"""The ``--device`` option."""

from __future__ import annotations

import argparse

from tunedops.cli.errors import CliError
from tunedops.device import parse_device


def add_device_to(parser: argparse.ArgumentParser) -> None:
    """Adds the option; read it with :func:`device_of`."""
    parser.add_argument(
        "--device",
        metavar="DEVICE",
        default="cpu",
        help="cpu, cuda or cuda:INDEX (default: cpu)",
    )


def device_of(arguments: argparse.Namespace) -> tuple[str, int]:
    """The device as the compiled module names it.

    Raises:
        CliError: there is no such device, or no backend for it.
    """
    try:
        return parse_device(arguments.device)
    except (ValueError, RuntimeError, AssertionError) as error:
        reason = str(error).partition("\n")[0]
        raise CliError(f"--device {arguments.device}: {reason}") from error
