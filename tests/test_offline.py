"""Lists of problems, tuned exactly as they are listed: ours and those of PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch
import tunedops
from conftest import CPU, RunPython, keys, messages
from torch import randn
from tunedops import _C
from tunedops.key_lists import listed_keys, split_lines

# torch says so whenever its switches for oneDNN are used.
pytestmark = pytest.mark.filterwarnings("ignore:TF32 acceleration on top of oneDNN")

KEY = "GemmTunableOp_float_NN,nn_5_3_4_ld_5_4_5_threads_2"
OTHER = "GemmAndBiasTunableOp_float_TN,tn_5_3_4_ld_4_4_5_epi_relu_threads_2"
CUDA = ("cuda", 0)


@pytest.fixture
def list_path(tmp_path: Path) -> Path:
    return tmp_path / "list.csv"


def products() -> None:
    a, b = randn(4, 64), randn(64, 32)
    tunedops.mm(a, b)
    torch.mm(a, b.t().contiguous().t())
    tunedops.linear(a, b.t(), randn(32), "relu")
    torch.baddbmm(randn(32), a.expand(3, 4, 64), b.expand(3, 64, 32), beta=0.5)


@pytest.mark.usefixtures("stored_only")
def test_listed_problems_are_tuned_and_no_others(tmp_path: Path, results_path: Path) -> None:
    tunedops.record_untuned_enable()
    products()
    path = tmp_path / "untuned_cpu.csv"
    listed = [tuple(line.split(",")) for line in path.read_text().splitlines()]
    tunedops.tune_gemm_in_file(path)
    assert sorted(keys()) == sorted(listed)
    # The program that recorded them now hits.
    _C.set_setting("ON_MISS", "error")
    products()
    before = tunedops.get_results()
    tunedops.tune_gemm_in_file(path)
    assert tunedops.get_results() == before, "what has a result is left"
    saved = results_path.read_text()
    assert all(",".join(key) in saved for key in listed)


def test_what_other_work_disturbed_is_tuned_again(
    results_path: Path, list_path: Path, write_results: Callable[..., str]
) -> None:
    busy = f"{KEY},Default,5,10,clock-busy,100,0.01"
    write_results(busy)
    list_path.write_text(f"{KEY}\n{OTHER}\n")
    assert messages(lambda: tunedops.tune_gemm_in_file(list_path)) == []
    assert busy not in results_path.read_text()


def test_results_that_other_work_disturbs_are_said(
    monkeypatch: pytest.MonkeyPatch, list_path: Path, write_results: Callable[..., str]
) -> None:
    write_results(f"{KEY},Default,5,10,clock-busy", f"{OTHER},Default,5,10,clock")
    list_path.write_text(f"{KEY}\n{OTHER}\n")

    class StillBusy:
        failure = ""

    monkeypatch.setattr(_C, "tune", lambda *_: StillBusy())
    assert messages(lambda: tunedops.tune_gemm_in_file(list_path)) == [
        "tunedops: 1 of 2 results were timed while other work held the processors; the same call "
        "measures them again"
    ]


def test_a_results_file_serves_as_a_list(results_path: Path, list_path: Path) -> None:
    list_path.write_text(f"{KEY}\n{OTHER}\n")
    tunedops.tune_gemm_in_file(list_path)
    tuned = keys()
    assert len(tuned) == 2
    results_path.rename(list_path)
    tunedops.clear()
    tunedops.tune_gemm_in_file(list_path)
    assert keys() == tuned


@pytest.mark.parametrize(
    "text",
    [
        f"{KEY}\n{KEY}\n",
        f"\ufeff{KEY}\r\n{KEY}\r\n",
        f"# a comment\n\n  {KEY.replace(',', ' , ')} \nValidator,DEVICE,elsewhere\n",
        f"{KEY},BLAS_PARAMS: - {{ function: matmul, M: 5, N: 3 }}\n",
        f"{KEY},Default,0.5\n{KEY}",  # two processes append, and one is not done
    ],
)
def test_what_a_list_may_look_like(list_path: Path, text: str) -> None:
    list_path.write_bytes(text.encode())
    tunedops.tune_gemm_in_file(list_path)
    assert keys() == [tuple(KEY.split(","))]


@pytest.mark.parametrize(
    "line",
    [
        "GemmTunableOp_float_NN,nn_1_2",
        "GemmTunableOp_float_NN,nn_32_4_64_ld_32_64_32",  # a GPU's
        "GemmTunableOp_float_NN,nn_32_4_64_ld_31_64_32_threads_2",
        "GemmTunableOp_float_NN,nn_32_4_64_ld_32_64_32_threads_60000",
        "GemmTunableOp_float_NN",
        "nonsense",
    ],
)
def test_lines_that_are_no_problems_are_errors(list_path: Path, line: str) -> None:
    list_path.write_text(f"# a comment\n{KEY}\n{line}\n")
    with pytest.raises(ValueError, match=r"list\.csv:3: "):
        tunedops.tune_gemm_in_file(list_path)
    assert keys() == [], "nothing is tuned if not all can be"


def test_read_only_tunes_nothing(list_path: Path) -> None:
    list_path.write_text(f"{KEY}\n")
    _C.set_setting("READ_ONLY", "1")
    with pytest.raises(RuntimeError, match="READ_ONLY"):
        tunedops.tune_gemm_in_file(list_path)


def test_what_cannot_be_tuned_is_said(list_path: Path) -> None:
    side = 1_000_000
    huge = f"GemmTunableOp_float_NN,nn_{side}_{side}_{side}_ld_{side}_{side}_{side}_threads_2"
    list_path.write_text(f"{huge}\n{KEY}\n")
    said = messages(lambda: tunedops.tune_gemm_in_file(list_path))
    assert said == [
        f"tunedops: {list_path}:1: '{huge}' is not tuned: not enough free memory to tune on"
    ]
    assert keys() == [tuple(KEY.split(","))]


# ---- lists that PyTorch's TunableOp writes


# As it writes them, and what they are to us.
ROWS_OF_TUNABLE_OP = {
    "GemmTunableOp_float_NT,nt_25088_4096_64_ld_25088_4096_25088": None,
    "GemmTunableOp_tf32_NN,nn_4096_4096_4096_ld_4096_4096_4096": None,
    "GemmTunableOp_BFloat16_TN,tn_768_64_768_ld_1024_768_768": None,
    "GemmTunableOp_double_TT,tt_8_4_16_ld_16_4_8": None,
    "GemmAndBiasTunableOp_Half_TN,tn_3072_64_768_ld_768_768_3072": None,
    "GemmStridedBatchedTunableOp_Half_NN,nn_64_1_128_B_32_ld_64_128_64": None,
    "GemmTunableOp_c10::complex<float>_TN,cn_5_3_4_ld_4_4_5": "tn_5_3_4_ld_4_4_5_conj_10",
    "GemmTunableOp_c10::complex<double>_TT,tc_5_3_4_ld_4_3_5": "tt_5_3_4_ld_4_3_5_conj_01",
    "GemmTunableOp_c10::complex<double>_TT,cc_5_3_4_ld_4_3_5": "tt_5_3_4_ld_4_3_5_conj_11",
    "GemmTunableOp_BFloat16_TN,tn_8_8_8_ld_8_8_8,BLAS_PARAMS: - { function: matmul, M: 8 }": (
        "tn_8_8_8_ld_8_8_8"
    ),
}


@pytest.mark.parametrize("row", ROWS_OF_TUNABLE_OP)
def test_rows_of_tunable_op_are_problems_of_a_gpu(row: str) -> None:
    (key,) = listed_keys(split_lines("list.csv", row))
    op, params = row.split(",")[:2]
    assert key.key == (op, ROWS_OF_TUNABLE_OP[row] or params)
    assert key.reason_against(CUDA) is None
    assert key.reason_against(CPU) is not None


def test_products_that_only_tunable_op_has_are_left_out(list_path: Path) -> None:
    scaled = (
        "ScaledGemmTunableOp_Float8_e4m3fn_Float8_e4m3fn_BFloat16_TN,"
        "tn_16_16_16_ld_16_16_16_rw_0_bias_None"
    )
    list_path.write_text(f"{scaled}\n{KEY}\n")
    said = messages(lambda: tunedops.tune_gemm_in_file(list_path))
    assert said == [
        f"tunedops: 1 product left out, since tunedops has no scaled ones: {list_path}:1"
    ]
    assert keys() == [tuple(KEY.split(","))]
    list_path.write_text(f"{scaled}\n{scaled.replace('tn_16', 'tn_32')}\n")
    (words,) = messages(lambda: tunedops.tune_gemm_in_file(list_path))
    assert words.startswith("tunedops: 2 products left out")


# ---- torch as it was for the program that wrote the list


def state() -> dict[str, Any]:
    """What of torch keys tell."""
    cuda = torch.backends.cuda.matmul
    return {
        "threads": torch.get_num_threads(),
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "onednn": torch.backends.mkldnn.enabled,
        "cpu": torch.backends.mkldnn.matmul.fp32_precision,
        "cuda": cuda.fp32_precision,
        "half": torch._C._get_cublas_allow_fp16_reduced_precision_reduction(),
        "bfloat16": torch._C._get_cublas_allow_bf16_reduced_precision_reduction(),
        "accumulation": cuda.allow_fp16_accumulation,
    }


@contextmanager
def other_flags() -> Iterator[None]:
    """Every flag that keys tell, other than torch's default."""
    cuda = torch.backends.cuda.matmul
    before = state()
    with torch.backends.mkldnn.flags(enabled=False):
        torch.set_num_threads(1)
        torch.use_deterministic_algorithms(True)
        torch.backends.mkldnn.matmul.fp32_precision = "bf16"
        cuda.fp32_precision = "tf32"
        cuda.allow_fp16_reduced_precision_reduction = False
        cuda.allow_bf16_reduced_precision_reduction = (False, False)
        cuda.allow_fp16_accumulation = True
        try:
            yield
        finally:
            torch.set_num_threads(2)
            torch.use_deterministic_algorithms(False)
            torch.backends.mkldnn.matmul.fp32_precision = before["cpu"]
            cuda.fp32_precision = before["cuda"]
            cuda.allow_fp16_reduced_precision_reduction = True
            cuda.allow_bf16_reduced_precision_reduction = True
            cuda.allow_fp16_accumulation = False
    assert state() == before


