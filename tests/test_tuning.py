"""What a product does with the switches: hit, miss, and the key it goes by."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
import torch
import tunedops
from conftest import CPU, keys
from torch import randn, zeros
from torch.testing import assert_close
from tunedops import _C

A, B = randn(4, 64), randn(64, 32)
MM = ("GemmTunableOp_float_NN", "nn_32_4_64_ld_32_64_32_threads_2")


# --- Hit and miss


@pytest.mark.smoke
@pytest.mark.usefixtures("tuning")
def test_a_miss_is_tuned_once_and_then_hit() -> None:
    first = tunedops.mm(A, B)
    (result,) = tunedops.get_results()
    assert (result.op, result.params) == MM
    assert result.tuned_here
    assert result.time_ms is not None
    assert result.time_ms > 0
    assert result.default_ms is not None
    kernel = next(k for k in _C.kernel_names(CPU)[::-1] if result.solution.startswith(k))
    assert result.solution == kernel or result.solution.startswith(kernel + "_")
    assert torch.equal(tunedops.mm(A, B), first)
    assert tunedops.get_results() == (result,), "a stored result is not tuned again"
    assert _C.stored(CPU, *MM) == tuple(result)


def test_off_means_that_nothing_is_looked_up_or_tuned() -> None:
    tunedops.enable()
    tunedops.enable(False)
    assert_close(tunedops.mm(A, B), A @ B)
    tunedops.tuning_enable()
    assert_close(tunedops.mm(A, B), A @ B)
    assert keys() == []


@pytest.mark.usefixtures("stored_only")
def test_without_tuning_a_miss_is_torchs_product() -> None:
    assert torch.equal(tunedops.mm(A, B), torch.mm(A, B))
    assert keys() == []
    tunedops.tuning_enable()
    tunedops.mm(A, B)
    assert keys() == [MM], "a miss is not remembered as a decision"


@pytest.mark.usefixtures("stored_only")
def test_on_miss_error_names_the_problem() -> None:
    _C.set_setting("ON_MISS", "error")
    for product in (tunedops.mm, torch.mm):
        with pytest.raises(RuntimeError, match=",".join(MM)):
            product(A, B)
    _C.set_setting("ON_MISS", "default")
    assert torch.equal(tunedops.mm(A, B), torch.mm(A, B))


@pytest.mark.usefixtures("tuning")
def test_read_only_neither_tunes_nor_writes(tmp_path: pytest.TempPathFactory) -> None:
    _C.set_setting("READ_ONLY", "1")
    tunedops.record_untuned_enable()
    assert_close(tunedops.mm(A, B), A @ B)
    with pytest.raises(RuntimeError, match="READ_ONLY"):
        _C.tune(CPU, *MM, True)
    assert not tunedops.write_file()
    assert keys() == []
    assert list(tmp_path.iterdir()) == []  # type: ignore[attr-defined]


@pytest.mark.usefixtures("tuning")
def test_a_total_budget_of_0_tunes_nothing() -> None:
    _C.set_setting("TOTAL_BUDGET_S", "0")
    assert_close(tunedops.mm(A, B), A @ B)
    assert keys() == []
    _C.tune(CPU, *MM, False)  # asked for: no budget
    assert keys() == [MM]


@pytest.mark.usefixtures("tuning")
def test_a_growing_dimension_is_tuned_for_so_many_values() -> None:
    _C.set_setting("MAX_VARIANTS", "3")
    for rows in range(1, 8):
        x = randn(rows, 64)
        assert_close(tunedops.mm(x, B), (x.double() @ B.double()).float(), rtol=1e-4, atol=1e-4)
    assert len([key for key in keys() if "float" in key[0]]) == 3


@pytest.mark.usefixtures("tuning")
def test_clear_and_delete() -> None:
    tunedops.mm(A, B)
    tunedops.bmm(A[None], B[None])
    assert len(keys()) == 2
    assert tunedops.delete(*MM)
    assert not tunedops.delete(*MM)
    assert MM not in keys()
    tunedops.mm(A, B)
    assert MM in keys(), "it is a miss again"
    tunedops.clear()
    assert keys() == []
    assert _C.stored(CPU, *MM) is None


@pytest.mark.usefixtures("tuning")
def test_clear_forgets_what_went_along_to_another_file(results_path: object) -> None:
    tunedops.mm(A, B)
    tunedops.set_filename(f"{results_path}.other")
    tunedops.clear()
    assert keys() == []


@pytest.mark.usefixtures("tuning")
def test_summary_prints_what_is_stored(capsys: pytest.CaptureFixture[str]) -> None:
    tunedops.mm(A, B)
    tunedops.summary()
    printed = capsys.readouterr().out.replace("\n", "")
    assert _C.device_name(CPU).split("(")[0].strip() in printed
    for word in ("params", "solution", "ratio", "Gemm"):
        assert word in printed


# --- Keys

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
def test_key_and_row(name: str, results_path: object) -> None:
    product, op, params = KEYS[name]
    key = (op, f"{params}_threads_2")
    product()
    assert key in keys()
    rows = [line.split(",") for line in open(str(results_path)).read().splitlines()]  # noqa: SIM115
    result = next(r for r in tunedops.get_results() if (r.op, r.params) == key)
    row = next(fields for fields in rows if tuple(fields[:2]) == key)
    assert row[2] == result.solution
    assert float(row[3]) == result.time_ms
    assert float(row[4]) == result.default_ms
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


@pytest.mark.filterwarnings("ignore:TF32 acceleration on top of oneDNN")
@pytest.mark.parametrize("flag", FLAGS)
@pytest.mark.usefixtures("tuning")
def test_a_flag_makes_another_problem(flag: str) -> None:
    scope, suffix = FLAGS[flag]
    tunedops.mm(A, B)
    with scope():
        tunedops.mm(A, B)
    tunedops.mm(A, B)
    assert set(keys()) == {MM, (MM[0], f"nn_32_4_64_ld_32_64_32{suffix}")}


@pytest.mark.filterwarnings("ignore:TF32 acceleration on top of oneDNN")
@pytest.mark.usefixtures("tuning")
def test_tf32_is_a_type_of_its_own_and_for_floats_only() -> None:
    with matmul_precision("high"):
        tunedops.mm(A, B)
        tunedops.mm(A.double(), B.double())
    assert [op for op, _ in keys()] == ["GemmTunableOp_double_NN", "GemmTunableOp_tf32_NN"]
