"""The personal cache: results of your own that every program finds.

A folder that belongs to you alone (the setting ``CACHE_DIR``; by default ``tunedops`` in
``$XDG_CACHE_HOME`` or ``~/.cache``) holds one results file for each device and environment. A
product that has no result in the file of its program takes the one from here, before the
database that ships with the package. Nothing is put here but by :func:`save`.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import torch

from tunedops import _C
from tunedops.autotuning_csv import measured_of, row_of
from tunedops.autotuning_result import AutotuningResult
from tunedops.bound_arguments import BoundArguments
from tunedops.device import parse_device
from tunedops.environments import devices_like, difference
from tunedops.results import Result


def save(result: AutotuningResult) -> list[Path]:
    """Puts the winners of a result into the cache; they replace those that it has.

    What was timed while other work held the processors is left out, with a warning.

    Returns:
        The files, one for each kind of device.

    Raises:
        TypeError: it is no result.
        RuntimeError: there is no cache (``TUNEDOPS_CACHE_DIR`` is empty), it cannot be written,
            or nothing may be written here (``TUNEDOPS_READ_ONLY``, ``replay_only``).
        ValueError: the result is of another environment; the message says what differs.
    """
    if not isinstance(result, AutotuningResult):
        raise TypeError(
            f"cache.save: result must be an AutotuningResult, got {type(result).__name__}"
        )
    disturbed = sum(m.was_disturbed for m in result.measured.values())
    if disturbed:
        warnings.warn(
            f"cache.save: {disturbed} of {len(result)} results were timed while other work held "
            "the processors and are left out; tune them again when the machine is idle",
            stacklevel=2,
        )
    environments = result.validators
    reason = difference(environments)
    if reason is not None:
        raise ValueError(f"cache.save: the result is of another environment: {reason}")
    files = []
    for kind, validators in environments.items():
        rows = [
            row_of(bound, m)
            for bound, m in result.measured.items()
            if bound.device.type == kind and not m.was_disturbed
        ]
        files.append(Path(_C.save_to_cache(devices_like(kind, validators)[0], rows)))
    return files


def path(device: str | torch.device | None = None) -> Path | None:
    """The file of a device in this environment; it need not exist. None if there is no cache.

    Args:
        device: default: the CPU.
    """
    name = _C.cache_filename(parse_device(device))
    return Path(name) if name else None


def load(device: str | torch.device | None = None) -> AutotuningResult:
    """What the cache has for a device, as a result; an empty one if it has nothing.

    Args:
        device: default: the CPU.
    """
    place = parse_device(device)
    measured = {
        BoundArguments.from_key(result.op, result.params, torch.device(*place)): measured_of(result)
        for result in (Result(*row) for row in _C.cached(place))
        if _C.is_problem(place, result.op, result.params)
    }
    return AutotuningResult(measured)


def clear(device: str | torch.device | None = None) -> None:
    """Deletes what the cache has for a device in this environment.

    Args:
        device: default: the CPU.

    Raises:
        RuntimeError: nothing may be written here, or the file cannot be deleted.
    """
    _C.clear_cache(parse_device(device))
