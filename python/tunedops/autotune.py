"""Tuning a function once, and holding the result in the hand."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import torch

from tunedops import _C
from tunedops.autotuning_csv import measured_of
from tunedops.autotuning_result import AutotuningResult
from tunedops.bound_arguments import BoundArguments
from tunedops.device import described_device, device_pair, parse_device
from tunedops.measurement import Measured, Measurement
from tunedops.programs import callable_of
from tunedops.recorder import record
from tunedops.results import Result
from tunedops.search import check_search


def autotune(
    f: object,
    *args: Any,
    ignore_cache: bool = False,
    budget_ms: float | None = None,
    search: str | None = None,
    kernels: Sequence[str] | None = None,
    progress: bool = False,
    device: str | torch.device | None = None,
    **kwargs: Any,
) -> AutotuningResult:
    """Finds the tunable problems of ``f(*args, **kwargs)`` and the fastest solution of each.

    ``f`` runs once, by torch's own kernels, and each product that :func:`tunedops.enable` would
    route is noted, of the backward pass too if ``f`` runs one; then each problem is tuned, on
    data of its own. Threads that ``f`` starts are not seen. With fake tensors for arguments
    (``FakeTensorMode``), or meta tensors and a ``device``, nothing is computed in that run.

    Nothing else changes: no file is written, what the process uses outside of ``with result:``
    stays as it is, and the switch ``TUNING`` does not matter.

    Args:
        f: a function, an ``nn.Module``, a ``GraphModule``, an ``ExportedProgram``, one
            :class:`tunedops.BoundArguments` or a sequence of them. A graph or a program without
            arguments gets those that it was traced with.
        args: of ``f``.
        ignore_cache: tune also what has a stored result, in the results file, the personal
            cache or the database. Else that result is taken over, so that the answer holds every
            problem in any case; not if a budget, a search or kernels are asked for.
        budget_ms: wall-clock milliseconds for one problem (the setting
            ``MAX_TUNING_BUDGET_MS`` if None).
        search: ``proposals``, ``guided`` or ``exhaustive`` (the setting ``SEARCH`` if None). The
            last has no budget unless one is given.
        kernels: names of the kernels that may compete with ``Default`` (all if None).
        progress: show a bar with the time that is left.
        device: of the problems, whatever the operands' is (meta tensors have none).
        kwargs: of ``f``.

    Raises:
        RuntimeError: tuning is not allowed here: ``TUNEDOPS_READ_ONLY`` is on, this is a forked
            child, or a CUDA graph is being captured.
        TypeError: ``f`` or an option has the wrong type.
        ValueError: there is nothing to tune in ``f``; a problem is of a device that is not here;
            an option has a value that is none; all problems failed, with the reason of the first.

    Source: Tokamax' ``autotune``, with what it lacks: arguments by name, kernels that compete
    across implementations, and a check of every winner.
    """
    check_search("autotune", search)
    if budget_ms is not None and not budget_ms > 0:
        raise ValueError(f"autotune: budget_ms must be above 0, got {budget_ms!r}")
    names = _checked_kernels(kernels)
    _require_that_tuning_is_allowed()
    place = None if device is None else described_device("autotune", device)
    problems = _problems_of(f, args, kwargs, place)
    for bound in problems:
        parse_device(bound.device)  # it may be of another machine
    takes_stored = not ignore_cache and not names and (search, budget_ms) == (None, None)
    found: dict[BoundArguments, Measured] = {}
    failures: dict[BoundArguments, str] = {}
    for bound in _shown(problems, progress):
        stored = _stored(bound) if takes_stored else None
        if stored is not None:
            found[bound] = stored
            continue
        try:
            outcome = _C.measure(device_pair(bound.device), *bound.key, search, budget_ms, names)
        except RuntimeError as error:  # the device failed: what was found before stays
            failures[bound] = str(error)
            continue
        if outcome.failure:
            failures[bound] = outcome.failure
        else:
            found[bound] = _measured(outcome)
    if failures and not found:
        first, reason = next(iter(failures.items()))
        raise ValueError(f"autotune: nothing could be tuned; of {first}: {reason}")
    disturbed = sum(m.was_disturbed for m in found.values())
    if disturbed:
        warnings.warn(
            f"autotune: {disturbed} of {len(found)} problems were timed while other work held the "
            "processors, so their choices may be wrong; tune them again when the machine is idle",
            stacklevel=2,
        )
    return AutotuningResult(found, failures)


def get_bound_args(
    f: object,
    *args: Any,
    device: str | torch.device | None = None,
    **kwargs: Any,
) -> tuple[BoundArguments, ...]:
    """The tunable problems of ``f(*args, **kwargs)``, each once, in the order in which they come.

    It is what :func:`autotune` does first: ``f`` runs once, by torch's own kernels, and nothing
    is tuned.

    Args:
        f: as of :func:`autotune`.
        args: of ``f``.
        device: of the problems, whatever the operands' is (meta tensors have none).
        kwargs: of ``f``.

    Raises:
        TypeError: ``f`` has the wrong type.
        ValueError: a graph without arguments does not say what it takes.
    """
    place = None if device is None else described_device("get_bound_args", device)
    return record(*callable_of(f, args, kwargs), device=place)


def _problems_of(
    f: object, args: Sequence[Any], kwargs: dict[str, Any], device: torch.device | None
) -> tuple[BoundArguments, ...]:
    if isinstance(f, BoundArguments):
        f = (f,)
    if isinstance(f, Iterable) and not callable(f):
        given = tuple(f)
        for bound in given:
            if not isinstance(bound, BoundArguments):
                raise TypeError(
                    "autotune: a sequence must hold BoundArguments, got one of "
                    f"{type(bound).__name__}"
                )
        if not given:
            raise ValueError("autotune: the sequence is empty, so there is nothing to tune")
        if args or kwargs:
            raise TypeError("autotune: BoundArguments take no further arguments")
        return tuple(dict.fromkeys(given))
    found = record(*callable_of(f, args, kwargs), device=device)
    if not found:
        raise ValueError(
            "autotune: nothing in f is a product that tunedops can tune; it tunes mm, addmm, bmm, "
            "baddbmm, addmv and linear, of dense tensors of floating point on a CPU or an NVIDIA "
            "GPU, that this thread multiplies (fake and meta tensors are looked for among the "
            "arguments, in modules and in closures)"
        )
    return found


def _require_that_tuning_is_allowed() -> None:
    """Before anything runs."""
    if _C.setting("READ_ONLY") == "1":
        raise RuntimeError("autotune: TUNEDOPS_READ_ONLY is on, which allows no tuning")
    if _C.is_replaying():
        raise RuntimeError("autotune: this is inside replay_only(), which allows no tuning")
    if _C.is_forked():
        raise RuntimeError("autotune: not in a forked child; start the process with 'spawn'")
    is_used = torch.cuda.is_initialized()  # type: ignore[no-untyped-call]
    if is_used and torch.cuda.is_current_stream_capturing():
        raise RuntimeError("autotune: a CUDA graph is being captured; tune before that")


def _checked_kernels(kernels: Iterable[str] | None) -> list[str]:
    if kernels is None:
        return []
    names = [] if isinstance(kernels, str) else list(kernels)
    if isinstance(kernels, str) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"autotune: kernels must be a sequence of names, got {kernels!r}")
    types = [kind for kind in ("cpu", "cuda") if _C.has_backend(kind)]
    known = {name for kind in types for name in _C.kernel_names((kind, 0))}
    for name in names:
        if name not in known:
            raise ValueError(
                f"autotune: no kernel is called '{name}'; there are {', '.join(sorted(known))}"
            )
    # Default always competes; alone it has to be named, since no name means all.
    return names or ["Default"]


def _stored(bound: BoundArguments) -> Measured | None:
    row = _C.stored_anywhere(device_pair(bound.device), *bound.key)
    if row is None:
        return None
    result = Result(*row)
    if result.was_disturbed or _C.unusable(device_pair(bound.device), *bound.key, result.solution):
        return None
    return measured_of(result)


def _measured(outcome: _C.TuneOutcome) -> Measured:
    """Ranked: the winner, then what stayed in the race by time, then the rest."""
    tried = [
        Measurement(name, time_ms or None, samples, refused)
        for name, time_ms, samples, refused in outcome.measurements
    ]
    winner = next((m for m in tried if m.solution == outcome.solution), None)
    best = Measurement(outcome.solution, outcome.time_ms, winner.samples if winner else None)
    others = sorted(
        (m for m in tried if m.solution != outcome.solution),
        key=lambda m: (bool(m.refused), m.time_ms if m.time_ms is not None else float("inf")),
    )
    return Measured(
        (best, *others),
        outcome.default_ms,
        outcome.timing,
        outcome.spread,
        outcome.margin,
        outcome.date or None,
    )


def _shown(problems: Sequence[BoundArguments], progress: bool) -> Iterable[BoundArguments]:
    """With a bar on the terminal, and the time that is left, if asked for."""
    if not progress:
        return problems
    from rich.progress import track

    return track(problems, description="autotune")
