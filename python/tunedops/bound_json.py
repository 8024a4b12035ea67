"""Bound arguments as JSON: one problem, or a list of them as a trace is turned into.

The key is what counts. Arguments of a call are kept beside it, for people and for the backward
pass, and must lead to that key when they are bound again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

from tunedops.argument_json import argument_of, kind_of, value_of
from tunedops.arguments import path_of
from tunedops.bound_arguments import BoundArguments
from tunedops.described_call import ROLES, SCALARS, operand_of, work_out
from tunedops.json_documents import read_document
from tunedops.tensor_spec import TensorSpec
from tunedops.text_files import read_text

FORMAT = "tunedops.bound_arguments"
VERSION = 1

_HEADER = {"format": FORMAT, "version": VERSION}


def write_one(bound: BoundArguments) -> str:
    """See :meth:`tunedops.BoundArguments.to_json`."""
    return json.dumps(_HEADER | value_of_bound(bound))


def read_one(text: str) -> BoundArguments:
    """See :meth:`tunedops.BoundArguments.from_json`."""
    return bound_of(_document("from_json", text), "from_json")


def write_list(
    problems: Iterable[tuple[BoundArguments, Mapping[str, Any]]], notes: Iterable[str] = ()
) -> str:
    """A list of problems.

    Args:
        problems: each with what else is known of it, in words that JSON has.
        notes: sentences about all of them.
    """
    values = [value_of_bound(bound) | dict(more) for bound, more in problems]
    return json.dumps(_HEADER | {"notes": list(notes), "problems": values}, indent=1) + "\n"


def bound_args_from_json(source: str | os.PathLike[str]) -> tuple[BoundArguments, ...]:
    """The problems of a list, as ``python -m tunedops trace-to-bound-args`` writes it.

    Args:
        source: the path of a file or, where it begins with ``{``, the text itself.

    Returns:
        The problems in the order of the list, each once.

    Raises:
        OSError: the file cannot be read.
        TypeError: it is neither a path nor text.
        ValueError: it is no such list (truncated JSON, another document, another version), or
            one of its problems is none; the message says which.
    """
    text = path_of("bound_args_from_json", "source", source)
    where = "bound_args_from_json"
    if not (isinstance(source, str) and looks_like_json(text)):
        where = text
        text = read_text(text)
    return tuple(dict.fromkeys(read_list(text, where)))


def looks_like_json(text: str) -> bool:
    """Whether a text is meant to be one of these documents; no path and no CSV is."""
    return text.lstrip("\ufeff \t\r\n").startswith("{")


def read_list(text: str, where: str) -> list[BoundArguments]:
    """The problems of a list, or of a document of one.

    Raises:
        ValueError: as :func:`bound_args_from_json` says; the message begins with ``where``.
    """
    document = _document(where, text)
    problems = document.get("problems")
    if problems is None and "key" in document:
        return [bound_of(document, where)]
    if not isinstance(problems, list):
        raise ValueError(f"{where}: expected a list 'problems', got {kind_of(problems)}")
    if not problems:
        raise ValueError(f"{where}: the list holds no problems")
    return [bound_of(value, f"{where}: problem {i}") for i, value in enumerate(problems, start=1)]


def _document(where: str, text: str) -> dict[str, Any]:
    writer = "trace-to-bound-args writes one from a trace"
    return read_document(where, text, FORMAT, VERSION, writer)


def value_of_bound(bound: BoundArguments) -> dict[str, Any]:
    value: dict[str, Any] = {
        "device": str(bound.device),
        "op": bound.op,
        "key": list(bound.key),
    }
    if bound.from_call:
        value["arguments"] = {name: value_of(v) for name, v in bound.named_arguments}
    return value


def bound_of(value: Any, where: str) -> BoundArguments:
    key = value.get("key") if isinstance(value, dict) else None
    if not (isinstance(key, list) and len(key) == 2 and all(isinstance(k, str) for k in key)):
        raise ValueError(f"{where}: expected a 'key' of two strings, got {kind_of(key)}")
    try:
        plain = BoundArguments.from_key(key[0], key[1], value.get("device"))
        return _from_call(value, plain) if value.get("arguments") is not None else plain
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        reason = str(error).partition("\n")[0].removeprefix("from_key: ")
        raise ValueError(f"{where}: {reason}") from error


def _from_call(value: dict[str, Any], plain: BoundArguments) -> BoundArguments:
    op, given = value.get("op"), value["arguments"]
    if op not in ROLES or not isinstance(given, dict):
        raise ValueError(f"expected 'arguments' of an op by name, got {kind_of(given)} of {op!r}")
    found = {name: argument_of(name, v, plain.device) for name, v in given.items()}
    specs = {name: v for name, v in found.items() if isinstance(v, TensorSpec)}
    roles = ROLES[op]
    lacking = {roles.mat1, roles.mat2} - specs.keys()
    unknown = (specs.keys() - {*roles, "out"}) | (found.keys() - specs.keys() - set(SCALARS))
    if lacking or unknown:
        what = f"lack '{min(lacking)}'" if lacking else f"have '{min(unknown)}', which it has not"
        raise ValueError(f"its arguments of {op} {what}")
    bound = work_out(
        op,
        roles,
        specs,
        {name: operand_of(spec) for name, spec in specs.items()},
        plain.device,
        {name: v for name, v in found.items() if not isinstance(v, TensorSpec)},
        is_checked=True,
        like=plain.key,
    )
    if isinstance(bound, str) or bound != plain:
        other = bound if isinstance(bound, str) else ",".join(bound.key)
        raise ValueError(
            f"its arguments and its key '{','.join(plain.key)}' are not the same problem: {other}"
        )
    return bound
