"""What a product does with the switches: hit, miss, budgets, and forgetting."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import tunedops
from conftest import CPU, keys, messages
from torch import randn
from torch.testing import assert_close
from tunedops import _C

A, B = randn(4, 64), randn(64, 32)
MM = ("GemmTunableOp_float_NN", "nn_32_4_64_ld_32_64_32_threads_2")


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
def test_read_only_neither_tunes_nor_writes(tmp_path: Path) -> None:
    written: list[bool] = []
    _C.set_setting("READ_ONLY", "1")
    tunedops.record_untuned_enable()
    assert_close(tunedops.mm(A, B), A @ B)
    with pytest.raises(RuntimeError, match="READ_ONLY"):
        _C.tune(CPU, *MM, True)
    (message,) = messages(lambda: written.append(tunedops.write_file()))
    assert written == [False]
    assert "TUNEDOPS_READ_ONLY is on" in message
    assert keys() == []
    assert list(tmp_path.iterdir()) == []


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
def test_clear_forgets_what_went_along_to_another_file(results_path: Path) -> None:
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


@pytest.mark.usefixtures("tuning")
def test_summary_says_where_default_runs_instead(
    capsys: pytest.CaptureFixture[str], write_results: Callable[..., str]
) -> None:
    op, params = "GemmTunableOp_float_TN", "tn_24_1_40_ld_40_40_24_threads_2"
    write_results(f"{op},{params},Gemm_CpuSkinny_rows_99_prefetch_0_threads_1,1,2")
    tunedops.summary()
    out = capsys.readouterr().out
    assert "solution 'Gemm_CpuSkinny_rows_99_prefetch_0_threads_1' cannot be used: " in out
    assert out.endswith("; Default runs\n")
    write_results(f"{op},{params},Default,1,2")
    tunedops.summary()
    assert "Default runs" not in capsys.readouterr().out


def test_default_for_a_layer_is_torchs_layer_and_no_other_problem(
    write_results: Callable[..., str],
) -> None:
    weight, bias = randn(32, 64), randn(32)
    key = ("GemmAndBiasTunableOp_float_TN", "tn_32_4_64_ld_64_64_32_epi_relu_threads_2")
    write_results(",".join((*key, "Default")))
    assert_close(
        tunedops.linear(A, weight, bias, "relu"), (A @ weight.t() + bias).relu(), atol=1e-4, rtol=0
    )
    tunedops.linear(A, weight, bias, "relu")
    assert [k for k in keys() if k[0].startswith("GemmAndBias")] == [key]
