"""`benchmarks/max_autotune.py`: its choice of rows, its columns, and small runs of it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fake_cuda
import inductor_side
import line_alignment
import max_autotune
import measure_cuda
import measure_inductor
import pytest
import torch
from agreement import WrongResult
from conftest import CPU
from graph_side import GraphSide
from inductor_side import CACHES, Compiled, compile_product, kernels_in
from max_autotune_report import COLUMNS, columns_of, print_summary, summary_of
from record import read_record
from row_choice import spread
from sides import Call, calls_of, key_on
from tunedops import _C, get_workloads
from tunedops.workloads import Workload, read_workloads

MM = Workload("odd", "mm", "bfloat16", "nt", 1, 4, 33, 65)
WORKLOADS = """\
suite,op,dtype,layout,batch,m,n,k
odd,mm,bfloat16,nt,1,4,33,65
even,linear,bfloat16,nt,1,4,64,96
other,mm,float32,nt,1,4,64,64
"""
CODE = """\
    triton_poi_fused_constant_pad_nd_0.run(arg0_1, buf0, 512, stream=stream0)
    triton_tem_fused_mm_1.run(buf0, buf1, buf2, 4, 1, 1, stream=stream0)
    extern_kernels.mm(arg0_1, arg1_1, out=buf0)
"""


@pytest.fixture
def given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write_results: Callable[..., str]):
    """Options of a small run, with a result for the first product."""
    monkeypatch.setattr(_C, "cache_bytes", lambda device: 40_000)
    (tmp_path / "w.csv").write_text(WORKLOADS)
    key = key_on(MM, CPU)
    assert key is not None
    (tmp_path / "r.csv").write_text(write_results(",".join([*key, "Gemm_OneDnn"])))
    files = ["--workloads", str(tmp_path / "w.csv"), "--results", str(tmp_path / "r.csv")]
    return [*files, "--seconds", "0.01", "--record", str(tmp_path / "record")]


@pytest.fixture
def without_inductor(monkeypatch: pytest.MonkeyPatch) -> None:
    def compile_product(workload: Workload, operands: object) -> Compiled:
        return Compiled(calls_of(workload)[0], 1.5, "extern_kernels.mm")

    monkeypatch.setattr(measure_inductor, "compile_product", compile_product)


def test_lines_that_the_widest_loads_divide() -> None:
    def is_aligned(layout: str, m: int, n: int, k: int, dtype: str = "bfloat16") -> bool:
        return line_alignment.is_aligned(Workload("", "mm", dtype, layout, 1, m, n, k))

    assert is_aligned("nt", 17, 64, 64)
    assert not is_aligned("nt", 16, 64, 65)
    assert not is_aligned("nn", 16, 65, 64)
    assert not is_aligned("tn", 17, 64, 64)
    assert is_aligned("tn", 16, 64, 65)
    assert is_aligned("nt", 1, 4, 4, "float32")


def test_the_choice_has_every_family_and_as_many_unaligned_rows() -> None:
    everything = read_workloads(get_workloads() / "gpu.csv")
    chosen = spread(everything, 12)
    assert len(set(chosen)) == 12
    assert chosen == sorted(chosen, key=everything.index)
    families = {w.suite for w in everything if w.op != "bmm" and w.dtype == "bfloat16"}
    assert {w.suite for w in chosen} == families
    assert {(w.op, w.dtype) for w in chosen} == {("mm", "bfloat16"), ("linear", "bfloat16")}
    assert sum(line_alignment.is_aligned(w) for w in chosen) == 6


def test_where_one_kind_lacks_there_is_more_of_the_other() -> None:
    even = [Workload("a", "mm", "bfloat16", "nt", 1, m, 8, 8) for m in range(1, 6)]
    odd = [Workload("b", "mm", "bfloat16", "nt", 1, m, 9, 8) for m in range(1, 6)]
    assert len(spread(even, 4)) == len(spread(odd, 4)) == 4
    assert len(spread([*even, *odd[:1]], 4)) == 4
    assert spread([*even, *odd], 99) == [*even, *odd]


def test_the_columns_of_a_row(capsys: pytest.CaptureFixture[str]) -> None:
    rounds = [[3e-6, 2e-6, 1.5e-6]] * 11
    row = columns_of(rounds, "A", Compiled(torch.mm, 2.5, "some kernel"))
    row = {"problem": "mm 1", "suite": "odd", **row}
    assert list(row) == list(COLUMNS)
    ratios = [row[name] for name in ("ratio", "max_autotune_ratio", "tuned_over_max_autotune")]
    assert ratios == pytest.approx([1.5, 2, 0.75])
    assert (row["max_autotune_us"], row["compile_s"]) == (pytest.approx(1.5), 2.5)
    summary = summary_of([row, row | {"problem": "mm 2", "tuned_over_max_autotune": 3.0}])
    assert summary["tuned_over_max_autotune_geomean"] == 1.5
    assert summary["slower_than_max_autotune"] == ["mm 1"]
    print_summary(summary)
    assert "more than 1 %: mm 1" in capsys.readouterr().out
    assert summary_of([]) == {}


def test_the_kernels_are_read_from_the_generated_code() -> None:
    assert kernels_in(CODE) == (
        "triton_poi_fused_constant_pad_nd_0 triton_tem_fused_mm_1 extern_kernels.mm"
    )
    assert kernels_in("def call(args):") == "(unknown)"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--results", "r.csv", "--rows", "94"], "has rows 1 to 93"),
        (["--results", "r.csv", "--rows", "0"], "has rows 1 to 93"),
        (["--results", "r.csv", "--count", "0"], "--count 0: expected 1 or more"),
        ([], "one of the arguments --results --write-workloads is required"),
    ],
)
def test_what_cannot_be_done_is_said(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        max_autotune.parse_arguments(options)
    assert message in capsys.readouterr().err


def test_the_products_can_be_written_down_where_there_is_no_gpu(tmp_path: Path) -> None:
    path = tmp_path / "w.csv"
    max_autotune.main(["--write-workloads", str(path), "--device", "cuda", "--rows", "52", "1"])
    everything = read_workloads(get_workloads() / "gpu.csv")
    assert read_workloads(path) == [everything[51], everything[0]]


@pytest.mark.usefixtures("without_inductor")
def test_a_run_from_start_to_end(given: list[str], tmp_path: Path) -> None:
    max_autotune.main(given)
    rows, facts = read_record(str(tmp_path / "record")) or ([], {})
    assert [row["suite"] for row in rows] == ["odd", "even"], "float32 is not chosen"
    assert [row["solution"] for row in rows] == ["Gemm_OneDnn", "(no result)"]
    assert list(rows[0]) == list(COLUMNS)
    assert all(float(row["max_autotune_ratio"]) > 0 for row in rows)
    assert (facts["failed"], facts["summary"]["compile_s"]) == ([], 3.0)


@pytest.mark.usefixtures("without_inductor")
def test_rows_that_would_begin_too_late_are_named(given: list[str], tmp_path: Path) -> None:
    with pytest.raises(
        SystemExit, match=r"2 rows failed:\nmm .*: not begun, since the time was up"
    ):
        max_autotune.main([*given, "--limit", "0"])
    assert read_record(str(tmp_path / "record")) is None


def test_what_inductor_computes_wrongly_is_no_row(
    given: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = Compiled(lambda *tensors: calls_of(MM)[0](*tensors) * 1.1, 1.0, "")
    monkeypatch.setattr(measure_inductor, "compile_product", lambda workload, operands: wrong)
    with pytest.raises(SystemExit, match="no-cudagraphs is wrong: relative error"):
        max_autotune.main([*given, "--rows", "1"])


def test_on_a_gpu_each_side_is_a_graph_and_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_cuda.install(monkeypatch)
    measure_cuda.measuring_stream.cache_clear()
    monkeypatch.setattr(_C, "cache_bytes", lambda device: fake_cuda.CACHE_BYTES)
    torch.set_grad_enabled(False)
    captured: list[object] = []

    def side(call: Call, *rest: Any) -> GraphSide:
        captured.append(call)
        return GraphSide(call, *rest)

    def compile_by(call: Call) -> None:
        compiled = Compiled(call, 1.0, "some kernel")
        monkeypatch.setattr(
            measure_inductor, "compile_product", lambda workload, operands: compiled
        )

    monkeypatch.setattr(measure_inductor, "GraphSide", side)
    right = lambda a, b: torch.mm(a, b)  # noqa: E731
    compile_by(right)
    row = measure_inductor.measure_on_gpu(MM, CPU, 0.01)
    assert captured == [*calls_of(MM), right]
    assert set(row) == set(COLUMNS) - {"problem", "suite"}
    compile_by(lambda a, b: torch.mm(a, b) * 1.1)
    with pytest.raises(WrongResult, match="no-cudagraphs is wrong: relative error"):
        measure_inductor.measure_on_gpu(MM, CPU, 0.01)


@pytest.mark.slow
def test_inductor_compiles_torchs_function(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in CACHES:
        monkeypatch.setenv(name, "mine")
    torch.set_grad_enabled(False)
    linear = Workload("", "linear", "float32", "nt", 1, 32, 64, 48)
    with inductor_side.empty_caches():
        folder = Path(os.environ["TORCHINDUCTOR_CACHE_DIR"])
        for workload, kernel in ((MM, "mm"), (linear, "addmm")):
            operands = workload.operands("cpu", random=True)
            compiled = compile_product(workload, operands)
            assert kernel in compiled.kernels
            assert compiled.seconds > 0
            expected = calls_of(workload)[0](*operands)
            assert torch.allclose(compiled.call(*operands), expected, rtol=1e-2, atol=1e-1)
        assert any(folder.iterdir())
    assert not folder.exists()
    assert [os.environ.get(name) for name in CACHES] == ["mine", "mine"]
