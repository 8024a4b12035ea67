"""Lists of problems in files: what a program recorded, or what somebody has results for.

Each line is ``op,params``, and more fields may follow. PyTorch's TunableOp writes such lists,
too; what its grammar has and ours says otherwise is translated. A list may also be of bound
arguments, in JSON.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import torch

from tunedops import _C
from tunedops.bound_json import read_list

# Rows that TunableOp may write and that we have no kernel for.
_FOREIGN_OPS = ("ScaledGemmTunableOp_",)


@dataclass(frozen=True)
class ListedKey:
    """One line of a list."""

    where: str
    """The file and the number of the line (``file:7``)."""
    op: str
    params: str
    device_type: str | None = None
    """Of bound arguments: that of their device. Lines do not say."""
    call: str = ""
    """Of bound arguments: the call, as people know it."""

    @property
    def key(self) -> tuple[str, str]:
        """What a results file knows it by."""
        return (self.op, self.params)

    @property
    def threads(self) -> int | None:
        """The size of torch's pool that the key is for; None on other devices."""
        found = re.search(r"_threads_(\d+)$", self.params)
        return int(found[1]) if found else None

    @property
    def is_foreign(self) -> bool:
        """Whether it is a product of TunableOp that we have nothing for."""
        return self.op.startswith(_FOREIGN_OPS)

    def reason_against(self, device: tuple[str, int]) -> str | None:
        """Why it cannot be tuned on a device; None: it can."""
        if not _C.is_problem(device, *self.key):
            hint = _C.key_hint(device, *self.key)
            return f"'{self.op},{self.params}' is no product of {device[0]}" + (
                f" ({hint})" if hint else ""
            )
        processors = max(os.cpu_count() or 1, torch.get_num_threads())
        if self.threads is not None and self.threads > processors:
            return (
                f"the key is for {self.threads} threads, and this machine has {processors} "
                "processors"
            )
        return None


def bound_keys(path: str, text: str) -> list[ListedKey]:
    """The keys of a list of bound arguments, each once.

    Raises:
        ValueError: it is no such list, or one of its problems is none.
    """
    unique: dict[tuple[str, str], ListedKey] = {}
    for number, bound in enumerate(read_list(text, path), start=1):
        where = f"{path}: problem {number}"
        unique.setdefault(bound.key, ListedKey(where, *bound.key, bound.device.type, str(bound)))
    return list(unique.values())


def split_lines(path: str, text: str) -> Iterator[tuple[str, list[str]]]:
    """The place and the fields of each line that is no comment."""
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip() and not line.lstrip().startswith("#"):
            yield f"{path}:{number}", [field.strip() for field in line.split(",")]


def listed_keys(lines: Iterable[tuple[str, list[str]]]) -> list[ListedKey]:
    """The keys of a list in their order, each once; validators are passed over."""
    unique: dict[tuple[str, str], ListedKey] = {}
    for where, fields in lines:
        if fields[0] != "Validator":
            params = fields[1] if len(fields) > 1 else ""
            key = ListedKey(where, fields[0], _translated(params))
            unique.setdefault(key.key, key)
    return list(unique.values())


def _translated(params: str) -> str:
    """TunableOp's params in our words: it writes ``c`` for a conjugated transpose."""
    layout = params[:2]
    if "c" not in layout or not re.fullmatch("[ntc]{2}", layout):
        return params
    conjugated = "".join("1" if letter == "c" else "0" for letter in layout)
    return f"{layout.replace('c', 't')}{params[2:]}_conj_{conjugated}"


def words_for_foreign(keys: Iterable[ListedKey]) -> str | None:
    """One sentence about the products that have to be left out; None if there are none."""
    foreign = [key for key in keys if key.is_foreign]
    if not foreign:
        return None
    products = "1 product" if len(foreign) == 1 else f"{len(foreign)} products"
    return f"{products} left out, since tunedops has no scaled ones: {foreign[0].where}" + (
        "" if len(foreign) == 1 else " and others"
    )


def words_for_other_devices(keys: Iterable[ListedKey], device_type: str) -> str | None:
    """One sentence about the problems of other devices, which are left out; None if there are
    none."""
    others = [key for key in keys if key.device_type not in (None, device_type)]
    if not others:
        return None
    products = "1 product" if len(others) == 1 else f"{len(others)} products"
    verb = "is" if len(others) == 1 else "are"
    return (
        f"{products} left out, which {verb} of {others[0].device_type} and not of {device_type}: "
        f"{others[0].where}" + ("" if len(others) == 1 else " and others")
    )
