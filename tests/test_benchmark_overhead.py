"""`benchmarks/overhead.py`: what it compares, and that each process runs what it is said to."""

from __future__ import annotations

import argparse
import dataclasses
import functools
import re
from pathlib import Path

import options
import overhead
import overhead_check
import overhead_parts
import overhead_report
import overhead_rows
import pytest
import torch
from overhead_check import Wrong
from overhead_loops import Call, PythonLoop, calls_of
from overhead_parts import OUR_CALLS, TORCH_CALLS
from overhead_plan import ABSENT, ENABLED, IMPORTED, Cell, Product, Side, Task
from overhead_results import write_results
from overhead_sides import Child, started
from progress import counted
from record import read_record
from tunedops import _C

PRODUCT = Product("float32", 4, 4, 4, variants=5)


def task_of(folder: Path, side: Side, *calls: str, device: str = "cpu", **changes: int) -> Task:
    """A task with a cell for each call, its results file not written yet."""
    cells = tuple(Cell(side, call, PRODUCT) for call in calls)
    results, trace = str(folder / "given.csv"), str(folder / "trace")
    task = Task(device, side, cells, 4, 2, None, results, trace, "")
    return dataclasses.replace(task, **changes)


def arguments(part: str) -> argparse.Namespace:
    """As they are parsed, for as little work as possible."""
    return argparse.Namespace(
        part=part, threads=part == "threads", device="cpu", rounds=2, calls=6, results=9
    )


# ---- what is compared


def test_variants_are_different_problems_of_one_size() -> None:
    operands = PRODUCT.operands("cpu")
    keys = {_C.key_of(x, weight.t()) for x, weight, _ in operands}
    assert len(operands) == len(keys) == 5
    assert {(x.shape, weight.shape) for x, weight, _ in operands} == {((4, 4), (4, 4))}
    assert operands[0][0].is_contiguous()


def test_a_gpu_is_asked_for_every_kind_of_plan() -> None:
    groups = overhead_parts.eager_calls("cuda:1")
    assert [str(group[0].product) for group in groups] == [
        "bfloat16 16x64x64",
        "bfloat16 1x4096x4096",
    ]
    for group in groups:
        assert (group[0].side.state, group[0].call) == (ABSENT, "torch.mm")
        kernels = {cell.side.kernel for cell in group if cell.side.state == ENABLED}
        assert kernels == {"Default", "Gemm_Cublaslt", "Gemm_Skinny"}
        assert len(group) == 2 * len(TORCH_CALLS) + 3 * len(TORCH_CALLS + OUR_CALLS)


def test_a_gpu_is_waited_for_between_batches_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    events: list[str] = []
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: events.append("wait"))
    monkeypatch.setattr(torch, "mm", lambda x, weight: events.append("call"))
    task = task_of(tmp_path, Side(ABSENT), "torch.mm", device="cuda:0")
    call = Call("torch.mm", PRODUCT.operands("cpu"))
    assert PythonLoop(task.cells[0], call, task).seconds() > 0
    assert events == ["call", "call", "wait"] * 4, "twice: the first time does not count"


def test_a_task_travels_as_text(tmp_path: Path) -> None:
    task = task_of(tmp_path, Side(ENABLED, "Default", 5), "torch.mm", core=1)
    assert Task.from_json(task.to_json()) == task