SHAPE = "nn_5_3_4_ld_5_4_5"
FLAGS_OF_KEYS: dict[str, tuple[tuple[str, int], str, str, dict[str, Any]]] = {
    "plain": (CPU, "float", "_threads_2", {"onednn": True, "deterministic": False, "threads": 2}),
    "onednn_off": (CPU, "float", "_onednn_off_threads_2", {"onednn": False}),
    "threads": (CPU, "float", "_threads_1", {"threads": 1}),
    "det": (CPU, "double", "_det_threads_2", {"deterministic": True}),
    "bf32": (CPU, "float", "_bf32_threads_2", {"cpu": "bf16"}),
    "tf32_cpu": (CPU, "tf32", "_threads_2", {"cpu": "tf32"}),
    "ieee_cpu": (CPU, "float", "_threads_2", {}),
    "double": (CPU, "double", "_threads_2", {"onednn": True}),
    "gpu": (CUDA, "float", "", {"deterministic": False}),
    "tf32": (CUDA, "tf32", "", {"cuda": "tf32"}),
    "det_gpu": (CUDA, "BFloat16", "_det", {"deterministic": True}),
    "half": (CUDA, "Half", "", {"half": (True, True), "accumulation": False}),
    "half_fullprec": (CUDA, "Half", "_fullprec", {"half": (False, True)}),
    "half_nosplitk": (CUDA, "Half", "_fullprec_nosplitk", {"half": (False, False)}),
    "accum16": (CUDA, "Half", "_accum16", {"accumulation": True}),
    "bfloat16": (CUDA, "BFloat16", "", {"bfloat16": (True, True)}),
    "bfloat16_fullprec": (CUDA, "BFloat16", "_fullprec", {"bfloat16": (False, True)}),
    "bfloat16_nosplitk": (CUDA, "BFloat16", "_fullprec_nosplitk", {"bfloat16": (False, False)}),
}


