"""Sums over many ks in float32, of numbers of one sign, where roundings do not cancel.

Added up one after the other they lose a digit and more against torch's own product, since ever
smaller parts are added to a large sum; so kernels have to add parts of them first.
"""

from __future__ import annotations

import pytest
import torch
import tunedops
from conftest import CPU
from tunedops import _C

K = 20_000
ALLOWED = 3e-6  # torch: 6e-7; one after the other: 7e-6 to 9e-6


@pytest.mark.parametrize("layout", ["nn", "nt"])
@pytest.mark.parametrize(("m", "n"), [(1, 64), (16, 16), (16, 300), (64, 64)])
def test_long_sums_lose_no_digit(m: int, n: int, layout: str) -> None:
    torch.manual_seed(0)
    x, w = torch.rand(m, K), torch.rand(K, n)
    if layout == "nt":
        w = w.t().contiguous().t()
    expected = x.double() @ w.double()
    key = _C.key_of(x, w)
    assert key is not None
    solutions = [s for s in _C.candidates(CPU, *key) if s.startswith("Gemm_Cpu")]
    assert solutions
    for solution in solutions:
        with tunedops.force(solution):
            result = torch.ops.tunedops.mm(x, w)
        error = ((result - expected).abs() / expected).max().item()
        assert error <= ALLOWED, solution
