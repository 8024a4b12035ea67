"""Operands in a GPU's memory: what the GPU writes and judges is what the host computes.

Tuning checks challengers against a reference that the host computes from the numbers that
the GPU should have written. Were they other numbers, or in other places, then every
challenger would be refused as wrong; so would it if the GPU found differences or stray
writes where there are none.
"""

from __future__ import annotations

import pytest
import torch
import tunedops
from tunedops import _C

pytestmark = pytest.mark.gpu
GPU = ("cuda", 0)
GEMM, BATCHED = "GemmTunableOp", "GemmStridedBatchedTunableOp"


@pytest.fixture(autouse=True)
def _patience() -> None:
    """Time enough that challengers come as far as their check."""
    tunedops.enable()
    _C.set_setting("SEARCH", "guided")
    _C.set_setting("MAX_TUNING_BUDGET_MS", "2000")
    _C.set_setting("MAX_TUNING_ITERATIONS", "5")


def assert_challengers_are_right(op: str, params: str) -> None:
    assert _C.is_problem(GPU, op, params), (op, params)
    outcome = _C.tune(GPU, op, params, False)
    assert outcome.failure == ""
    refused = [m for m in outcome.measurements if "wrong" in m[3] or "outside" in m[3]]
    assert refused == []
    checked = [m for m in outcome.measurements[1:] if m[2] > 0]
    if not checked:
        pytest.skip("no challenger came near Default's time, so none was checked")


@pytest.mark.parametrize("dtype", ["float", "tf32", "double", "BFloat16", "Half"])
@pytest.mark.parametrize(
    "params",
    [
        "nn_256_192_128_ld_256_128_256",  # packed
        "nn_256_192_128_ld_272_160_320",  # gaps between all runs
        "nn_255_193_127_ld_257_129_259",  # runs begin at any element
        "nn_3_400_64_ld_3_64_3",  # runs shorter than a word
        "nn_1_4096_64_ld_1_64_1",
        "nn_4096_1_64_ld_4096_64_4096",
        "nn_64_64_1_ld_64_1_64",
    ],
)
@pytest.mark.parametrize("scalars", ["", "_beta_one", "_alpha_any_beta_any"])
def test_types_and_layouts(dtype: str, params: str, scalars: str) -> None:
    assert_challengers_are_right(f"{GEMM}_{dtype}_NN", params + scalars)


@pytest.mark.parametrize("dtype", ["BFloat16", "Half"])
@pytest.mark.parametrize(
    "params",
    [
        "nn_256_192_128_ld_256_128_256_out_float",
        "nn_255_193_127_ld_257_129_259_out_float",
        "nn_3_400_64_ld_3_64_3_out_float",
        "nn_256_8_4096_ld_256_4096_256_out_float",
        "nn_255_8_64_ld_255_64_255_out_float_align_2_2_4",
    ],
)
@pytest.mark.parametrize("scalars", ["", "_beta_one", "_alpha_any_beta_any"])
def test_outputs_that_are_wider_than_the_operands(dtype: str, params: str, scalars: str) -> None:
    layout, found, alignment = params.partition("_align")
    assert_challengers_are_right(f"{GEMM}_{dtype}_NN", layout + scalars + found + alignment)


@pytest.mark.parametrize("dtype", ["float", "BFloat16"])
@pytest.mark.parametrize(
    "params",
    [
        "nn_64_48_32_B_5_ld_64_32_64",
        "nn_64_48_32_B_5_ld_72_40_80_stride_4000_3000_5000",  # gaps between matrices too
        "nn_64_48_32_B_5_ld_64_32_64_stride_0_1536_3072",  # one a for all
        "nn_64_48_32_B_5_ld_320_160_320_stride_64_32_64",  # interleaved
        "nn_64_48_32_B_5_ld_64_32_64_stride_64_32_3072",  # overlapping inputs
    ],
)
@pytest.mark.parametrize("scalars", ["", "_beta_any"])
def test_batches(dtype: str, params: str, scalars: str) -> None:
    assert_challengers_are_right(f"{BATCHED}_{dtype}_NN", params + scalars)


@pytest.mark.parametrize(("dtype", "align"), [("BFloat16", 2), ("BFloat16", 8), ("float", 4)])
def test_operands_that_begin_inside_of_a_word(dtype: str, align: int) -> None:
    params = f"nn_256_192_128_ld_256_128_256_beta_any_align_{align}_{align}_{align}"
    assert_challengers_are_right(f"{GEMM}_{dtype}_NN", params)


def test_long_sums_take_no_longer_than_others() -> None:
    outcome = _C.tune(GPU, f"{GEMM}_BFloat16_TN", "tn_256_256_500000_ld_500000_500000_256", False)
    assert outcome.failure == ""
    assert not [m for m in outcome.measurements if "wrong" in m[3]]


def test_large_problems_stay_near_their_budget() -> None:
    params = "nn_8192_8192_8192_ld_8192_8192_8192"
    _C.tune(GPU, f"{GEMM}_BFloat16_NN", "nn_64_64_64_ld_64_64_64", False)  # libraries load
    _C.set_setting("MAX_TUNING_BUDGET_MS", "500")
    outcome = _C.tune(GPU, f"{GEMM}_BFloat16_NN", params, False)
    assert outcome.failure == ""
    assert outcome.elapsed_ms < 1500


def test_more_elements_than_32_bits_count() -> None:
    if torch.cuda.mem_get_info()[0] < 60 << 30:
        pytest.skip("needs 60 GiB of free memory")
    m, n, k = 65536, 32800, 64
    assert m * n > 2**31
    torch.cuda.empty_cache()
    assert_challengers_are_right(f"{GEMM}_BFloat16_NN", f"nn_{m}_{n}_{k}_ld_{m}_{k}_{m}")
