"""Autotuning results as JSON, with a version and the environment that they are of."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from tunedops.argument_json import kind_of
from tunedops.bound_arguments import BoundArguments
from tunedops.bound_json import bound_of, value_of_bound
from tunedops.environments import Environments
from tunedops.json_documents import read_document
from tunedops.measurement import Measured, Measurement

FORMAT = "tunedops.autotuning_result"
VERSION = 1

_SOLUTION = re.compile(r"[A-Za-z0-9_.-]{1,512}")


def write(
    measured: Mapping[BoundArguments, Measured],
    failures: Mapping[BoundArguments, str],
    environments: Environments,
) -> str:
    """See :meth:`tunedops.AutotuningResult.dumps`."""
    document = {
        "format": FORMAT,
        "version": VERSION,
        "validators": {kind: dict(v) for kind, v in environments.items()},
        "results": [
            value_of_bound(bound)
            | {
                "default_ms": m.default_ms,
                "timing": m.timing,
                "spread": m.spread,
                "margin": m.margin,
                "date": m.date,
                "measurements": [list(each) for each in m.measurements],
            }
            for bound, m in measured.items()
        ],
        "failures": [value_of_bound(bound) | {"reason": why} for bound, why in failures.items()],
    }
    return json.dumps(document, indent=1) + "\n"


def read(
    text: str,
) -> tuple[dict[BoundArguments, Measured], dict[BoundArguments, str], Environments]:
    """What :func:`write` wrote.

    Raises:
        ValueError: it is not; the message says where and what it has instead.
    """
    document = _document(text)
    environments = _expect(document, "validators", dict)
    for kind, validators in environments.items():
        if kind not in ("cpu", "cuda") or not _are_texts(validators):
            raise ValueError(
                "loads: expected validators of cpu or cuda, key and value, got "
                f"{kind_of(validators)} of {kind!r}"
            )
    measured: dict[BoundArguments, Measured] = {}
    for i, value in enumerate(_expect(document, "results", list), start=1):
        where = f"loads: result {i}"
        bound = bound_of(value, where)
        if bound.device.type not in environments:
            raise ValueError(f"{where}: there are no validators of {bound.device.type}")
        measured[bound] = _measured_of(value, where)
    failures = {
        bound_of(value, f"loads: failure {i}"): str(value.get("reason"))
        for i, value in enumerate(_expect(document, "failures", list), start=1)
    }
    return measured, failures, environments


def _document(text: str) -> dict[str, Any]:
    if not isinstance(text, str):
        raise TypeError(f"loads: text must be a str, got {type(text).__name__}")
    return read_document("loads", text, FORMAT, VERSION, "AutotuningResult.dumps writes one")


def _expect(document: dict[str, Any], name: str, kind: type) -> Any:
    value = document.get(name)
    if not isinstance(value, kind):
        raise ValueError(f"loads: expected '{name}' to be a {kind.__name__}, got {kind_of(value)}")
    return value


def _are_texts(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(v, str) for v in value.values())


def _measured_of(value: dict[str, Any], where: str) -> Measured:
    measurements = value.get("measurements")
    if not isinstance(measurements, list) or not measurements:
        raise ValueError(f"{where}: expected a list of 'measurements', got {kind_of(measurements)}")
    return Measured(
        tuple(_measurement_of(m, where) for m in measurements),
        _number(value.get("default_ms"), where),
        _text(value.get("timing"), where),
        _number(value.get("spread"), where),
        _number(value.get("margin"), where),
        _text(value.get("date"), where),
    )


def _measurement_of(value: object, where: str) -> Measurement:
    if not isinstance(value, list) or len(value) != 4 or not isinstance(value[0], str):
        raise ValueError(
            f"{where}: expected a measurement of solution, milliseconds, samples and refusal, got "
            f"{kind_of(value)}"
        )
    solution, time_ms, samples, refused = value
    if not _SOLUTION.fullmatch(solution):
        raise ValueError(f"{where}: expected a solution as a results file has it, got {solution!r}")
    if samples is not None and (not isinstance(samples, int) or isinstance(samples, bool)):
        raise ValueError(f"{where}: expected a number of samples, got {kind_of(samples)}")
    return Measurement(solution, _number(time_ms, where), samples, _text(refused, where) or "")


def _number(value: object, where: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1e12:
        raise ValueError(f"{where}: expected a number that is not negative, got {value!r}")
    return float(value)


def _text(value: object, where: str) -> str | None:
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{where}: expected text, got {kind_of(value)}")
    return value
