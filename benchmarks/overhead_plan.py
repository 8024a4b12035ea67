"""What the measurement of a call's cost consists of: products, processes and what is timed.

Both the program that asks and the processes that answer read this, and one of the latter must
know nothing of tunedops: so nothing here imports it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor

Operands = tuple[Tensor, Tensor, Tensor]
"""x ``[M, K]``, a layer's weight ``[N, K]`` and its bias ``[N]``."""

ABSENT = "never enabled"  # nor even imported
IMPORTED = "imported"  # and never enabled
ENABLED = "enabled"

BIAS = " + bias"
"""What the name of a call ends with whose layer has one."""

PYTHON = "Python"
CPP = "C++"


@dataclass(frozen=True)
class Product:
    """``x @ weight.T`` of one size, in one or more variants that are different problems."""

    dtype: str
    m: int
    n: int
    k: int
    variants: int = 1

    def operands(self, device: str) -> list[Operands]:
        """Those of each variant. They differ in leading dimensions, so all take equally long."""
        dtype = getattr(torch, self.dtype)
        lengths = math.isqrt(self.variants - 1) + 1
        longest = self.k + lengths - 1
        x = torch.randn(self.m * longest).to(device, dtype)
        weight = torch.randn(self.n * longest).to(device, dtype)
        bias = torch.randn(self.n).to(device, dtype)
        return [
            (
                x.as_strided((self.m, self.k), (self.k + number // lengths, 1)),
                weight.as_strided((self.n, self.k), (self.k + number % lengths, 1)),
                bias,
            )
            for number in range(self.variants)
        ]

    def __str__(self) -> str:
        return f"{self.dtype} {self.m}x{self.n}x{self.k}"


@dataclass(frozen=True)
class Side:
    """A process: what it did with tunedops, and the kernel that its results file names."""

    state: str
    kernel: str = ""
    variants: int = 1
    """How many of each product it meets; with results, it has one for each."""
    group: str = ""
    """Tells processes apart that are alike otherwise."""

    def __str__(self) -> str:
        parts = [self.state, self.kernel, f"{self.variants} variants", self.group]
        return ", ".join(part for part in parts if part)


@dataclass(frozen=True)
class Cell:
    """What is timed in one process."""

    side: Side
    call: str
    product: Product
    loop: str = PYTHON
    cycles: bool = False
    """Over all variants that the process knows; else it is the first one again and again."""
    threads: int = 1


Group = list[Cell]
"""Cells that are timed in the same rounds, so that their readings can be compared."""


@dataclass(frozen=True)
class Task:
    """All that a process needs to know; it travels as JSON."""

    device: str
    side: Side
    cells: tuple[Cell, ...]
    calls: int
    """Of a reading, for each thread."""
    batch: int
    """How many of them are timed together; then a GPU is waited for."""
    core: int | None
    """Where all processes run, one at a time; None: anywhere."""
    results: str
    trace: str
    library: str

    def to_json(self) -> dict[str, Any]:
        """The same as plain data."""
        return asdict(self)

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Task:
        """What `to_json` wrote."""
        cells = tuple(
            Cell(**{**cell, "side": Side(**cell["side"]), "product": Product(**cell["product"])})
            for cell in data["cells"]
        )
        return Task(**{**data, "side": Side(**data["side"]), "cells": cells})
