"""Our kernels where offsets in elements need more than 32 bits."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
import tunedops
from gpu_products import FORCED_PLANS, assert_right, forced_plans_run
from tunedops import _C

__all__ = ["forced_plans_run"]
pytestmark = FORCED_PLANS
EDGE = 4096  # columns to look at, at either end and where 31 bits end


@pytest.fixture(autouse=True)
def _memory() -> Iterator[None]:
    if torch.cuda.mem_get_info()[0] < 16 << 30:
        pytest.skip("needs 16 GiB of free memory")
    yield
    torch.cuda.empty_cache()


def check(x: torch.Tensor, w: torch.Tensor, boundary: int) -> None:
    """x @ w, of which w or the output is large, in some of its columns."""
    key = _C.key_of(x, w)
    assert key is not None
    candidates = _C.candidates(("cuda", 0), *key)
    solutions: list[str] = []
    for kernel in ("Gemm_Skinny_", "Gemm_Sm90_"):
        offered = [s for s in candidates if s.startswith(kernel)]
        solutions += {*offered[:1], *offered[-1:]}
    assert solutions, key
    middle = min(boundary, w.shape[1] - EDGE) - EDGE // 2
    for solution in solutions:
        with tunedops.force(solution):
            y = tunedops.mm(x, w)
        for begin in (0, middle, w.shape[1] - EDGE):
            part = slice(begin, begin + EDGE)
            expected = x.double() @ w[:, part].double()
            assert_right(y[:, part], expected, x.shape[1], (solution, begin))
        del y


def large_weights(elements: int) -> torch.Tensor:
    """Random enough, and made without a second buffer of that size."""
    w = torch.empty(elements, dtype=torch.bfloat16, device="cuda")
    return w.uniform_(-1, 1)


def test_weights_of_more_elements_than_31_bits_count() -> None:
    k = 64
    columns = 2**31 // k + 3 * EDGE
    weights = large_weights(k * columns)
    x = torch.randn(3, k, device="cuda").bfloat16()
    check(x, weights.view(columns, k).t(), 2**31 // k)
    check(x, weights.view(k, columns), 2**31 // k)


def test_outputs_of_more_elements_than_31_bits_count() -> None:
    rows, k = 32, 8
    columns = 2**31 // rows + 3 * EDGE
    weights = large_weights(k * columns)
    x = torch.randn(rows, k, device="cuda").bfloat16()
    check(x, weights.view(columns, k).t(), 2**31 // rows)
    check(x, weights.view(k, columns), 2**31 // rows)


def test_large_products_of_two_wide_sides() -> None:
    rows, k = 4096, 40
    columns = 2**31 // rows + 3 * EDGE + 1
    weights = large_weights(k * columns)
    x = torch.randn(rows, k, device="cuda").bfloat16()
    if torch.cuda.get_device_capability()[0] == 9:
        check(x, weights.view(columns, k).t(), 2**31 // rows)
