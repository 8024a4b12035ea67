"""Autotuning results as results files, which people edit and every process can use."""

from __future__ import annotations

import os
from collections.abc import Mapping

from tunedops import _C
from tunedops.arguments import path_of
from tunedops.bound_arguments import BoundArguments
from tunedops.environments import Environments
from tunedops.measurement import Measured, Measurement
from tunedops.results import Result
from tunedops.text_files import read_text


def write(measured: Mapping[BoundArguments, Measured], environments: Environments) -> str:
    """See :meth:`tunedops.AutotuningResult.to_csv`."""
    if len(environments) > 1:
        raise ValueError(
            "to_csv: the result is of a CPU and of GPUs; a results file is of one of them"
        )
    validators = next(iter(environments.values()), {})
    return _C.format_results(dict(validators), [row_of(*each) for each in measured.items()])


def row_of(bound: BoundArguments, measured: Measured) -> _C._Row:
    """The winner as the fields of a row."""
    best = measured.best
    return (
        *bound.key,
        best.solution,
        best.time_ms,
        measured.default_ms,
        measured.timing,
        best.samples,
        measured.spread,
        measured.margin,
        measured.date,
    )


def measured_of(result: Result) -> Measured:
    """What a row says of its winner."""
    return Measured(
        (Measurement(result.solution, result.time_ms, result.samples),),
        result.default_ms,
        result.timing,
        result.spread,
        result.margin,
        result.date,
    )


def read(
    file: str | os.PathLike[str],
) -> tuple[dict[BoundArguments, Measured], Environments]:
    """See :meth:`tunedops.AutotuningResult.from_csv`."""
    path = path_of("from_csv", "file", file)
    validators, rows, complaints = _C.parse_results(read_text(path))
    if complaints:
        raise ValueError(f"{path}:{complaints[0]}")
    if not validators:
        raise ValueError(f"{path}: expected a results file, got one without Validator rows")
    # A CPU's key always says how many threads there are.
    kind = "cpu" if any("_threads_" in row[1] for row in rows) else "cuda"
    if not rows:
        kind = "cuda" if "CUBLAS_VERSION" in validators else "cpu"
    measured: dict[BoundArguments, Measured] = {}
    for row in rows:
        result = Result(*row)
        try:
            bound = BoundArguments.from_key(
                result.op, result.params, "cpu" if kind == "cpu" else "cuda:0"
            )
        except ValueError as error:
            raise ValueError(f"{path}: {str(error).removeprefix('from_key: ')}") from error
        measured[bound] = measured_of(result)
    return measured, {kind: validators}
