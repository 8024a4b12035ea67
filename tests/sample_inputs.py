"""Operands of every op in every layout that torch can make."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
import tunedops
from expected_values import (
    ACTIVATIONS,
    TORCH_OPS,
    assert_close,
    expected_linear,
    product,
    widen,
)
from torch import Tensor

REAL = (torch.float32, torch.bfloat16, torch.float16, torch.float64)
COMPLEX = (torch.complex64, torch.complex128)
DTYPES = REAL + COMPLEX
OPS = {name: getattr(tunedops, name) for name in TORCH_OPS}


@dataclass
class Sample:
    """One call of an op."""

    op: str
    layout: str
    args: tuple[Tensor, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)

    def run(self) -> Tensor:
        return OPS[self.op](*self.args, **self.kwargs)

    def torch(self) -> Tensor:
        return TORCH_OPS[self.op](*self.args, **self.kwargs)

    def expected(self) -> Tensor:
        args = [widen(x) for x in self.args]
        if self.op == "linear":
            return expected_linear(*args, **self.kwargs)
        if len(args) == 2:
            return product(*args)
        beta, alpha = self.kwargs.get("beta", 1), self.kwargs.get("alpha", 1)
        return beta * args[0] + alpha * product(*args[1:])

    def check(self, result: Tensor, what: str = "") -> None:
        depth = self.args[-1].shape[-1] if self.op == "linear" else self.args[-1].shape[-2]
        assert_close(result, self.expected(), self.args[0].dtype, depth, f"{what} {self}")

    def __str__(self) -> str:
        shapes = " ".join(str(list(x.shape)) for x in self.args)
        return f"{self.op} {self.layout} {shapes} {self.args[0].dtype} {list(self.kwargs)}"


def make(*shape: int, dtype: torch.dtype) -> Tensor:
    return torch.randn(shape, dtype=torch.complex64 if dtype.is_complex else None).to(dtype)


def matrices(rows: int, columns: int, dtype: torch.dtype) -> dict[str, Tensor]:
    """A matrix in each layout."""

    def new(*shape: int) -> Tensor:
        return make(*shape, dtype=dtype)

    layouts = {
        "contiguous": new(rows, columns),
        "transposed": new(columns, rows).t(),
        "sliced": new(rows + 3, columns + 5)[1 : rows + 1, 2 : columns + 2],
        "transposed_slice": new(columns + 3, rows + 1)[3:, 1:].t(),
        "odd_offset": new(rows * columns + 1)[1:].view(rows, columns),
        "every_2nd_row": new(2 * rows, columns)[::2],
        "every_2nd_column": new(rows, 2 * columns)[:, ::2],
        "every_2nd_of_both": new(2 * rows, 2 * columns)[::2, ::2],
        "expanded_row": new(1, columns).expand(rows, columns),
        "expanded_column": new(rows, 1).expand(rows, columns),
        "expanded_scalar": new(1, 1).expand(rows, columns),
        "overlapping": new(rows + columns).as_strided((rows, columns), (1, 1)),
        "overlapping_rows": new(2 * rows + columns).as_strided((rows, columns), (2, 1)),
        "negated": torch._neg_view(new(rows, columns)),
    }
    if dtype.is_complex:
        layouts["conjugated"] = new(rows, columns).conj()
        layouts["adjoint"] = new(columns, rows).mH
        layouts["conjugated_steps"] = new(rows, 2 * columns)[:, ::2].conj()
        layouts["negated_adjoint"] = torch._neg_view(new(columns, rows)).mH
    return layouts


def batches(batch: int, rows: int, columns: int, dtype: torch.dtype) -> dict[str, Tensor]:
    """A batch of matrices in each layout."""

    def new(*shape: int) -> Tensor:
        return make(*shape, dtype=dtype)

    layouts = {
        "contiguous": new(batch, rows, columns),
        "transposed": new(batch, columns, rows).mT,
        "sliced": new(batch, rows + 2, columns + 3)[:, 2:, 1 : columns + 1],
        "every_2nd_matrix": new(2 * batch, rows, columns)[::2],
        "expanded_batch": new(1, rows, columns).expand(batch, rows, columns),
        "batch_inside": new(rows, batch, columns).transpose(0, 1),
        "batch_innermost": new(rows, columns, batch).permute(2, 0, 1),
        "every_2nd_column": new(batch, rows, 2 * columns)[:, :, ::2],
        "expanded_column": new(batch, rows, 1).expand(batch, rows, columns),
        "negated": torch._neg_view(new(batch, rows, columns)),
    }
    if dtype.is_complex:
        layouts["adjoint"] = new(batch, columns, rows).mH
    return layouts


def paired(left: dict[str, Tensor], right: dict[str, Tensor]) -> list[tuple[str, Tensor, Tensor]]:
    """Each layout on each side: with the contiguous other, and with a third one."""
    names = list(left)
    pairs = [(name, "contiguous") for name in names] + [("contiguous", name) for name in names]
    pairs += [(name, names[(i + 3) % len(names)]) for i, name in enumerate(names)]
    return [(f"{a}@{b}", left[a], right[b]) for a, b in dict.fromkeys(pairs)]


def samples(op: str, dtype: torch.dtype) -> list[Sample]:
    """Calls of one op: all layouts in one shape, other shapes contiguous."""
    return {
        "mm": _mm_samples,
        "addmm": _addmm_samples,
        "bmm": _bmm_samples,
        "baddbmm": _baddbmm_samples,
        "linear": _linear_samples,
    }[op](dtype)


# Vectors, K = 1, and both sides of what counts as few rows.
SHAPES = [(1, 40, 24), (9, 13, 1), (4, 1, 5), (1, 1, 1), (16, 20, 48), (17, 20, 48)]


def _mm_samples(dtype: torch.dtype) -> list[Sample]:
    found = [
        Sample("mm", layout, (a, b))
        for layout, a, b in paired(matrices(6, 33, dtype), matrices(33, 20, dtype))
    ]
    for m, k, n in SHAPES:
        found.append(Sample("mm", "plain", (make(m, k, dtype=dtype), make(k, n, dtype=dtype))))
    return found


def _addmm_samples(dtype: torch.dtype) -> list[Sample]:
    found = []
    a, b = matrices(6, 33, dtype), matrices(33, 20, dtype)
    for layout, addend in matrices(6, 20, dtype).items():
        kwargs = {"beta": 0.5, "alpha": 2}
        found.append(Sample("addmm", layout, (addend, a["sliced"], b["transposed"]), kwargs))
        found.append(Sample("addmm", layout, (addend, a["transposed"], b["contiguous"])))
    for layout, x, y in paired(a, b):
        found.append(Sample("addmm", f"bias+{layout}", (make(20, dtype=dtype), x, y)))
    for shape in [(), (1,), (1, 1), (6, 1), (1, 20), (20,)]:
        bias = make(*shape, dtype=dtype)
        found.append(Sample("addmm", "broadcast", (bias, a["contiguous"], b["contiguous"])))
    steps = make(40, dtype=dtype)[::2]
    found.append(Sample("addmm", "bias_steps", (steps, a["contiguous"], b["contiguous"])))
    return found


def _bmm_samples(dtype: torch.dtype) -> list[Sample]:
    found = [
        Sample("bmm", layout, (a, b))
        for layout, a, b in paired(batches(3, 5, 17, dtype), batches(3, 17, 8, dtype))
    ]
    for m, k, n in SHAPES:
        for count in (1, 2):
            x, y = make(count, m, k, dtype=dtype), make(count, k, n, dtype=dtype)
            found.append(Sample("bmm", "plain", (x, y)))
    return found


def _baddbmm_samples(dtype: torch.dtype) -> list[Sample]:
    found = []
    a, b = batches(3, 5, 17, dtype), batches(3, 17, 8, dtype)
    for layout, addend in batches(3, 5, 8, dtype).items():
        kwargs = {"beta": -0.5, "alpha": 2}
        found.append(Sample("baddbmm", layout, (addend, a["sliced"], b["transposed"]), kwargs))
    for layout, x, y in paired(a, b):
        found.append(Sample("baddbmm", layout, (make(3, 5, 8, dtype=dtype), x, y)))
    for shape in [(), (8,), (5, 1), (3, 1, 8)]:
        bias = make(*shape, dtype=dtype)
        found.append(Sample("baddbmm", "broadcast", (bias, a["contiguous"], b["contiguous"])))
    return found


def _linear_samples(dtype: torch.dtype) -> list[Sample]:
    found = []
    inputs = {f"2d_{name}": x for name, x in matrices(6, 33, dtype).items()}
    inputs |= {f"3d_{name}": x for name, x in batches(2, 3, 33, dtype).items()}
    inputs |= {"1d": make(33, dtype=dtype), "1d_steps": make(66, dtype=dtype)[::2]}
    inputs |= {"4d": make(2, 3, 2, 33, dtype=dtype)}
    inputs |= {"4d_permuted": make(2, 3, 2, 33, dtype=dtype).permute(2, 0, 1, 3)}
    weight, bias = make(20, 33, dtype=dtype), make(20, dtype=dtype)
    for layout, x in inputs.items():
        found += [Sample("linear", layout, (x, weight), {"bias": b}) for b in (None, bias)]
    for layout, w in matrices(20, 33, dtype).items():
        found.append(Sample("linear", f"weight_{layout}", (inputs["3d_contiguous"], w)))
    if not dtype.is_complex:
        for activation in ACTIVATIONS:
            for b in (None, bias):
                kwargs = {"bias": b, "activation": activation}
                found.append(Sample("linear", "3d", (inputs["3d_sliced"], weight), kwargs))
    return found
