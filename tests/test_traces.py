"""A profile of a program tells which problems it has, those of this package by name."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
import torch
import tunedops
from command_line import Run, runner
from conftest import RunPython
from make_trace import FOLDER, training_step
from recorded_keys import recorded
from torch import randn
from torch.profiler import ProfilerActivity, profile
from tunedops import bound_args_from_json
from tunedops.traces import TraceReport, read_trace

# torch says so whenever its switches for oneDNN are used.
pytestmark = pytest.mark.filterwarnings("ignore:TF32 acceleration on top of oneDNN")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("COLUMNS", "200")
    return runner(capsys)


def keys_of(report: TraceReport) -> dict[tuple[str, str], int]:
    return {problem.bound.key: problem.count for problem in report.problems}


class Written:
    """A trace that is written by hand, as torch.profiler would on an H200. It is synthetic."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "synthetic.json"
        self.events: list[dict[str, Any]] = []

    def op(self, name: str, begin: float, length: float, tid: int = 1, **args: Any) -> None:
        self.add(
            "cpu_op", name, begin, length, tid, {k.replace("_", " "): v for k, v in args.items()}
        )

    def add(
        self, cat: str, name: str, begin: float, length: float, tid: int, args: dict[str, Any]
    ) -> None:
        self.events.append(
            {"ph": "X", "cat": cat, "name": name, "pid": 7, "tid": tid, "ts": begin, "dur": length}
            | {"args": args}
        )

    def kernel(self, launched: float, length: float, tid: int = 1, device: int = 0) -> None:
        correlation = len(self.events)
        args = {"correlation": correlation}
        self.add("cuda_runtime", "cudaLaunchKernel", launched, 1, tid, args)
        args = args | {"device": device}
        self.add("kernel", "nvjet_tst", launched + 500, length, 90, args)

    def read(self, **keywords: Any) -> TraceReport:
        self.path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": self.events}))
        return read_trace(self.path, **keywords)


@pytest.fixture
def written(tmp_path: Path) -> Written:
    return Written(tmp_path)


MM = {
    "Input_Dims": [[8, 64], [64, 16]],
    "Input_type": ["c10::BFloat16", "c10::BFloat16"],
    "Input_Strides": [[64, 1], [1, 64]],
    "Concrete_Inputs": ["", ""],
}
CPU_TRACE = FOLDER / "training_step_cpu.json.gz"
MM_KEY = ("GemmTunableOp_BFloat16_TN", "tn_16_8_64_ld_64_64_16")


def test_the_trace_of_a_program_that_does_not_know_us(tmp_path: Path) -> None:
    report = read_trace(CPU_TRACE)
    assert sorted(keys_of(report)) == sorted(recorded(tmp_path, lambda: training_step("cpu")))
    assert not any(problem.is_exact for problem in report.problems)
    assert 0 < sum(problem.share for problem in report.problems) < 1
    times = [problem.time_us for problem in report.problems]
    assert times == sorted(times, reverse=True)
    assert [note.partition(":")[0] for note in report.notes] == [
        "the size of torch's thread pool is not recorded",
        "torch's precision flags are not recorded",
    ]


def test_under_autocast_products_are_of_its_type(tmp_path: Path) -> None:
    """It calls an op anew, with operands of its own type; that is the product which runs."""
    layer = torch.nn.Linear(16, 24)
    x = randn(5, 16)

    def step() -> None:
        with torch.autocast("cpu", torch.bfloat16):
            layer(layer(x)[:, :16]).square().mean().backward()

    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as profiler:
        step()
    profiler.export_chrome_trace(str(tmp_path / "trace.json"))
    keys = set(keys_of(read_trace(tmp_path / "trace.json")))
    assert keys == set(recorded(tmp_path, step))
    assert {op.split("_")[1] for op, _ in keys} == {"BFloat16"}


def test_the_trace_of_a_gpu() -> None:
    """Of an H200: layers and attention in bfloat16, forward and backward, timed by kernels."""
    report = read_trace(FOLDER / "training_step_h200.json.gz")
    assert len(report.problems) == 14
    assert {problem.bound.device.type for problem in report.problems} == {"cuda"}
    keys = keys_of(report)
    assert ("GemmAndBiasTunableOp_BFloat16_TN", "tn_756_600_252_ld_252_252_756") in keys
    assert ("GemmTunableOp_BFloat16_NT", "nt_252_756_600_ld_252_756_252") in keys, "a gradient"
    assert ("GemmStridedBatchedTunableOp_BFloat16_TN", "tn_300_300_63_B_8_ld_63_63_300") in keys
    assert 0.4 < sum(problem.share for problem in report.problems) < 0.6
    assert all(1 < problem.time_us < 100 for problem in report.problems), "kernels, not calls"
    assert [note.partition(":")[0] for note in report.notes] == [
        "addresses are not recorded",
        "torch's precision flags are not recorded",
    ]


