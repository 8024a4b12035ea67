"""The search beyond what cuBLASLt's heuristic proposes, on the library itself.

What the searcher does with what it finds is tested without a GPU; here it is that the library
accepts what the catalogue says, that what is found is right, and that budgets are kept.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
import tunedops
from gpu_products import DTYPES, GPU, assert_right, matrix
from torch import Tensor
from tunedops import _C

pytestmark = pytest.mark.gpu

LIBRARY = "Gemm_Cublas,Gemm_Cublaslt"


@pytest.fixture(autouse=True)
def _library_only() -> Iterator[None]:
    """What is found could not come from elsewhere."""
    _C.set_setting("KERNELS", LIBRARY)
    _C.set_setting("SEARCH", "guided")
    _C.set_setting("MAX_TUNING_ITERATIONS", "100")
    yield
    _C.set_setting("KERNELS", "")


def tune(a: Tensor, b: Tensor) -> _C.TuneOutcome:
    key = _C.key_of(a, b)
    assert key is not None
    outcome = _C.tune(GPU, *key, False)
    assert outcome.failure == ""
    return outcome


def assert_found_is_right(a: Tensor, b: Tensor) -> None:
    tunedops.enable()
    assert_right(torch.mm(a, b), torch.mm(a.double(), b.double()), a.shape[1])


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("layouts", ["nn", "nt", "tn"])
def test_more_is_tried_than_is_proposed(dtype: torch.dtype, layouts: str) -> None:
    a = matrix(96, 1024, dtype, layouts[0])
    b = matrix(1024, 512, dtype, layouts[1])
    tune(a, b)  # the first of its kind also asks the library what it has
    tunedops.clear()
    outcome = tune(a, b)
    assert outcome.searched >= 10
    assert_found_is_right(a, b)


def test_operands_that_are_not_aligned_have_their_own_algorithms() -> None:
    a = matrix(100, 1001, torch.bfloat16, "n", "odd")
    b = matrix(1001, 333, torch.bfloat16, "t", "offset")
    tune(a, b)
    assert_found_is_right(a, b)


def test_only_the_proposals_if_that_is_said() -> None:
    _C.set_setting("SEARCH", "proposals")
    outcome = tune(matrix(96, 1024, torch.bfloat16), matrix(1024, 512, torch.bfloat16))
    assert outcome.searched == 0


def test_all_of_the_few_algorithms_of_a_kind_can_be_tried() -> None:
    _C.set_setting("SEARCH", "exhaustive")
    a, b = matrix(33, 257, torch.float32, "n", "odd"), matrix(257, 65, torch.float32, "n", "odd")
    outcome = tune(a, b)
    assert outcome.searched > 0
    assert_found_is_right(a, b)


@pytest.mark.parametrize("size", [64, 1024, 8192])
def test_the_budget_holds_for_short_and_for_long_calls(size: int) -> None:
    _C.set_setting("MAX_TUNING_BUDGET_MS", "400")
    a, b = matrix(size, size, torch.bfloat16), matrix(size, size, torch.bfloat16, "t")
    tune(a, b)
    tunedops.clear()
    # A round that has begun is finished.
    assert tune(a, b).elapsed_ms < 400 + 100
