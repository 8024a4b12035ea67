"""What our kernels do with a finished sum: scalars, what was there, bias, activation.

And what a sum that is not finite does to others: nothing.
"""

from __future__ import annotations

import math

import pytest
import torch
import tunedops
from expected_values import ACTIVATIONS
from gpu_products import (
    DTYPES,
    FORCED_PLANS,
    assert_right,
    forced_plans_run,
    matrix,
    own_solutions,
    place,
    randn,
)
from tunedops import _C

__all__ = ["forced_plans_run"]
pytestmark = FORCED_PLANS
K = 776


def solutions(
    x: torch.Tensor, w: torch.Tensor, bias: torch.Tensor | None = None, activation: str = "none"
) -> list[str]:
    key = _C.key_of(x, w.t(), bias, activation)
    assert key is not None
    return own_solutions(key, x.shape[1])


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_bias_and_activation(dtype: torch.dtype, activation: str) -> None:
    # The bias goes along the wide side, or along the narrow one.
    for rows, columns in [(5, 200), (200, 11), (24, 72), (131, 257)]:
        for layout, where in [("n", "packed"), ("t", "packed"), ("n", "offset")]:
            x = matrix(rows, K, dtype)
            w = matrix(columns, K, dtype, layout, where)
            bias = place(randn(1, columns, dtype=dtype), where).view(columns)
            sums = x.double() @ w.double().t()
            for b in (None, bias):
                total = sums if b is None else sums + b.double()
                expected = ACTIVATIONS[activation](total)
                for solution in solutions(x, w, b, activation):
                    with tunedops.force(solution):
                        y = tunedops.linear(x, w, b, activation)
                    assert_right(y, expected, K, (solution, rows, layout, where))


@pytest.mark.parametrize(("beta", "alpha"), [(1, 1), (0, 0.5), (1, -2), (-0.5, 1), (0.25, 3)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_sums(dtype: torch.dtype, beta: float, alpha: float) -> None:
    for rows, columns in [(5, 200), (200, 11), (131, 257)]:
        x, w = matrix(rows, K, dtype), matrix(columns, K, dtype)
        before = randn(rows, columns, dtype=dtype)
        expected = beta * before.double() + alpha * (x.double() @ w.double().t())
        for solution in solutions(x, w):
            what = (solution, beta, alpha)
            padded = place(before, "odd")
            with tunedops.force(solution):
                fresh = tunedops.addmm(before, x, w.t(), beta=beta, alpha=alpha)
                in_place = before.clone().addmm_(x, w.t(), beta=beta, alpha=alpha)
                padded.addmm_(x, w.t(), beta=beta, alpha=alpha)
            for result in (fresh, in_place, padded):
                assert_right(result, expected, 10 * K, what)
            behind = padded.storage_offset() + columns
            assert padded.as_strided((rows, 3), padded.stride(), behind).isnan().all(), what


def test_what_was_there_is_not_read_when_beta_is_zero() -> None:
    x, w = matrix(5, K, torch.bfloat16), matrix(200, K, torch.bfloat16)
    expected = x.double() @ w.double().t()
    for solution in solutions(x, w):
        out = torch.full((5, 200), math.nan, dtype=torch.bfloat16, device="cuda")
        with tunedops.force(solution):
            torch.mm(x, w.t(), out=out)
            assert_right(out, expected, K, solution)
            out.fill_(math.nan).addmm_(x, w.t(), beta=0)
        assert_right(out, expected, K, solution)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("layout", ["n", "t"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_what_is_not_finite_stays_where_it_belongs(
    dtype: torch.dtype, layout: str, bad: float
) -> None:
    # 257 rows: no tile of any size is full, and lanes behind the end repeat the last row.
    x, w = matrix(7, K + 1, dtype), matrix(257, K + 1, dtype, layout)
    for tensor, row, k in [(w, 256, K), (w, 17, 5), (w, 0, 0), (x, 6, K), (x, 3, 100)]:
        kept = tensor[row, k].clone()
        tensor[row, k] = bad
        expected = x.double() @ w.double().t()
        assert not expected.isfinite().all()
        for solution in solutions(x, w):
            with tunedops.force(solution):
                result = tunedops.mm(x, w.t())
            assert_right(result, expected, K, (solution, row, k))
        tensor[row, k] = kept


@pytest.mark.parametrize("activation", ["relu", "gelu", "gelu_tanh"])
def test_activations_keep_nan_as_torch_does(activation: str) -> None:
    x, w = matrix(7, K, torch.float32), matrix(72, K, torch.float32)
    w[3, 10], w[5, 20], w[6, 20] = math.nan, math.inf, -math.inf
    expected = ACTIVATIONS[activation](x.double() @ w.double().t())
    assert expected[:, 3].isnan().all()
    for solution in solutions(x, w, None, activation):
        with tunedops.force(solution):
            result = tunedops.linear(x, w, None, activation)
        assert_right(result, expected, K, solution)