@pytest.mark.parametrize("has_shapes", [True, False])
def test_our_products_are_named(has_shapes: bool, tmp_path: Path) -> None:
    def step() -> None:
        training_step("cpu")
        tunedops.linear(randn(3, 5), randn(4, 5), None, "gelu")
        tunedops.mm(randn(3, 5, dtype=torch.complex64).conj(), randn(5, 2, dtype=torch.complex64))
        torch.addmm(randn(2), randn(3, 5), randn(5, 2), out=torch.empty(3, 4)[:, :2])
        torch.empty(3, 2).addmm_(randn(3, 5), randn(5, 2), beta=0.5)
        torch.mv(randn(3, 5), randn(5))
        torch.baddbmm(randn(2), randn(4, 3, 5), randn(4, 5, 2))
        with torch.backends.mkldnn.flags(enabled=False):
            torch.mm(randn(3, 5), randn(5, 7))
        torch.set_num_threads(1)
        torch.mm(randn(3, 5), randn(5, 7))
        torch.set_num_threads(2)
        x = randn(3, 5, requires_grad=True)
        tunedops.linear(x, randn(6, 5), randn(6), "relu").backward(randn(3, 6))

    wanted = recorded(tmp_path, step)
    with profile(activities=[ProfilerActivity.CPU], record_shapes=has_shapes) as profiler:
        step()
    path = tmp_path / "trace.json"
    profiler.export_chrome_trace(str(path))
    report = read_trace(path)
    assert sorted(keys_of(report)) == sorted(wanted)
    assert all(problem.is_exact for problem in report.problems)
    assert report.notes == []


def test_from_outside_and_compressed(run_python: RunPython, tmp_path: Path) -> None:
    run_python(
        """
        from make_trace import training_step
        from torch.profiler import ProfilerActivity, profile
        assert tunedops.is_enabled()
        with profile(activities=[ProfilerActivity.CPU]) as profiler:
            training_step("cpu")
        profiler.export_chrome_trace("trace.json.gz")
        """,
        TUNEDOPS_ENABLED="1",
        TUNEDOPS_TUNING="0",
        TUNEDOPS_RECORD_UNTUNED="1",
    )
    lines = (tmp_path / "tunedops_untuned_cpu.csv").read_text().splitlines()
    report = read_trace(tmp_path / "trace.json.gz")
    assert sorted(",".join(key) for key in keys_of(report)) == sorted(lines)


def test_with_enabled_off_our_ops_are_named_once(tmp_path: Path) -> None:
    x, w = randn(3, 5), randn(4, 5)
    with profile(activities=[ProfilerActivity.CPU]) as profiler:
        for _ in range(3):
            tunedops.linear(x, w, None, "relu")
    path = tmp_path / "trace.json"
    profiler.export_chrome_trace(str(path))
    assert keys_of(read_trace(path)) == {tunedops.linear.bind(x, w, None, "relu").key: 3}


def test_names_of_problems_stand_in_the_profiler_s_table() -> None:
    x, w = randn(3, 5), randn(4, 5)
    with profile(activities=[ProfilerActivity.CPU]) as profiler:
        tunedops.linear(x, w)
    bound = tunedops.linear.bind(x, w)
    names = {event.key for event in profiler.key_averages()}
    assert f"tunedops::problem cpu,{','.join(bound.key)}" in names


def test_time_is_that_of_the_kernels_that_a_product_launched(written: Written) -> None:
    written.op("aten::linear", 0, 100)
    written.op("aten::mm", 10, 50, **MM)
    written.kernel(20, 3)
    written.kernel(30, 4)  # a second one, of split-K
    written.op("aten::relu", 120, 20)
    written.kernel(125, 13)
    written.op("aten::mm", 200, 50, tid=2, **MM)  # as autograd's thread
    written.kernel(210, 5, tid=2)
    written.kernel(215, 25, tid=1)  # meanwhile, of nobody's op
    report = written.read()
    (problem,) = report.problems
    assert problem.bound.key == MM_KEY
    assert problem.bound.device == torch.device("cuda:0")
    assert (problem.count, problem.time_us) == (2, 12)
    assert problem.share == pytest.approx(12 / 50)
    assert [note.partition(":")[0] for note in report.notes] == [
        "addresses are not recorded",
        "torch's precision flags are not recorded",
    ]
    assert all(note.endswith("(2 calls)") for note in report.notes)


