"""Products that have no result are listed, each once, whatever kept them from being tuned."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import tunedops
from conftest import CPU, keys
from torch import randn, zeros
from tunedops import _C

# torch says so whenever its switches for oneDNN are used.
pytestmark = pytest.mark.filterwarnings("ignore:TF32 acceleration on top of oneDNN")


@pytest.fixture
def untuned_path(tmp_path: Path) -> Path:
    return tmp_path / "untuned_cpu.csv"


@pytest.fixture(autouse=True)
def recording(stored_only: None) -> None:
    tunedops.record_untuned_enable()


def run_products() -> None:
    a, b = randn(4, 64), randn(64, 32)
    tunedops.mm(a, b)
    torch.mm(a, b.t().contiguous().t())
    tunedops.linear(a, b.t(), randn(32), "relu")
    torch.baddbmm(zeros(32), a.expand(3, 4, 64), b.expand(3, 64, 32), beta=0.5)
    tunedops.mm(randn(4, 8, dtype=torch.complex64).conj(), randn(8, 3, dtype=torch.complex64))
    with torch.backends.mkldnn.flags(enabled=False):
        tunedops.mm(a.bfloat16(), b.bfloat16())


def test_every_miss_is_recorded_once(untuned_path: Path) -> None:
    run_products()
    run_products()
    tunedops.enable()  # decisions are taken anew
    run_products()
    recorded = untuned_path.read_text().splitlines()
    assert len(recorded) == len(set(recorded))
    assert set(recorded) >= {
        "GemmTunableOp_float_NN,nn_32_4_64_ld_32_64_32_threads_2",
        "GemmTunableOp_float_TN,tn_32_4_64_ld_64_64_32_threads_2",
        "GemmAndBiasTunableOp_float_NN,nn_32_4_64_ld_32_64_32_epi_relu_threads_2",
        "GemmStridedBatchedTunableOp_float_NN,"
        "nn_32_4_64_B_3_ld_32_64_32_stride_0_0_128_beta_any_threads_2",
        "GemmTunableOp_c10::complex<float>_NN,nn_3_4_8_ld_3_8_3_conj_01_threads_2",
        "GemmTunableOp_BFloat16_NN,nn_32_4_64_ld_32_64_32_onednn_off_threads_2",
    }
    for line in recorded:
        assert _C.is_problem(CPU, *line.split(",")), line
    assert keys() == []


def test_a_hit_is_not_recorded(untuned_path: Path) -> None:
    tunedops.tuning_enable()
    run_products()
    assert not untuned_path.exists()
    tunedops.tuning_enable(False)
    run_products()
    assert not untuned_path.exists()


def test_what_the_pace_leaves_out_is_recorded(untuned_path: Path) -> None:
    tunedops.tuning_enable()
    _C.set_setting("MAX_VARIANTS", "1")
    b = randn(64, 32)
    for rows in (4, 5, 6):
        tunedops.mm(randn(rows, 64), b)
    assert len(keys()) == 1
    assert len(untuned_path.read_text().splitlines()) == 2
