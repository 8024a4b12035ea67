"""Gemm_Skinny against float64: every compiled variant with every kind of split.

Which code runs depends on the type, on how both operands lie, on the columns (computed by
8, 16 or 32), on rows a warp and on how k is split. Of those all combinations are run; sizes
and numbers of columns, of which there is no end, take turns (see `test_every_variant`).
"""

from __future__ import annotations

import itertools

import pytest
import torch
from gpu_products import (
    DTYPES,
    FORCED_PLANS,
    LAYOUTS,
    batch,
    check_all,
    check_repeats,
    forced_plans_run,
    matrix,
    randn,
    skinny_solutions,
)

__all__ = ["forced_plans_run"]
pytestmark = FORCED_PLANS

NARROW = {8: (1, 2, 7, 8), 16: (9, 16), 32: (17, 32)}
# The wide side and k. Seven, so that they fall to all places in turn.
SIZES = [(1000, 4096), (257, 129), (72, 2056), (33, 64), (520, 1), (2048, 300), (16, 8191)]
PLACES = [
    ("packed", "packed"),
    ("offset", "packed"),
    ("packed", "offset"),
    ("padded", "padded"),
    ("odd", "padded"),
    ("padded", "odd"),
]


@pytest.mark.parametrize("columns", NARROW)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_variant(dtype: torch.dtype, layout: str, columns: int) -> None:
    combinations = itertools.product((False, True), PLACES, range(2))
    begin = 3 * DTYPES.index(dtype) + columns // 8
    for i, (is_a_wide, (wide_place, narrow_place), _) in enumerate(combinations, begin):
        wide, k = SIZES[i % len(SIZES)]
        narrow = min(NARROW[columns][(i + i // 7) % len(NARROW[columns])], wide)
        if is_a_wide:
            a = matrix(wide, k, dtype, layout[0], wide_place)
            b = matrix(k, narrow, dtype, layout[1], narrow_place)
        else:
            a = matrix(narrow, k, dtype, layout[0], narrow_place)
            b = matrix(k, wide, dtype, layout[1], wide_place)
        check_all(a, b, skinny_solutions)


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_number_of_columns(dtype: torch.dtype) -> None:
    for n in range(1, 33):
        check_all(matrix(n, 272, dtype), matrix(272, 104, dtype, "t"), skinny_solutions)


@pytest.mark.parametrize("layout", ["nn", "nt", "tn"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_batches(dtype: torch.dtype, layout: str) -> None:
    x, w = batch(9, 392, dtype, layout[0]), batch(392, 136, dtype, layout[1])
    check_all(x, w, skinny_solutions)
    check_all(x[:1].expand_as(x), w, skinny_solutions)
    check_all(x, w[:1].expand_as(w), skinny_solutions)
    check_all(x[::2], w[1:], skinny_solutions)
    # Heads side by side in the rows of one matrix.
    heads = matrix(9, 3 * 392, dtype).unflatten(1, (3, 392)).transpose(0, 1)
    check_all(heads, w, skinny_solutions)
    # A batch stride that no vector fits.
    memory = randn(3 * 9 * 392 + 16, dtype=dtype)
    check_all(memory.as_strided((3, 9, 392), (9 * 392 + 1, 392, 1)), w, skinny_solutions)


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_same_bits_in_every_run(dtype: torch.dtype) -> None:
    for layout, (wide, k, n) in itertools.product("nt", [(200, 4096, 13), (72, 8191, 3)]):
        check_repeats(matrix(n, k, dtype), matrix(k, wide, dtype, layout), skinny_solutions)