@pytest.mark.parametrize("name", FLAGS_OF_KEYS)
@pytest.mark.parametrize("flags", ["default", "others"])
def test_torch_is_as_the_key_says_meanwhile(name: str, flags: str) -> None:
    device, dtype, suffix, expected = FLAGS_OF_KEYS[name]
    key = (f"GemmTunableOp_{dtype}_NN", SHAPE + suffix)

    def check() -> None:
        before = state()
        found = _C.call_as_in_key(device, *key, state)
        assert {which: found[which] for which in expected} == expected
        if (device, dtype) == (CUDA, "float"):
            assert found["cuda"] != "tf32"
        if device == CPU:
            element = torch.float64 if dtype == "double" else torch.float32
            a, b = randn(3, 4, dtype=element), randn(4, 5, dtype=element)
            assert _C.call_as_in_key(device, *key, lambda: _C.key_of(a, b)) == key
        assert state() == before, "put back"

    if flags == "default":
        check()
    else:
        with other_flags():
            check()


def test_an_error_meanwhile_puts_torch_back() -> None:
    before = state()

    def fail() -> None:
        raise KeyError

    with pytest.raises(KeyError):
        _C.call_as_in_key(CPU, "GemmTunableOp_float_NN", f"{SHAPE}_onednn_off_threads_1", fail)
    assert state() == before


def test_a_precision_that_was_inherited_is_inherited_again() -> None:
    key = ("GemmTunableOp_float_NN", f"{SHAPE}_bf32_threads_2")
    _C.call_as_in_key(CPU, *key, state)
    try:
        torch.backends.mkldnn.fp32_precision = "bf16"  # of all ops
        assert torch.backends.mkldnn.matmul.fp32_precision == "bf16"
    finally:
        torch.backends.mkldnn.fp32_precision = "none"


def test_kernels_run_while_torch_is_as_the_key_says(
    run_python: RunPython, extra_kernels: str
) -> None:
    run_python(
        f"""
seen = set()
def look():
    seen.add((torch.backends.mkldnn.enabled, torch.get_num_threads(),
              torch.are_deterministic_algorithms_enabled()))
kept = extra_kernels.watch_failing_run(library, look)
with open("list.csv", "w") as file:
    file.write("GemmTunableOp_float_NN,{SHAPE}_det_onednn_off_threads_1\\n")
tunedops.tune_gemm_in_file("list.csv")
assert seen == {{(False, 1, True)}}, seen
seen.clear()
tunedops.enable()
tunedops.mm(torch.ones(3, 4), torch.ones(4, 5))
assert seen == {{(True, 2, False)}}, seen
""",
        prelude=extra_kernels,
    )
