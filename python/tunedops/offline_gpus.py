"""Tuning from files of keys on several GPUs at once, one process each."""

from __future__ import annotations

import glob
import itertools
import multiprocessing
import os
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack

import torch

from tunedops import _C
from tunedops.arguments import text_of
from tunedops.key_lists import ListedKey
from tunedops.offline import read_keys, tune_keys
from tunedops.results import Result
from tunedops.search import check_search, searching

_Device = tuple[str, int]
_Key = tuple[str, str]


def mgpu_tune_gemm_in_file(
    filename_pattern: str, num_gpus: int, *, search: str | None = None
) -> None:
    """Tunes the problems that files list on several GPUs, and gives all GPUs all results.

    Each problem is tuned once for each model of GPU among them, by one process a GPU.
    Afterwards every GPU's own results file (``tunedops_results0.csv`` and so on) holds them
    all, so that a program finds them wherever it runs. Problems that a GPU of the same model
    has a result for are not tuned again.

    The processes are started anew and import the main module, so call this under
    ``if __name__ == "__main__":``.

    Args:
        filename_pattern: of untuned or results files, with wildcards as of the shell, such
            as ``tunedops_untuned?.csv``.
        num_gpus: how many GPUs, from ``cuda:0`` on.
        search: which configs are tried, in place of what the setting ``SEARCH`` says:
            ``proposals``, ``guided`` or ``exhaustive``.

    Raises:
        ValueError: there are not that many GPUs, no file matches, ``search`` is another word,
            or a line is not a problem of a GPU; nothing is tuned then.
        RuntimeError: a process failed, or a problem could not be tuned. The rest is kept.
    """
    text_of("mgpu_tune_gemm_in_file", "filename_pattern", filename_pattern)
    check_search("mgpu_tune_gemm_in_file", search)
    available = torch.cuda.device_count() if _C.built_with_cuda else 0
    if not 1 <= num_gpus <= available:
        raise ValueError(
            f"mgpu_tune_gemm_in_file: num_gpus must be from 1 to the number of GPUs here, "
            f"{available}, got {num_gpus}"
        )
    filenames = sorted(glob.glob(filename_pattern))
    if not filenames:
        raise ValueError(f"mgpu_tune_gemm_in_file: no file matches '{filename_pattern}'")
    if _C.setting("READ_ONLY") == "1":
        raise RuntimeError("mgpu_tune_gemm_in_file: TUNEDOPS_READ_ONLY is on")
    devices = [("cuda", index) for index in range(num_gpus)]
    keys = read_keys(filenames, devices[:1])
    with searching(search):
        failures = tune_in_processes(shares_of(keys, devices))
    for alike in groups_of_alike(devices):
        share_results([key.key for key in keys], alike)
    _C.write_file()
    if failures:
        raise RuntimeError("mgpu_tune_gemm_in_file: " + "; ".join(failures))


def groups_of_alike(devices: Sequence[_Device]) -> list[list[_Device]]:
    """The devices, those together whose results hold for one another."""
    groups: dict[tuple[tuple[str, str], ...], list[_Device]] = {}
    for device in devices:
        environment = tuple(sorted(_C.validators(device).items()))
        groups.setdefault(environment, []).append(device)
    return list(groups.values())


def shares_of(
    keys: Sequence[ListedKey], devices: Sequence[_Device]
) -> dict[_Device, list[ListedKey]]:
    """What each device is to tune: per model all that none of that model has, dealt in turn."""
    shares: dict[_Device, list[ListedKey]] = {device: [] for device in devices}
    for alike in groups_of_alike(devices):
        lacking = [
            key for key in keys if all(_C.stored(device, *key.key) is None for device in alike)
        ]
        for i, key in enumerate(lacking):
            shares[alike[i % len(alike)]].append(key)
    return shares


def tune_in_processes(
    shares: dict[_Device, list[ListedKey]],
) -> list[str]:
    """Tunes each device's share in a process of its own, all at the same time.

    Returns:
        A sentence about each failure.
    """
    context = multiprocessing.get_context("spawn")
    settings = settings_of_the_program()
    failures = []
    with ExitStack() as executors:
        futures = {}
        for device, share in shares.items():
            if share:
                path = None
                if "TUNEDOPS_FILENAME" not in os.environ:
                    path = os.path.abspath(_C.filename(device))
                executor = ProcessPoolExecutor(max_workers=1, mp_context=context)
                executors.enter_context(executor)
                futures[device] = executor.submit(_work, share, device, path, settings)
        for (kind, index), future in futures.items():
            try:
                failures += [f"{kind}:{index}: {failure}" for failure in future.result()]
            except Exception as error:  # whatever the process died of
                failures.append(f"the process for {kind}:{index} failed: {error}")
    return failures


def settings_of_the_program() -> dict[str, str]:
    """What the program has set by calls, which a new process does not know."""
    return {
        name: value
        for name, value, _, origin, _ in _C.describe_settings()
        if origin == "api" and name != "FILENAME"
    }


def _work(
    keys: Sequence[ListedKey], device: _Device, path: str | None, settings: dict[str, str]
) -> list[str]:
    """What a process does: tunes the keys into its device's results file."""
    for name, value in settings.items():
        _C.set_setting(name, value)
    if path is not None:
        _C.set_filename(path, False)
    if "GRAPH_REPLAY" not in settings and "TUNEDOPS_GRAPH_REPLAY" not in os.environ:
        # No other thread of this process uses the GPU, so nothing forbids graphs.
        _C.set_setting("GRAPH_REPLAY", "1")
    if device[0] == "cuda":
        torch.cuda.set_device(device[1])  # else the first GPU gets a context, too
    return tune_keys(keys, device)


def share_results(keys: Iterable[_Key], devices: Sequence[_Device]) -> None:
    """Gives each of the devices the results for the keys that others of them have."""
    rows: dict[_Key, str] = {}
    wanted = set(keys)
    for device in devices:
        _C.read_file(device, None)  # what a process wrote meanwhile
        for result in itertools.starmap(Result, _C.results(device)):
            if (result.op, result.params) in wanted:
                rows[result.op, result.params] = _row_of(result)
    for device in devices:
        lacking = [row for key, row in rows.items() if _C.stored(device, *key) is None]
        if lacking:
            _take_rows(lacking, device)


def _row_of(result: Result) -> str:
    """The row that a results file has for a result."""
    fields = (
        result.op,
        result.params,
        result.solution,
        result.time_ms,
        result.default_ms,
        result.timing,
        result.samples,
        result.spread,
        result.margin,
        result.date,
    )
    return ",".join("" if field is None else str(field) for field in fields).rstrip(",")


def _take_rows(rows: Iterable[str], device: _Device) -> None:
    """Takes rows as if they were in a results file of the device."""
    validators = [f"Validator,{key},{value}" for key, value in _C.validators(device).items()]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rows.csv")
        with open(path, "w") as file:
            file.write("".join(f"{line}\n" for line in [*validators, *rows]))
        _C.read_file(device, path)
