"""aten's forms with an output type of their own, as far as no GPU is needed.

They exist on CUDA alone. Their keys can be read everywhere, and what cannot run says why.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import tunedops
from conftest import CPU, RunPython
from torch import randn
from tunedops import _C
from tunedops.cli.main import main

GPU = ("cuda", 0)
KEY = ("GemmTunableOp_BFloat16_NN", "nn_32_4_64_ld_32_64_32_out_float")
KEY_OF_CPU = (KEY[0], f"{KEY[1]}_threads_2")
with_cuda = pytest.mark.skipif(not _C.built_with_cuda, reason="the build has no CUDA")


@pytest.mark.smoke
def test_they_are_routed_where_torch_has_them(run_python: RunPython) -> None:
    run_python(
        """
        FORMS = [f"aten::{op}.{form}" for op in ("mm", "addmm", "bmm", "baddbmm")
                 for form in ("dtype", "dtype_out")]

        def ours(form):
            lines = torch._C._dispatch_dump_table(form).splitlines()
            return [line.partition(":")[0] for line in lines if "aten_routing" in line]

        assert [ours(form) for form in FORMS] == [[]] * 8
        tunedops.enable()
        expected = ["CUDA"] if _C.built_with_cuda else []
        assert [ours(form) for form in FORMS] == [expected] * 8
        """
    )


@pytest.mark.usefixtures("tuning")
def test_torch_says_that_the_cpu_has_none() -> None:
    x, w = randn(4, 64).bfloat16(), randn(64, 32).bfloat16()
    with pytest.raises(NotImplementedError, match=r"aten::mm\.dtype"):
        torch.mm(x, w, out_dtype=torch.float32)
    assert tunedops.get_results() == ()


@pytest.mark.usefixtures("tuning")
def test_a_cpus_key_is_a_problem_that_nothing_computes() -> None:
    assert _C.is_problem(CPU, *KEY_OF_CPU)
    refusals = dict(_C.refusals(CPU, *KEY_OF_CPU))
    assert "on GPUs only" in refusals["Default"]
    assert all(refusals.values()), refusals
    assert _C.candidates(CPU, *KEY_OF_CPU) == []
    outcome = _C.tune(CPU, *KEY_OF_CPU, False)
    assert outcome.failure == "Default does not support this problem"


def test_the_command_line_says_that_it_failed(
    tmp_path: Path, results_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    listed = tmp_path / "listed.csv"
    listed.write_text(f"{','.join(KEY_OF_CPU)}\n")
    assert main(["tune", str(listed), "-o", str(results_path)]) == 1
    assert "Default does not support this problem" in capsys.readouterr().out


# Which of them support a problem is known without a GPU, but for those that ask which it is.
ASK_THE_GPU = {"Gemm_Sm80", "Gemm_Sm90"}
SUPPORTED = {
    KEY: {"Default", "Gemm_Skinny", "Gemm_Cublas", "Gemm_Cublaslt"},
    (KEY[0], f"{KEY[1]}_alpha_any_beta_any"): {
        "Default",
        "Gemm_Skinny",
        "Gemm_Cublas",
        "Gemm_Cublaslt",
    },
    # cuBLASLt's bias is of the output's type.
    ("GemmAndBiasTunableOp_Half_NN", KEY[1]): {"Default", "Gemm_Skinny", "Gemm_Cublaslt"},
    ("GemmAndBiasTunableOp_Half_NN", f"{KEY[1]}_bias_Half"): {"Default", "Gemm_Skinny"},
    ("GemmAndBiasTunableOp_Half_NN", f"{KEY[1]}_bias_BFloat16"): set(),
    ("GemmStridedBatchedTunableOp_Half_NN", "nn_64_64_64_B_3_ld_64_64_64_out_float"): {
        "Default",
        "Gemm_Cublas",
        "Gemm_Cublaslt",
    },
    ("GemmTunableOp_float_NN", "nn_32_4_64_ld_32_64_32_out_double"): set(),
    ("GemmTunableOp_double_NN", KEY[1]): set(),
    ("GemmTunableOp_BFloat16_NN", "nn_32_4_64_ld_32_64_32_out_Half"): set(),
}


@with_cuda
@pytest.mark.parametrize("key", SUPPORTED, ids="_".join)
def test_which_kernels_have_them(key: tuple[str, str]) -> None:
    assert _C.is_problem(GPU, *key)
    refusals = dict(_C.refusals(GPU, *key))
    assert set(refusals) >= ASK_THE_GPU
    if not torch.cuda.is_available():
        assert all(refusals[name] for name in ASK_THE_GPU)
    supported = {name for name, reason in refusals.items() if not reason}
    assert supported - ASK_THE_GPU == SUPPORTED[key]
