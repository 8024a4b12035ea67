"""The environment that results depend on: which device, which torch, which library.

A result knows the validators of each kind of device that it is of; it is true where all of
them are the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

import torch

from tunedops import _C
from tunedops.device import device_pair

Environments: TypeAlias = "Mapping[str, Mapping[str, str]]"


def environments_of(devices: Iterable[torch.device]) -> dict[str, dict[str, str]]:
    """The validators here, by kind of device.

    Raises:
        ValueError: two GPUs among the devices are different ones, so no result can be of both.
    """
    found: dict[str, dict[str, str]] = {}
    for device in sorted(devices, key=str):
        validators = dict(_C.validators(device_pair(device)))
        known = found.setdefault(device.type, validators)
        if known != validators:
            raise ValueError(
                f"a result is of one kind of GPU: '{device}' is {validators['DEVICE']}, another "
                f"one here {known['DEVICE']}"
            )
    return found


def difference(environments: Environments) -> str | None:
    """Why results of these environments do not hold here, None if they do."""
    for kind, validators in environments.items():
        if devices_like(kind, validators):
            continue
        if kind == "cuda" and not torch.cuda.is_available():
            return f"it is of {validators.get('DEVICE', 'a GPU')}, and torch sees no GPU here"
        return _first_difference(validators, _C.validators((kind, 0)))
    return None


def devices_like(kind: str, validators: Mapping[str, str]) -> list[tuple[str, int]]:
    """The devices here, as the compiled module names them, that have this environment."""
    count = 1 if kind == "cpu" else torch.cuda.device_count() if torch.cuda.is_available() else 0
    here = [(kind, i) for i in range(count)]
    return [place for place in here if _C.validators(place) == dict(validators)]


def same_devices(left: Environments, right: Environments) -> None:
    """Raises ValueError, naming both values, if two results cannot be merged."""
    for kind in left.keys() & right.keys():
        keys = sorted(left[kind].keys() | right[kind].keys(), key=lambda key: key != "DEVICE")
        for key in keys:
            one, other = left[kind].get(key), right[kind].get(key)
            if one != other:
                raise ValueError(
                    f"results of different environments cannot be merged: {key} is {one!r} on the "
                    f"left and {other!r} on the right"
                )


def _first_difference(theirs: Mapping[str, str], ours: Mapping[str, str]) -> str | None:
    for key in sorted(theirs.keys() | ours.keys(), key=lambda key: key != "DEVICE"):
        if theirs.get(key) != ours.get(key):
            return f"{key} is {theirs.get(key)!r} there and {ours.get(key)!r} here"
    return None
