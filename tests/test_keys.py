"""The key that a product goes by, as text in the results file.

The texts are written out, because files live longer than programs: PyTorch's grammar, and
suffixes only for what differs from the plain case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch
import tunedops
from conftest import CPU, keys
from torch import randn, zeros
from tunedops import _C

# torch says so whenever its switches for oneDNN are used.
pytestmark = pytest.mark.filterwarnings("ignore:TF32 acceleration on top of oneDNN")

A, B = randn(4, 64), randn(64, 32)
MM = ("GemmTunableOp_float_NN", "nn_32_4_64_ld_32_64_32_threads_2")
WEIGHT, BIAS = randn(32, 64), randn(32)
COMPLEX = randn(4, 64, dtype=torch.complex64), randn(64, 32, dtype=torch.complex64)
# Product, op, params without `_threads_2`. In BLAS's frame a row-major x @ w is w^T x^T,
# so m counts columns of the result, and `t` means that x is as torch's linear has it.
KEYS: dict[str, tuple[Callable[[], torch.Tensor], str, str]] = {
    "mm": (lambda: tunedops.mm(A, B), "GemmTunableOp_float_NN", "nn_32_4_64_ld_32_64_32"),
    "mm_t": (
        lambda: tunedops.mm(A, WEIGHT.t()),
        "GemmTunableOp_float_TN",
        "tn_32_4_64_ld_64_64_32",
    ),
    "mm_both_t": (
        lambda: tunedops.mm(zeros(64, 4).t(), WEIGHT.t()),
        "GemmTunableOp_float_TT",
        "tt_32_4_64_ld_64_4_32",
    ),
    "mm_sliced": (
        lambda: tunedops.mm(zeros(4, 70)[:, 6:], B),
        "GemmTunableOp_float_NN",
        "nn_32_4_64_ld_32_70_32",
    ),
    "mm_steps": (  # copied, so it is as if contiguous
        lambda: tunedops.mm(zeros(4, 128)[:, ::2], B),
        "GemmTunableOp_float_NN",
        "nn_32_4_64_ld_32_64_32",
    ),
    "mm_out": (
        lambda: tunedops.mm(A, B, out=zeros(4, 40)[:, :32]),
        "GemmTunableOp_float_NN",
        "nn_32_4_64_ld_32_64_40",
    ),
    "bfloat16": (
        lambda: tunedops.mm(A.bfloat16(), B.bfloat16()),
        "GemmTunableOp_BFloat16_NN",
        "nn_32_4_64_ld_32_64_32",
    ),
    "double": (
        lambda: tunedops.mm(A.double(), B.double()),
        "GemmTunableOp_double_NN",
        "nn_32_4_64_ld_32_64_32",
    ),
    "conj": (
        lambda: tunedops.mm(COMPLEX[0].conj(), COMPLEX[1]),
        "GemmTunableOp_c10::complex<float>_NN",
        "nn_32_4_64_ld_32_64_32_conj_01",
    ),
    "addmm": (
        lambda: tunedops.addmm(zeros(4, 32), A, B, beta=2, alpha=-1),
        "GemmTunableOp_float_NN",
        "nn_32_4_64_ld_32_64_32_alpha_any_beta_any",
    ),
    "addmm_1": (
        lambda: tunedops.addmm(zeros(4, 1), A, B),
        "GemmTunableOp_float_NN",
        "nn_32_4_64_ld_32_64_32_beta_one",
    ),
    "addmm_0": (
        lambda: tunedops.addmm(zeros(4, 32), A, B, beta=0),
        "GemmTunableOp_float_NN",
        "nn_32_4_64_ld_32_64_32",
    ),
    "addmm_bias": (
        lambda: tunedops.addmm(BIAS, A, B),
        "GemmAndBiasTunableOp_float_NN",
        "nn_32_4_64_ld_32_64_32",
    ),
    "bmm": (
        lambda: tunedops.bmm(zeros(3, 4, 64), zeros(3, 64, 32)),
        "GemmStridedBatchedTunableOp_float_NN",
        "nn_32_4_64_B_3_ld_32_64_32",
    ),
    "bmm_expanded": (
        lambda: tunedops.bmm(zeros(3, 4, 64), B.expand(3, 64, 32)),
        "GemmStridedBatchedTunableOp_float_NN",
        "nn_32_4_64_B_3_ld_32_64_32_stride_0_256_128",
    ),
    "baddbmm": (
        lambda: tunedops.baddbmm(zeros(32), zeros(3, 4, 64), zeros(3, 64, 32), beta=0.5),
        "GemmStridedBatchedTunableOp_float_NN",
        "nn_32_4_64_B_3_ld_32_64_32_beta_any",
    ),
    "linear": (
        lambda: tunedops.linear(A, WEIGHT),
        "GemmTunableOp_float_TN",
        "tn_32_4_64_ld_64_64_32",
    ),
    "linear_rank_4": (
        lambda: tunedops.linear(A.view(1, 2, 2, 64), WEIGHT, BIAS),
        "GemmAndBiasTunableOp_float_TN",
        "tn_32_4_64_ld_64_64_32",
    ),
    "linear_rank_1": (
        lambda: tunedops.linear(A[0], WEIGHT, activation="relu"),
        "GemmTunableOp_float_TN",
        "tn_32_1_64_ld_64_64_32_epi_relu",
    ),
    "linear_gelu_tanh": (
        lambda: tunedops.linear(A, WEIGHT, BIAS, "gelu_tanh"),
        "GemmAndBiasTunableOp_float_TN",
        "tn_32_4_64_ld_64_64_32_epi_gelu_tanh",
    ),
}


@pytest.mark.parametrize("name", KEYS)
@pytest.mark.usefixtures("tuning")
def test_key_and_row(name: str, results_path: Path) -> None:
    product, op, params = KEYS[name]
    key = (op, f"{params}_threads_2")
    product()
    assert key in keys()
    rows = [line.split(",") for line in results_path.read_text().splitlines()]
    result = next(r for r in tunedops.get_results() if (r.op, r.params) == key)
    row = next(fields for fields in rows if tuple(fields[:2]) == key)
    assert row[2] == result.solution
    times = [time for time in (result.time_ms, result.default_ms) if time is not None]
    assert [float(field) for field in row[3:5]] == times
    timed = len(_C.candidates(CPU, *key)) > 1  # where there is something to choose
    assert len(times) == (2 if timed else 0)
    assert len(row) == (10 if timed else 3)
    assert _C.is_problem(CPU, *key)


@contextmanager
def mkldnn_precision(value: str) -> Iterator[None]:
    before = torch.backends.mkldnn.matmul.fp32_precision
    torch.backends.mkldnn.matmul.fp32_precision = value
    yield
    torch.backends.mkldnn.matmul.fp32_precision = before


@contextmanager
def matmul_precision(value: str) -> Iterator[None]:
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision(value)
    yield
    torch.set_float32_matmul_precision(before)
    torch.backends.mkldnn.matmul.fp32_precision = "none"


@contextmanager
def deterministic() -> Iterator[None]:
    torch.use_deterministic_algorithms(True)
    yield
    torch.use_deterministic_algorithms(False)


@contextmanager
def threads(count: int) -> Iterator[None]:
    torch.set_num_threads(count)
    yield
    torch.set_num_threads(2)


FLAGS = {
    "mkldnn_bf16": (lambda: mkldnn_precision("bf16"), "_bf32_threads_2"),
    "medium": (lambda: matmul_precision("medium"), "_bf32_threads_2"),
    "deterministic": (deterministic, "_det_threads_2"),
    "no_onednn": (lambda: torch.backends.mkldnn.flags(enabled=False), "_onednn_off_threads_2"),
    "threads": (lambda: threads(1), "_threads_1"),
}


@pytest.mark.parametrize("flag", FLAGS)
@pytest.mark.usefixtures("tuning")
def test_a_flag_makes_another_problem(flag: str) -> None:
    scope, suffix = FLAGS[flag]
    tunedops.mm(A, B)
    with scope():
        tunedops.mm(A, B)
    tunedops.mm(A, B)
    assert set(keys()) == {MM, (MM[0], f"nn_32_4_64_ld_32_64_32{suffix}")}


@pytest.mark.usefixtures("tuning")
def test_tf32_is_a_type_of_its_own_and_for_floats_only() -> None:
    with matmul_precision("high"):
        tunedops.mm(A, B)
        tunedops.mm(A.double(), B.double())
    assert [op for op, _ in keys()] == ["GemmTunableOp_double_NN", "GemmTunableOp_tf32_NN"]
