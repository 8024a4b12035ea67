"""Workload files: shapes of real models, one product a row.

Columns: ``suite,op,dtype,layout,batch,m,n,k``; lines that begin with ``#`` are comments.
Row-major ``y[m, n]``; layout ``nt`` is ``x[m, k] @ w[n, k].T`` (a linear layer's forward),
``nn`` is ``x[m, k] @ w[k, n]`` (its input gradient), ``tn`` is ``x[k, m].T @ w[k, n]`` (its
weight gradient). ``op`` is ``mm``, ``bmm`` or ``linear`` (``nt`` with a bias).
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

COLUMNS = ("suite", "op", "dtype", "layout", "batch", "m", "n", "k")
OPS = ("mm", "bmm", "linear")
LAYOUTS = ("nt", "nn", "tn")
DTYPES = ("float32", "bfloat16", "float16", "float64", "complex64", "complex128")


@dataclass(frozen=True)
class Workload:
    """One row of a workload file."""

    suite: str
    op: str
    dtype: str
    layout: str
    batch: int
    m: int
    n: int
    k: int

    def __str__(self) -> str:
        batch = f"{self.batch}x" if self.op == "bmm" else ""
        return f"{self.op} {self.dtype} {self.layout} {batch}{self.m}x{self.n}x{self.k}"

    def operands(self, device: str | torch.device, random: bool = False) -> tuple[Tensor, ...]:
        """The tensors of one call: ``mat1``, ``mat2`` and, for linear, the bias.

        ``mat2`` of linear is the weight transposed, ``[k, n]`` as for mm.

        Args:
            device: where.
            random: standard-normal values; else memory as it comes.
        """
        dtype = getattr(torch, self.dtype)
        batch = (self.batch,) if self.op == "bmm" else ()

        def matrix(rows: int, columns: int, transposed: bool) -> Tensor:
            shape = (*batch, columns, rows) if transposed else (*batch, rows, columns)
            if random:
                tensor = torch.randn(shape, dtype=torch.float32, device=device).to(dtype)
            else:
                tensor = torch.empty(shape, dtype=dtype, device=device)
            return tensor.mT if transposed else tensor

        mat1 = matrix(self.m, self.k, self.layout == "tn")
        mat2 = matrix(self.k, self.n, self.layout == "nt")
        if self.op == "linear":
            return (mat1, mat2, matrix(1, self.n, False)[0])
        return (mat1, mat2)


def read_workloads(path: str | os.PathLike[str]) -> list[Workload]:
    """All rows of a workload file.

    Raises:
        ValueError: a row is not as the module's description says; the message begins with
            file and line.
    """
    rows: list[Workload] = []
    header: list[str] | None = None
    for number, line in enumerate(Path(path).read_text("utf-8-sig").splitlines(), start=1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        fields = [field.strip() for field in text.split(",")]
        where = f"{path}:{number}"
        if header is None:
            if fields[: len(COLUMNS)] != list(COLUMNS):
                raise ValueError(f"{where}: expected the header '{','.join(COLUMNS)}'")
            header = fields
        else:
            rows.append(_parse_row(fields, header, where))
    if not rows:
        raise ValueError(f"{path}: holds no workload")
    return rows


def _parse_row(fields: list[str], header: list[str], where: str) -> Workload:
    if len(fields) != len(header):
        raise ValueError(f"{where}: expected {len(header)} fields, got {len(fields)}")
    row = dict(zip(header, fields, strict=True))
    for name, known in (("op", OPS), ("dtype", DTYPES), ("layout", LAYOUTS)):
        if row[name] not in known:
            raise ValueError(
                f"{where}: {name} must be one of {', '.join(known)}, got '{row[name]}'"
            )
    sizes: dict[str, int] = {}
    for name in ("batch", "m", "n", "k"):
        if not (row[name].isascii() and row[name].isdecimal()) or int(row[name]) < 1:
            raise ValueError(f"{where}: {name} must be a positive integer, got '{row[name]}'")
        sizes[name] = int(row[name])
    if row["op"] != "bmm" and sizes["batch"] != 1:
        raise ValueError(f"{where}: batch must be 1 for {row['op']}, got {sizes['batch']}")
    if row["op"] == "linear" and row["layout"] != "nt":
        raise ValueError(f"{where}: layout must be nt for linear, got '{row['layout']}'")
    return Workload(row["suite"], row["op"], row["dtype"], row["layout"], **sizes)
