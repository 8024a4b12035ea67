"""Tuning from a file of keys, without the program that they come from."""

from __future__ import annotations

import os
from pathlib import Path

import torch

from tunedops import _C
from tunedops.device import parse_device


def read_keys(filename: str | os.PathLike[str]) -> list[tuple[int, str, str]]:
    """Line number, op and params of each row of an untuned or results file."""
    keys = []
    for number, line in enumerate(Path(filename).read_text().splitlines(), start=1):
        text = line.strip()
        if not text or text.startswith(("#", "Validator,")):
            continue
        fields = text.split(",")
        if len(fields) < 2:
            raise ValueError(f"{filename}:{number}: expected 'op,params', got '{text}'")
        keys.append((number, fields[0].strip(), fields[1].strip()))
    return keys


def tune_gemm_in_file(
    filename: str | os.PathLike[str], device: str | torch.device | None = None
) -> None:
    """Tunes each problem listed in a file, exactly as listed, that has no result yet.

    Args:
        filename: an untuned file (``op,params`` a line) or a results file.
        device: where (default: the CPU).

    Raises:
        ValueError: a line is not a problem of that device.
    """
    target = parse_device(device)
    keys = read_keys(filename)
    for number, op, params in keys:
        if not _C.is_problem(target, op, params):
            raise ValueError(
                f"{filename}:{number}: '{op},{params}' is not a problem of {target[0]}"
            )
    for _, op, params in keys:
        if _C.stored(target, op, params) is None:
            _C.tune(target, op, params, True)
