"""Options that several benchmarks have, so that they are called and checked alike."""

from __future__ import annotations

import argparse
import math
from pathlib import Path

from tunedops.device import parse_device
from tunedops.workloads import read_workloads

SECONDS = {"cpu": 2.0, "cuda": 0.8}


def add_device(parser: argparse.ArgumentParser) -> None:
    """`--device`, a name until `take_device` was asked."""
    parser.add_argument("--device", default="cpu", help="cpu, cuda or cuda:INDEX (default: cpu)")


def take_device(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    """Makes `device` what `_C` calls it; ends the program if there is no such device."""
    try:
        arguments.device = parse_device(arguments.device)
    except (ValueError, RuntimeError, AssertionError) as error:
        parser.error(f"--device {arguments.device}: {str(error).splitlines()[0]}")


def add_seconds(parser: argparse.ArgumentParser) -> None:
    """`--seconds`, None until `take_seconds` was asked."""
    parser.add_argument(
        "--seconds",
        type=float,
        help=f"for each row (default: {SECONDS['cpu']} on a CPU, {SECONDS['cuda']} on a GPU)",
    )


def take_seconds(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    """Puts the device's default in; ends the program if it is no duration."""
    if arguments.seconds is None:
        arguments.seconds = SECONDS[arguments.device[0]]
    if not (math.isfinite(arguments.seconds) and arguments.seconds > 0):
        parser.error(f"--seconds {arguments.seconds}: expected a number above 0")


def take_workloads(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    """Reads the file `workloads` into `products`; ends the program if it is none."""
    try:
        arguments.products = read_workloads(arguments.workloads)
    except OSError as error:
        parser.error(f"--workloads {arguments.workloads}: {error.strerror}")
    except ValueError as error:
        parser.error(f"--workloads {error}")


def add_results(parser: argparse.ArgumentParser) -> None:
    """`--results` or `--write-workloads`, for a benchmark that chooses its products itself."""
    group = parser.add_mutually_exclusive_group(required=True)
    group.add_argument("--results", type=Path, metavar="FILE", help="results file to use")
    group.add_argument(
        "--write-workloads",
        type=Path,
        metavar="FILE",
        help="write the products into a workload file, to be tuned, and time nothing",
    )


def add_settings(parser: argparse.ArgumentParser) -> None:
    """`--setting`, a list until `take_settings` was asked."""
    parser.add_argument(
        "--setting",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a further setting of tunedops, such as MAX_TUNING_ITERATIONS=20",
    )


def take_settings(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    """Makes `setting` a dictionary."""
    if not all("=" in setting for setting in arguments.setting):
        parser.error("--setting: expected NAME=VALUE")
    arguments.setting = dict(setting.split("=", 1) for setting in arguments.setting)


def add_record(parser: argparse.ArgumentParser) -> None:
    """`--record`."""
    parser.add_argument(
        "--record", metavar="NAME", help="of the record in benchmarks/results, or a path"
    )
