"""Tuning from a file of keys, without the program that they come from."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Sequence

import torch

from tunedops import _C
from tunedops.arguments import path_of
from tunedops.bound_json import looks_like_json
from tunedops.device import parse_device
from tunedops.key_lists import (
    ListedKey,
    bound_keys,
    listed_keys,
    split_lines,
    words_for_foreign,
    words_for_other_devices,
)
from tunedops.results import Result
from tunedops.search import check_search, searching
from tunedops.text_files import read_text


def read_keys(
    filenames: Iterable[str | os.PathLike[str]], devices: Sequence[tuple[str, int]]
) -> list[ListedKey]:
    """The problems that untuned files, results files or lists of bound arguments list, each once.

    Products that only PyTorch's TunableOp has are left out, with a warning, and so are bound
    arguments of another kind of device.

    Raises:
        ValueError: a line is not a problem of one of the devices.
    """
    unique: dict[tuple[str, str], ListedKey] = {}
    for filename in filenames:
        path, text = os.fspath(filename), read_text(filename)
        in_file = (
            bound_keys(path, text)
            if looks_like_json(text)
            else listed_keys(split_lines(path, text))
        )
        for key in in_file:
            unique.setdefault(key.key, key)
    keys = list(unique.values())
    kind = devices[0][0]
    for words in (words_for_foreign(keys), words_for_other_devices(keys, kind)):
        if words is not None:
            warnings.warn(f"tunedops: {words}", stacklevel=3)
    keys = [key for key in keys if not key.is_foreign and key.device_type in (None, kind)]
    for key in keys:
        for device in devices:
            reason = key.reason_against(device)
            if reason is not None:
                raise ValueError(f"{key.where}: {reason}")
    return keys


def tune_keys(keys: Iterable[ListedKey], device: tuple[str, int]) -> list[str]:
    """Tunes what has no result yet, or one that other work disturbed.

    Returns:
        A sentence about each problem that could not be tuned.
    """
    failures = []
    for key in keys:
        row = _C.stored(device, *key.key)
        if row is None or Result(*row).was_disturbed:
            failure = _C.tune(device, *key.key, True).failure
            if failure:
                failures.append(f"{key.where}: '{key.op},{key.params}' is not tuned: {failure}")
    return failures


def tune_gemm_in_file(
    filename: str | os.PathLike[str],
    device: str | torch.device | None = None,
    *,
    search: str | None = None,
) -> None:
    """Tunes each problem listed in a file, exactly as listed, that has no result yet.

    A result that was timed while other work held the processors counts as none; a warning says
    how many there are at the end.

    While one is measured, torch's pool has as many threads as its key says, and torch's
    flags (TF32, deterministic algorithms and so on) are what they were for the program that
    listed it. They are put back afterwards; no other thread should multiply meanwhile.

    Args:
        filename: an untuned file (``op,params`` a line) or a results file, of ours or of
            PyTorch's TunableOp, or a list of bound arguments in JSON.
        device: where (default: the CPU).
        search: which configs are tried, in place of what the setting ``SEARCH`` says:
            ``proposals``, ``guided`` or ``exhaustive``.

    Raises:
        ValueError: ``search`` is another word, or a line is not a problem of that device;
            nothing is tuned then.
    """
    path = path_of("tune_gemm_in_file", "filename", filename)
    check_search("tune_gemm_in_file", search)
    target = parse_device(device)
    keys = read_keys([path], [target])
    with searching(search):
        failures = tune_keys(keys, target)
    for failure in failures:
        warnings.warn(f"tunedops: {failure}", stacklevel=2)
    rows = [_C.stored(target, *key.key) for key in keys]
    busy = sum(Result(*row).was_disturbed for row in rows if row is not None)
    if busy:
        warnings.warn(
            f"tunedops: {busy} of {len(keys)} results were timed while other work held the "
            "processors; the same call measures them again",
            stacklevel=2,
        )