def test_rows_compare_within_a_round() -> None:
    side = Side(ENABLED, "Default")
    group = [Cell(Side(ABSENT), "torch.mm", PRODUCT), Cell(side, "tunedops.mm", PRODUCT)]
    about = {cell: {"solution": cell.side.kernel, "results": 1} for cell in group}
    rounds = [(1e-6, 1.1e-6), (2e-6, 2.2e-6), (3e-6, 3.3e-6)]
    row = overhead_rows.eager_rows(group, rounds, about)[1]
    assert (row["us"], row["solution"], row["rounds"]) == (pytest.approx(2.2), "Default", 3)
    assert row["of_torch_mm"] == row["of_same_call"] == pytest.approx(1.1)
    assert overhead_rows.lookup_rows(group, rounds, about)[1]["price_ns"] == pytest.approx(200)
    many = [dataclasses.replace(cell, threads=4) for cell in group]
    about = dict(zip(many, about.values(), strict=True))
    row = overhead_rows.thread_rows(many, rounds, about)[1]
    assert row["calls_per_second"] == pytest.approx(4 / 2.2e-6, rel=1e-5)
    assert row["of_never_enabled"] == pytest.approx(1.1)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--device", "tpu"], "--device tpu: "),
        (["--rounds", "1"], "--rounds and --results are 2 at least"),
        (["--calls", "0"], "--calls 1"),
    ],
)
def test_what_cannot_be_done_is_said(
    given: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        overhead.parse_arguments(given)
    assert message in capsys.readouterr().err


def test_each_question_has_its_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(options, "parse_device", lambda name: (name.partition(":")[0], 1))
    parse = overhead.parse_arguments
    assert (parse([]).part, parse([]).device, parse([]).calls) == ("lookup", "cpu", 10_000)
    assert (parse(["--threads"]).part, parse(["--threads"]).calls) == ("threads", 50_000)
    assert (parse(["--small"]).part, parse(["--small"]).calls) == ("small", 10_000)
    gpu = parse(["--device", "cuda:1", "--rounds", "7"])
    assert (gpu.part, gpu.device, gpu.calls, gpu.rounds) == ("eager", "cuda:1", 1_000, 7)
    for question in (["--threads", "--device", "cuda"], ["--small", "--device", "cuda"]):
        with pytest.raises(SystemExit):
            parse(question)
    with pytest.raises(SystemExit):
        parse(["--threads", "--small"])


# ---- whether a process is what it is said to be


def checked(task: Task, results_of: str) -> dict[str, object]:
    """What the check finds in this process, whose file names the kernel `results_of`."""
    torch.set_num_threads(1)
    side = dataclasses.replace(task.side, kernel=results_of)
    write_results(Path(task.results), task.device, side, task.cells)
    overhead_check.enter(task)
    return overhead_check.check(task, calls_of(task)[0])


@pytest.mark.parametrize("call", ["torch.mm", "F.linear + bias", *OUR_CALLS])
@pytest.mark.parametrize("kernel", ["Default", "Gemm_CpuSkinny"])
def test_a_call_that_takes_its_result_is_right(tmp_path: Path, call: str, kernel: str) -> None:
    found = checked(task_of(tmp_path, Side(ENABLED, kernel, 3), call), kernel)
    assert found["results"] == 3
    assert str(found["solution"]).startswith(kernel)


@pytest.mark.parametrize(
    ("claimed", "actual", "message"),
    [
        ("Gemm_CpuSkinny", "Default", "threads_1: from the file, a plan of ours' and so on"),
        ("Default", "Gemm_CpuSkinny", "threads_1: from the file, Default' and so on"),
        ("Gemm_OneDnn", "Gemm_CpuSkinny", "expected Gemm_OneDnn, got {'Gemm_CpuSkinny_"),
    ],
)
def test_another_kernel_is_found_out(
    tmp_path: Path, claimed: str, actual: str, message: str
) -> None:
    with pytest.raises(Wrong, match=message):
        checked(task_of(tmp_path, Side(ENABLED, claimed), "torch.mm"), actual)


def test_a_solution_that_cannot_be_used_is_found_out(tmp_path: Path) -> None:
    torch.set_num_threads(1)
    task = task_of(tmp_path, Side(ENABLED, "Default"), "torch.mm")
    write_results(Path(task.results), "cpu", task.side, task.cells)
    text = Path(task.results).read_text()
    Path(task.results).write_text(text.replace("Default", "Gemm_CpuSkinny_rows_99_threads_1"))
    overhead_check.enter(task)
    with pytest.raises(Wrong, match="cannot be used and means Default"):
        overhead_check.check(task, calls_of(task)[0])


def test_a_call_without_a_result_is_found_out(tmp_path: Path) -> None:
    task = task_of(tmp_path, Side(ENABLED, "Default", 2), "torch.mm")
    write_results(Path(task.results), "cpu", Side(ENABLED, "Default", 1), task.cells)
    torch.set_num_threads(1)
    overhead_check.enter(task)
    with pytest.raises(RuntimeError, match="no result is stored for"):
        overhead_check.check(task, calls_of(task)[0])


def test_tunedops_is_found_out_where_it_should_not_be(tmp_path: Path) -> None:
    with pytest.raises(Wrong, match="at work where it is 'never enabled'"):
        checked(task_of(tmp_path, Side(ABSENT), "torch.mm"), "Default")


def test_a_process_that_is_not_what_it_should_be_ends_the_measurement(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    task = task_of(tmp_path, Side(ENABLED, "Default"), "torch.mm")
    with pytest.raises(RuntimeError, match="the process 'enabled, Default, 1 variants' ended"):
        with started([task]) as children:
            children[task.side].answer()
    assert "no result is stored for" in capfd.readouterr().err


def test_a_long_run_says_how_far_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    clock = iter(range(0, 1000, 4))  # seconds: it is looked at once or twice a round
    assert list(counted(6, "rounds", now=lambda: float(next(clock)), every=7)) == [*range(6)]
    out, err = capsys.readouterr()
    assert out == ""
    assert re.fullmatch(r"(\d of 6 rounds, \d+ s\n)+", err)
    assert "6 of 6" not in err, "the table follows at once"
    assert list(counted(6, "rounds", now=lambda: 0.0)) == [*range(6)]
    assert capsys.readouterr().err == ""


def test_a_decision_while_it_is_timed_is_found_out(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    torch.set_num_threads(1)
    task = task_of(tmp_path, Side(ENABLED, "Default"), "torch.mm")
    write_results(Path(task.results), "cpu", task.side, task.cells)
    child = Child(task)
    child.answer()
    assert child.seconds(task.cells[0]) > 0
    with open(task.trace, "a") as trace:
        trace.write("another decision\n")
    with pytest.raises(RuntimeError, match="ended with 1"):
        child.finish()
    assert "calls were timed that had not been met before" in capfd.readouterr().err


# ---- from start to end


@pytest.mark.slow
def test_lookups_from_start_to_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    few = functools.partial(overhead_parts.lookups, types=("float32",))
    monkeypatch.setattr(overhead_parts, "lookups", few)
    name = str(tmp_path / "here" / "record")
    overhead.main(["--rounds", "2", "--calls", "6", "--results", "9", "--record", name])
    rows, facts = read_record(name) or ([], {})
    expected = []
    for call, one in (("at::mm", ["at::mm"]), ("torch.mm", ["torch.mm", "tunedops.mm"])):
        torchs = [(call, ABSENT, "0"), (call, IMPORTED, "0")]
        ours = [(name, ENABLED, count) for name in one for count in ("1", "9")]
        expected += [(*row, "1") for row in torchs + ours]
        expected += [(*row, "9") for row in torchs + [row for row in ours if row[2] == "9"]]
    found = [(row["call"], row["state"], row["results"], row["called"]) for row in rows]
    assert found == expected
    assert all(float(row["ns"]) > 0 for row in rows)
    assert (facts["part"], facts["threads"], facts["calls"]) == ("lookup", 1, 6)
    said = capfd.readouterr()
    lines = [line for line in said.err.splitlines() if not re.match(r"\d of 2 rounds, ", line)]
    build, start = lines
    assert build == "the loops in C++ are built, unless they are there"
    assert re.match(r"\d+ processes start and make their first calls, then come 2 rounds; ", start)
    assert "float32 4x4x4 tunedops.mm, in turn" in said.out
    assert "in turn: 9 products" in said.out


@pytest.mark.slow
def test_threads_from_start_to_end(capsys: pytest.CaptureFixture[str]) -> None:
    torch.set_num_threads(1)
    rows = overhead.measure(arguments("threads"), overhead_parts.threads(9, counts=(1, 2)))
    own = "Gemm_CpuSkinny_rows_8_prefetch_1_threads_1"
    sides = [("", 0), ("Default", 1), ("Default", 9), (own, 1), (own, 9)]
    assert [(row["threads"], row["solution"], row["results"]) for row in rows] == [
        (count, *side) for count in (1, 2) for side in sides
    ]
    overhead_report.print_threads(rows)
    assert "Gemm_CpuSkinny, 9 results" in capsys.readouterr().out


@pytest.mark.slow
def test_eager_calls_from_start_to_end(capsys: pytest.CaptureFixture[str]) -> None:
    torch.set_num_threads(1)
    product = Product("bfloat16", 16, 64, 64)
    rows = overhead.measure(arguments("eager"), overhead_parts.eager_calls("cpu", [product]))
    kernels: dict[str, set[str]] = {}
    for row in rows:
        kernels.setdefault(overhead_report.kernel_of(row), set()).add(row["call"])
    torchs, ours = set(TORCH_CALLS), {*TORCH_CALLS, *OUR_CALLS}
    assert kernels == {
        ABSENT: torchs,
        IMPORTED: torchs,
        "Default": ours,
        "Gemm_CpuSkinny": ours,
        "Gemm_CpuTiled": ours,
    }
    assert all(row["us"] > 0 and row["of_same_call"] > 0 for row in rows)
    overhead_report.print_small(rows)
    said = capsys.readouterr().out
    assert "tunedops.linear + bias" in said
    assert "tunedops.mm, bfloat16 16x64x64: " in said
    assert "aim 0.5x at most" in said
