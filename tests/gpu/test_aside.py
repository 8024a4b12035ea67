"""Gemm_Sm90 where results are written while the next tile is multiplied (sm90_aside.cuh).

Blocks have to have several tiles for that, of which the last is written in another way: so outputs
are of some thousand lines, and operands are short.
"""

from __future__ import annotations

import pytest
import torch
import tunedops
from gpu_products import (
    FORCED_PLANS,
    LAYOUTS,
    NEEDS_HOPPER,
    assert_right,
    check_all,
    check_repeats,
    forced_plans_run,
    key_of,
    matrix,
    randn,
    sm90_aside_solutions,
)

__all__ = ["forced_plans_run"]
pytestmark = [*FORCED_PLANS, NEEDS_HOPPER]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize(
    ("m", "n", "k"), [(4100, 4097, 72), (3001, 5002, 137), (40, 7, 64), (9000, 1029, 8)]
)
def test_every_tile(m: int, n: int, k: int, layout: str, dtype: torch.dtype) -> None:
    check_all(matrix(m, k, dtype, layout[0]), matrix(k, n, dtype, layout[1]), sm90_aside_solutions)


def test_with_bias_activation_and_scale() -> None:
    x, weight, bias = randn(4100, 96), randn(3003, 96), randn(3003)
    exact = (x.double() @ weight.double().t() + bias.double()).relu()
    scaled = 0.5 * (x.double() @ weight.double().t())
    for solution in sm90_aside_solutions(key_of(x, weight.t()), 96):
        with tunedops.force(solution):
            result = tunedops.linear(x, weight, bias, activation="relu")
            assert_right(result, exact, 97, solution)
            result = tunedops.addmm(x.new_empty(3003), x, weight.t(), beta=0, alpha=0.5)
            assert_right(result, scaled, 96, solution)


def test_batches_of_matrices() -> None:
    a, b = randn(3, 2500, 72), randn(3, 72, 1004)
    check_all(a, b, sm90_aside_solutions)


def test_lines_are_written_to_their_ends_only() -> None:
    x, weight = randn(5000, 64), randn(1029, 64)
    expected = x.double() @ weight.double().t()
    for solution in sm90_aside_solutions(key_of(x, weight.t()), 64):
        memory = torch.full((5001, 1037), float("nan"), dtype=x.dtype, device="cuda")
        out = memory[:5000, 3:1032]
        with tunedops.force(solution):
            tunedops.mm(x, weight.t(), out=out)
        assert_right(out, expected, 64, solution)
        out.fill_(float("nan"))
        assert memory.isnan().all(), solution


def test_the_same_bits_in_every_run() -> None:
    check_repeats(randn(4100, 136), randn(136, 4097), sm90_aside_solutions)