def test_a_kernel_without_its_launch_names_its_op(written: Written) -> None:
    written.op("aten::mm", 10, 50, **MM)
    written.events[-1]["args"]["External id"] = 17
    written.add("kernel", "nvjet_tst", 600, 4, 90, {"device": 1, "External id": 17})
    written.add("kernel", "nvjet_tst", 700, 4, 90, {"device": 1})
    (problem,) = written.read().problems
    assert str(problem.bound.device) == "cuda:1"
    assert (problem.time_us, problem.share) == (4, 0.5)


def test_each_gpu_has_its_own_problems(written: Written) -> None:
    for device in (0, 3):
        written.op("aten::mm", 100 * device, 50, **MM)
        written.kernel(100 * device + 10, 5, device=device)
    places = {str(problem.bound.device) for problem in written.read().problems}
    assert places == {"cuda:0", "cuda:3"}


def test_an_op_without_kernels_is_where_one_says(written: Written) -> None:
    written.op("aten::mm", 10, 50, **MM)
    assert written.read().problems[0].bound.device.type == "cpu"
    (problem,) = written.read(device="cuda:1").problems
    assert problem.bound == tunedops.BoundArguments.from_key(*MM_KEY, "cuda:1")
    assert problem.time_us == 50


def test_nested_products_count_once(written: Written) -> None:
    written.op("aten::einsum", 0, 90)
    written.op(
        "aten::bmm", 10, 50, **MM | {"Input_Dims": [[3, 8, 64], [3, 64, 16]], "Input_Strides": []}
    )
    written.op("aten::mm", 20, 10, **MM)  # one matrix of the batch
    written.op("aten::mm", 35, 10, **MM)
    (problem,) = written.read().problems
    assert problem.bound.op == "bmm"
    assert problem.count == 1


def test_mv_overwrites_what_addmv_adds_to(written: Written) -> None:
    addmv = {
        "Input_Dims": [[8], [8, 64], [64], [], []],
        "Input_type": ["float", "float", "float", "Scalar", "Scalar"],
        "Input_Strides": [[1], [64, 1], [1], [], []],
    }
    written.op("aten::mv", 0, 50)
    written.op("aten::addmv_", 10, 20, **addmv)
    report = written.read(device="cuda")
    assert keys_of(report) == {("GemmTunableOp_float_TT", "tt_8_1_64_ld_64_1_8"): 1}
    assert not any("alpha" in note for note in report.notes)


def test_a_named_problem_is_preferred_to_shapes(written: Written) -> None:
    written.op("aten::mm", 0, 50, **MM)
    written.op(
        "tunedops::problem cuda:0,GemmTunableOp_BFloat16_TN,tn_16_8_64_ld_64_64_16_det", 5, 40
    )
    written.op("aten::mm", 100, 50, **MM)
    written.op(f"tunedops::problem cuda:0,{','.join(MM_KEY)}_from_the_future", 105, 40)
    report = written.read()
    (problem,) = report.problems
    assert problem.bound.key == (MM_KEY[0], MM_KEY[1] + "_det")
    assert problem.time_us == 50
    assert report.notes == [
        "the trace names a problem that this release does not know: left out (1 call)"
    ]


def test_what_is_assumed_is_said_and_counted(written: Written) -> None:
    addmm = {
        "Input_Dims": [[16], [8, 64], [64, 16], [], []],
        "Input_type": ["float", "float", "float", "Scalar", "Scalar"],
    }
    written.op("aten::addmm", 0, 10, **addmm)
    written.op("aten::addmm", 20, 10, **addmm, Concrete_Inputs=["", "", "", "1", "0.5"])
    complex_mm = MM | {"Input_type": ["c10::complex<float>"] * 2}
    written.op("aten::mm", 40, 10, **complex_mm)
    report = written.read(device="cuda")
    assert set(keys_of(report)) == {
        ("GemmAndBiasTunableOp_float_NN", "nn_16_8_64_ld_16_64_16"),
        ("GemmAndBiasTunableOp_float_NN", "nn_16_8_64_ld_16_64_16_alpha_any"),
        ("GemmTunableOp_c10::complex<float>_TN", "tn_16_8_64_ld_64_64_16"),
    }
    assert {(note.partition(":")[0], note.rpartition("(")[2]) for note in report.notes} == {
        ("addresses are not recorded", "3 calls)"),
        ("alpha and beta are not recorded", "1 call)"),
        ("strides are not recorded", "2 calls)"),
        ("torch's precision flags are not recorded", "3 calls)"),
        ("whether operands are conjugated is not recorded", "1 call)"),
    }


