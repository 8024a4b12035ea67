"""Products on a GPU: every candidate that tuning finds computes what torch does."""

from __future__ import annotations

import itertools

import pytest
import torch
import tunedops
from tunedops import _C

pytestmark = pytest.mark.gpu
GPU = ("cuda", 0)
TOLERANCE = {torch.float32: 2e-4, torch.bfloat16: 2e-2, torch.float16: 2e-3, torch.float64: 1e-10}


@pytest.fixture(autouse=True)
def _tuning() -> None:
    tunedops.enable()


def randn(*shape: int, dtype: torch.dtype = torch.bfloat16) -> torch.Tensor:
    return torch.randn(shape, device="cuda", dtype=torch.float64).to(dtype)


def assert_product(result: torch.Tensor, expected: torch.Tensor) -> None:
    error = (result.double() - expected).norm() / expected.norm()
    assert error < TOLERANCE[result.dtype], error


def candidates(key: tuple[str, str]) -> list[str]:
    outcome = _C.tune(GPU, *key, False)
    assert outcome.failure == ""
    wrong = [m for m in outcome.measurements if "wrong" in m[3] or "outside" in m[3]]
    assert wrong == []
    return [m[0] for m in outcome.measurements]


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("layout", list(itertools.product("nt", "nt")))
@pytest.mark.parametrize("shape", [(16, 256, 128), (257, 129, 65), (1, 64, 96)])
def test_every_candidate_is_right(
    dtype: torch.dtype, layout: tuple[str, str], shape: tuple[int, int, int]
) -> None:
    m, n, k = shape
    a = randn(m, k, dtype=dtype) if layout[0] == "n" else randn(k, m, dtype=dtype).t()
    b = randn(k, n, dtype=dtype) if layout[1] == "n" else randn(n, k, dtype=dtype).t()
    expected = a.double() @ b.double()
    key = _C.key_of(a, b)
    assert key is not None
    for solution in candidates(key):
        with tunedops.force(solution):
            assert_product(tunedops.mm(a, b), expected)
            assert_product(a @ b, expected)


@pytest.mark.parametrize("activation", ["none", "relu", "gelu", "gelu_tanh"])
def test_layers(activation: str) -> None:
    x, w, bias = randn(3, 5, 128), randn(256, 128), randn(256)
    key = _C.key_of(x.view(15, 128), w.t(), bias, activation)
    assert key is not None
    y = torch.nn.functional.linear(x.double(), w.double(), bias.double())
    expected = {
        "none": lambda: y,
        "relu": lambda: y.relu(),
        "gelu": lambda: torch.nn.functional.gelu(y),
        "gelu_tanh": lambda: torch.nn.functional.gelu(y, approximate="tanh"),
    }[activation]()
    for solution in candidates(key):
        with tunedops.force(solution):
            assert_product(tunedops.linear(x, w, bias, activation), expected)


@pytest.mark.parametrize("alpha", [1, 0.5])
@pytest.mark.parametrize("beta", [0, 1, -0.5])
def test_sums_and_batches(alpha: float, beta: float) -> None:
    a, b, c = randn(4, 48, 64), randn(4, 64, 80), randn(4, 48, 80)
    expected = beta * c.double() + alpha * (a.double() @ b.double())
    for _ in range(2):
        assert_product(tunedops.baddbmm(c, a, b, beta=beta, alpha=alpha), expected)
        result = tunedops.addmm(c[0], a[0], b[0], beta=beta, alpha=alpha)
        assert_product(result, expected[0])
        out = c[0].clone()
        assert_product(out.addmm_(a[0], b[0], beta=beta, alpha=alpha), expected[0])
