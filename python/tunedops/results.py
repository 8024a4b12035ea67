"""Stored results: looking at them, and moving them between memory and files."""

from __future__ import annotations

import os
from typing import NamedTuple

import torch

from tunedops import _C
from tunedops.arguments import path_of, text_of
from tunedops.device import parse_device


class Result(NamedTuple):
    """One stored choice. Times are milliseconds of one call.

    What a row does not say is None: rows may be written by hand.
    """

    op: str
    params: str
    solution: str
    time_ms: float | None
    default_ms: float | None
    tuned_here: bool
    """Whether this process tuned it (else it was read from a file)."""
    timing: str | None
    """How it was timed: by the processor's ``clock``, a GPU's ``events``, or ``graphs`` of calls
    between such events. ``-busy`` behind it: other work held the processors meanwhile, so the
    times may be anything."""
    samples: int | None
    """Rounds in which the winner was timed beside torch's own product."""
    spread: float | None
    """Half of the interquartile range, relative to the median, of the ratios of the winner's
    times to those of torch's own product in the same rounds; if that won, of its own times."""
    margin: float | None
    """The share by which a solution had to be faster than torch's own product to win."""
    date: str | None
    """The day of the tuning in UTC, as in ``2026-11-30``."""

    @property
    def was_disturbed(self) -> bool:
        """Whether other work disturbed the measurements."""
        return was_disturbed(self.timing)


def was_disturbed(timing: str | None) -> bool:
    """Whether a row's timing says that other work disturbed it."""
    return timing is not None and timing.endswith("-busy")


def get_results(device: str | torch.device | None = None) -> tuple[Result, ...]:
    """The stored results of a device (default: the CPU), sorted by key."""
    return tuple(Result(*row) for row in _C.results(parse_device(device)))


def get_validators(
    device: str | torch.device | None = None,
) -> tuple[tuple[str, str], ...]:
    """Key and value of the environment that a device's results depend on."""
    return tuple(_C.validators(parse_device(device)).items())


def set_filename(filename: str | os.PathLike[str], insert_device_ordinal: bool = False) -> None:
    """Names the results file.

    Args:
        filename: ``%d`` in it is replaced by the device's ordinal (``_cpu`` for the CPU).
        insert_device_ordinal: put the ordinal before the extension if there is no ``%d``.

    What this process tuned so far goes along; what it read from the earlier file does not.
    """
    _C.set_filename(path_of("set_filename", "filename", filename), insert_device_ordinal)


def get_filename(device: str | torch.device | None = None) -> str:
    """The results file in use, or to be used, for a device (default: the CPU)."""
    return _C.filename(parse_device(device))


def read_file(
    filename: str | os.PathLike[str] | None = None,
    device: str | torch.device | None = None,
) -> bool:
    """Takes the rows of a file over those in memory.

    Args:
        filename: None: the device's own results file.
        device: whose results they are (default: the CPU).

    Returns:
        Whether the file was accepted; if not, a warning says why.
    """
    path = None if filename is None else path_of("read_file", "filename", filename)
    return _C.read_file(parse_device(device), path)


def write_file(
    filename: str | os.PathLike[str] | None = None,
    device: str | torch.device | None = None,
) -> bool:
    """Merges the results with what is in the file, and replaces the file in one step.

    Args:
        filename: None: each device's own results file.
        device: whose results to write to ``filename`` (default: the CPU).

    Returns:
        Whether all was written; if not, a warning says why.
    """
    if filename is None:
        return _C.write_file()
    path = path_of("write_file", "filename", filename)
    return _C.write_file_to(parse_device(device), path)


def write_file_on_exit(val: bool) -> None:
    """Whether a normal exit merges and writes what this process tuned (default: yes)."""
    _C.write_file_on_exit(val)


def clear() -> None:
    """Forgets all results in memory. Files stay as they are."""
    _C.clear()


def delete(op: str, params: str, device: str | torch.device | None = None) -> bool:
    """Forgets one result; :func:`write_file` then removes its row.

    Returns:
        Whether there was one.
    """
    key = (text_of("delete", "op", op), text_of("delete", "params", params))
    return _C.erase(parse_device(device), *key)


def summary(device: str | torch.device | None = None) -> None:
    """Prints what is stored for a device: from which time to which, and by what.

    Below the table are the rows of its results file whose solution cannot be used here.
    """
    from tunedops.table import make_console, print_results

    target = parse_device(device)
    print_results(get_results(device), title=_C.device_name(target))
    path = _C.filename(target)
    for sentence in _C.check_file(target, path) if os.path.isfile(path) else []:
        if ": solution '" in sentence:
            make_console().print(f"{sentence}; Default runs", soft_wrap=True)