def test_forms_with_an_output_type(written: Written) -> None:
    dtype = MM | {
        "Input_Dims": [*MM["Input_Dims"], []],
        "Input_type": [*MM["Input_type"], "Scalar"],
        "Input_Strides": [*MM["Input_Strides"], []],
        "Concrete_Inputs": ["", "", "6"],
    }
    written.op("aten::mm", 0, 10, **dtype)
    (problem,) = written.read(device="cuda").problems
    assert problem.bound.key == (MM_KEY[0], MM_KEY[1] + "_out_float")


def test_what_cannot_be_tuned_is_counted(written: Written) -> None:
    written.op("aten::mm", 0, 10, **MM)
    written.op("aten::mm", 20, 10, **MM | {"Input_type": ["int", "int"]})
    written.op("aten::mm", 40, 10, **MM | {"Input_Dims": [[0, 64], [64, 16]]})
    written.op("aten::mm", 60, 10, **MM | {"Input_Dims": "nonsense"})
    written.op("aten::mm", 80, 10, **MM | {"Input_Dims": [["a"], None]})
    written.op("aten::mm", 100, 10)
    written.add("cuda_runtime", "cudaGraphLaunch", 120, 1, 1, {"correlation": 1})
    report = written.read(device="cuda")
    assert keys_of(report) == {MM_KEY: 1}
    assert report.notes[-3:] == [
        "no shapes are recorded: left out (2 calls)",
        "only torch's own kernel can compute it: left out (3 calls)",
        "what CUDA graphs hold is not told: left out (launches: 1)",
    ]


def test_files_that_are_no_traces(tmp_path: Path, written: Written, run: Run) -> None:
    whole = CPU_TRACE.read_bytes()
    text = gzip.decompress(whole)
    empty = json.dumps({"traceEvents": []}).encode()
    for content, words in (
        (whole[: len(whole) // 2], "expected a gzip file, got a broken one"),
        (b"\x1f\x8bnonsense", "expected a gzip file, got a broken one"),
        (text[:1000], "expected a trace in JSON, got text that is none or is cut off"),
        (b"[1, 2]", "got JSON without 'traceEvents'"),
        (b"\x00\xff", "expected a trace in JSON"),
        (b"", "expected a trace in JSON"),
        (empty, "got one with none; profile with ProfilerActivity.CPU"),
    ):
        path = tmp_path / "bad.json"
        path.write_bytes(content)
        with pytest.raises(ValueError, match=words):
            read_trace(path)
        code, out, err = run("trace-to-bound-args", "--trace", str(path))
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert words in err
    code, _, err = run("trace-to-bound-args", "--trace", "none.json")
    assert (code, err) == (2, "tunedops: cannot read 'none.json': No such file or directory\n")
    written.op("aten::relu", 0, 10)
    with pytest.raises(ValueError, match="holds no product that can be tuned"):
        written.read()
    written.op("aten::mm", 20, 10)
    with pytest.raises(ValueError, match=r"without any \(1 call\); profile with record_shapes"):
        written.read()


def test_the_command_writes_a_list_that_tune_takes(tmp_path: Path, run: Run) -> None:
    output, results = str(tmp_path / "bound_args.json"), str(tmp_path / "tuned.csv")
    code, out, err = run("trace-to-bound-args", "--trace", str(CPU_TRACE), "-o", output)
    assert code == 0
    assert "14 products in 14 calls" in out
    assert out.endswith(f"bound arguments: {output}\n")
    assert err.count("\n") == 2
    bound = bound_args_from_json(output)
    assert [each.key for each in bound] == list(keys_of(read_trace(CPU_TRACE)))
    document = json.loads(Path(output).read_text())
    assert len(document["notes"]) == 2
    first = document["problems"][0]
    assert (first["count"], first["is_exact"]) == (1, False)
    assert first["time_us"] > 0
    assert 0 < first["share"] < 1
    code, out, err = run("tune", output, "-o", results)
    assert (code, err) == (0, "")
    assert "tuned 14 of 14 products" in out
    assert "addmm(input=float32[48], mat1=float32[12, 16]" in out
    tuned = {(result.op, result.params) for result in tunedops.get_results()}
    assert tuned == {each.key for each in bound}


def test_tune_refuses_a_broken_list_and_one_of_another_device(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "bound_args.json"
    path.write_text('{"format": ')
    code, _, err = run("tune", str(path))
    assert code == 2
    assert f"{path}: expected JSON, got text that is none" in err
    run("trace-to-bound-args", "--trace", str(CPU_TRACE), "-o", str(path), "--device", "cuda")
    code, _, err = run("tune", str(path))
    assert code == 2
    assert "holds no products of cpu; --device cuda tunes those that it holds" in err
    code, _, err = run(
        "trace-to-bound-args", "--trace", str(CPU_TRACE), "-o", str(tmp_path / "a" / "b")
    )
    assert code == 2
    assert "cannot write" in err
