"""Gemm_Sm80 against float64: every tile, every way operands and outputs can lie.

Lines of operands that are aligned to 16 bytes are read as matrices, all others are copied a
little too early and put together; where lines begin and end, and which of their elements come with
which copy, is what most of these sizes are about.
"""

from __future__ import annotations

import itertools
import math

import pytest
import torch
import tunedops
from gpu_products import (
    GUARD,
    assert_right,
    forced_plans_run,
    matrix,
    randn,
    skip_unless_registered,
    sm80_solutions,
)
from torch import Tensor
from tunedops import _C

__all__ = ["forced_plans_run"]
pytestmark = [
    pytest.mark.gpu,
    pytest.mark.usefixtures("forced_plans_run"),
    pytest.mark.filterwarnings("error:tunedops"),  # a plan that could not run
    pytest.mark.skipif(
        not torch.cuda.is_available() or torch.cuda.get_device_capability()[0] < 8,
        reason="needs a GPU of compute capability 8.0",
    ),
]


@pytest.fixture(autouse=True)
def _registered() -> None:
    skip_unless_registered("Gemm_Sm80")


HALVES = (torch.bfloat16, torch.float16)
LAYOUTS = ["nn", "nt", "tn", "tt"]
UNITS = (16, 8, 4, 2)  # bytes
# m, n, k. Multiples of tiles and of units, their neighbours, and less than one of each.
SIZES = [
    (256, 256, 256),
    (257, 129, 255),
    (64, 512, 1024),
    (333, 377, 129),
    (100, 264, 8),
    (7, 5, 3),
    (130, 3, 70),
    (5, 300, 191),
]


def aligned(rows: int, columns: int, dtype: torch.dtype, layout: str, unit: int) -> Tensor:
    """A random matrix between NaN whose lines are aligned to so many bytes and to no more."""
    lines, length = (rows, columns) if layout == "n" else (columns, rows)
    apart = unit // 2
    ld = (length // apart + 1) * apart
    ld += 0 if unit == 16 or ld % (2 * apart) else apart
    first = GUARD if unit == 16 else GUARD + apart
    memory = torch.full((first + lines * ld + GUARD,), math.nan, dtype=dtype, device="cuda")
    view = memory.as_strided((lines, length), (ld, 1), first)
    view.copy_(randn(lines, length, dtype=dtype))
    return view if layout == "n" else view.t()


def check_all(a: Tensor, b: Tensor) -> None:
    """Every solution of a product, or of a batch of them."""
    key = _C.key_of(a, b)
    assert key is not None
    product = tunedops.mm if a.dim() == 2 else tunedops.bmm
    expected = a.double() @ b.double()
    solutions = sm80_solutions(key, a.shape[-1])
    assert solutions, key
    for solution in solutions:
        with tunedops.force(solution):
            result = product(a, b)
        assert_right(result, expected, a.shape[-1], (solution, key))


@pytest.mark.parametrize("size", SIZES, ids=lambda size: "x".join(map(str, size)))
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", HALVES)
def test_every_tile(dtype: torch.dtype, layout: str, size: tuple[int, int, int]) -> None:
    m, n, k = size
    first = LAYOUTS.index(layout) + SIZES.index(size)
    for i in range(2):
        a = aligned(m, k, dtype, layout[0], UNITS[(first + i) % 4])
        check_all(a, aligned(k, n, dtype, layout[1], UNITS[(first // 2 + 3 * i) % 4]))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_pair_of_units(layout: str) -> None:
    for a_unit, b_unit in itertools.product(UNITS, UNITS):
        a = aligned(200, 333, torch.bfloat16, layout[0], a_unit)
        check_all(a, aligned(333, 136, torch.bfloat16, layout[1], b_unit))


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("k", [*range(1, 19), 31, 32, 33, 63, 64, 65, 96, 127])
def test_every_end_of_k(k: int, unit: int) -> None:
    for layout in LAYOUTS:
        a = aligned(70, k, torch.bfloat16, layout[0], unit)
        check_all(a, aligned(k, 67, torch.bfloat16, layout[1], unit))


@pytest.mark.parametrize("side", [*range(1, 18), 63, 64, 65, 127, 129, 255, 257])
def test_every_end_of_a_side(side: int) -> None:
    unit = UNITS[side % 4]
    for a_layout, b_layout in LAYOUTS:
        a = aligned(129, 96, torch.bfloat16, a_layout, unit)
        check_all(a, aligned(96, side, torch.bfloat16, b_layout, unit))
        a = aligned(side, 96, torch.bfloat16, a_layout, unit)
        check_all(a, aligned(96, 129, torch.bfloat16, b_layout, unit))


@pytest.mark.parametrize("where", ["packed", "offset", "padded", "odd"])
@pytest.mark.parametrize("dtype", HALVES)
def test_outputs_that_lie_anywhere(dtype: torch.dtype, where: str) -> None:
    a, b = matrix(200, 136, dtype), matrix(136, 331, dtype, "t")
    expected = a.double() @ b.double()
    key = _C.key_of(a, b)
    assert key is not None
    out = matrix(200, 331, dtype, "n", where)
    around = out.as_strided((200, out.stride(0)), (out.stride(0), 1))
    for solution in sm80_solutions(key, 136):
        with tunedops.force(solution):
            torch.mm(a, b, out=out)
        assert_right(out, expected, 136, (solution, where))
        assert around[:-1, 331:].isnan().all(), solution


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", HALVES)
def test_batches(dtype: torch.dtype, layout: str) -> None:
    def batch(rows: int, columns: int, side: int) -> Tensor:
        if layout[side] == "t":
            return randn(3, columns, rows, dtype=dtype).mT
        return randn(3, rows, columns, dtype=dtype)

    for k in (128, 137):
        x, w = batch(88, k, 0), batch(k, 137, 1)
        check_all(x, w)
        check_all(x[:1].expand_as(x), w)
        check_all(x, w[:1].expand_as(w))
        check_all(x[::2], w[1:])


def test_float_outputs() -> None:
    for columns in (136, 137):
        x, w = matrix(200, 264, torch.bfloat16), matrix(264, columns, torch.bfloat16, "t")
        key = _C.key_of(x, w)
        assert key is not None
        expected = x.double() @ w.double()
        for solution in sm80_solutions(key, 264):
            with tunedops.force(solution):
                result = torch.mm(x, w, out_dtype=torch.float32)
            assert_right(result, expected, 264, solution)


def test_the_same_bits_in_every_run() -> None:
    for layout, (m, k, n) in itertools.product(LAYOUTS, [(200, 4096, 130), (72, 2047, 300)]):
        a, b = matrix(m, k, torch.bfloat16, layout[0]), matrix(k, n, torch.bfloat16, layout[1])
        key = _C.key_of(a, b)
        assert key is not None
        for solution in sm80_solutions(key, k):
            with tunedops.force(solution):
                first = tunedops.mm(a, b)
                different = torch.zeros((), dtype=torch.int64, device="cuda")
                for _ in range(20):
                    different += (tunedops.mm(a, b) != first).sum()
            assert different.item() == 0, (solution, key)
