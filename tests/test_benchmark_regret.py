"""`benchmarks/regret.py`: its arithmetic, and a small run of it on the CPU."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import regret
import tuning_runs
from conftest import CPU, QUICK
from record import read_record
from regret_report import columns_of, print_regrets, row_of, summary_of
from side_by_side import SideBySide
from sides import key_on
from tunedops import _C, get_workloads
from tunedops.workloads import read_workloads
from tuning_runs import Choice

WORKLOADS = """\
suite,op,dtype,layout,batch,m,n,k
few,mm,float32,nt,1,4,64,64
few,linear,float32,nt,1,4,64,96
"""
TIMED = SideBySide(["Default", "A", "B"], [[3e-6, 2.2e-6, 2e-6]] * 11)


@pytest.fixture
def workloads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    monkeypatch.setattr(_C, "cache_bytes", lambda device: 40_000)
    (tmp_path / "w.csv").write_text(WORKLOADS)
    return tmp_path / "w.csv"


def test_the_regret_is_over_the_best_that_any_budget_found() -> None:
    choices = {50: Choice("Default", 40.0), 100: Choice("A", 90.0), 200: Choice("B", None)}
    row = row_of(choices, TIMED)
    regrets = [row[f"regret_{budget}"] for budget in choices]
    assert regrets == pytest.approx([0.5, 0.1, 0])
    assert (row["best_solution"], row["default_us"]) == ("B", pytest.approx(3))
    assert row["best_us"] == pytest.approx(2)
    assert (row["solution_100"], row["tuning_ms_100"], row["rounds"]) == ("A", 90.0, 11)
    assert {"problem", "suite", *row} == set(columns_of([50, 100, 200]))


def test_torchs_kernel_is_among_the_best() -> None:
    timed = SideBySide(["Default", "A"], [[2e-6, 2.1e-6]] * 11)
    row = row_of({50: Choice("A", 1.0)}, timed)
    assert (row["best_solution"], row["regret_50"]) == ("Default", pytest.approx(0.05))


def test_what_the_rows_say_together(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        {"problem": f"mm {number}", "regret_50": regret, "tuning_ms_50": ms}
        for number, (regret, ms) in enumerate([(0.0, 30.0), (0.08, None), (0.01, 50.0)])
    ]
    summary = summary_of(rows, [50])
    assert summary == {
        "50": {
            "regret_median": 0.01,
            "regret_worst": 0.08,
            "tuning_ms_median": 40.0,
            "tuning_ms_longest": 50.0,
        }
    }
    print_regrets(rows, summary, "[a] device")
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == "regret: [a] device"
    for line in ("budget 50 ms", "mm 1 8.00%", "regret, median 1.00%", "regret, worst 8.00%"):
        assert line in lines
    assert "tuning a product, longest [ms] 50" in lines
    unknown = summary_of([{"regret_50": 0.0, "tuning_ms_50": None}], [50])
    assert unknown["50"]["tuning_ms_median"] is None


def test_budgets_are_whole_milliseconds(capsys: pytest.CaptureFixture[str]) -> None:
    assert regret.parse_arguments([]).budgets == [50, 100, 200, 400, 800, 20000]
    arguments = regret.parse_arguments(["--budgets", "100,50,50", "--setting", "A=b=c"])
    assert (arguments.budgets, arguments.setting) == ([50, 100], {"A": "b=c"})
    for text in ("", "50,", "0", "1.5", "-3"):
        with pytest.raises(SystemExit):
            regret.parse_arguments([f"--budgets={text}"])
        assert "expected whole milliseconds" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "count"), [("regret.csv", 12), ("repeat.csv", 20)])
def test_the_products_are_some_of_those_that_are_compared(name: str, count: int) -> None:
    chosen = read_workloads(get_workloads() / name)
    everything = read_workloads(get_workloads() / "gpu.csv")
    assert len(set(chosen)) == len(chosen) == count
    assert set(chosen) <= set(everything)


def test_a_run_from_start_to_end(
    workloads: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    limits = [f"--setting={name}={text}" for name, text in QUICK.items()]
    record = str(tmp_path / "here" / "record")
    given = [f"--workloads={workloads}", "--budgets=80,120", "--seconds=0.01"]
    regret.main([*given, *limits, f"--record={record}"])
    rows, facts = read_record(record) or ([], {})
    assert [row["problem"] for row in rows] == [
        "mm float32 nt 4x64x64",
        "linear float32 nt 4x64x96",
    ]
    for row in rows:
        # Both are compared with the best, and one of them may be it.
        assert float(row["regret_80"]) >= 0
        assert float(row["regret_120"]) >= 0
        assert float(row["tuning_ms_80"]) > 0
        assert row["solution_80"]
    assert list(facts["summary"]) == ["80", "120"]
    assert facts["failed"] == []
    assert facts["settings"] == QUICK
    out = capsys.readouterr().out
    assert "budget of 120 ms: tuned 2 of 2 products in " in out
    assert "regret, worst" in out


@pytest.mark.parametrize("is_linear_in_time", [True, False])
def test_no_result_is_default_and_none_of_any_budget_fails_alone(
    is_linear_in_time: bool,
    workloads: Path,
    monkeypatch: pytest.MonkeyPatch,
    write_results: Callable[..., str],
) -> None:
    mm, linear = (key_on(workload, CPU) for workload in read_workloads(workloads))
    assert mm is not None
    assert linear is not None
    budgets: list[str] = []

    def tune(path: Path, device: object, folder: Path, settings: dict[str, str], label: str):
        budgets.append(settings["MAX_TUNING_BUDGET_MS"])
        rows = [",".join([*mm, "Gemm_OneDnn"])]
        if is_linear_in_time and len(budgets) == 2:
            rows.append(",".join([*linear, "Gemm_OneDnn"]))
        folder.mkdir()
        (folder / tuning_runs.RESULTS).write_text(write_results(*rows))

    monkeypatch.setattr(tuning_runs, "tune", tune)
    record = str(workloads.parent / "record")
    command = [f"--workloads={workloads}", "--budgets=9,8", "--seconds=0.01", f"--record={record}"]
    if is_linear_in_time:
        regret.main(command)
    else:
        with pytest.raises(SystemExit, match=r"1 rows failed:\nlinear .*: no run has a result"):
            regret.main(command)
    assert budgets == ["8", "9"], "a process for each"
    rows, facts = read_record(record) or ([], {})
    assert rows[0]["tuning_ms_8"] == ""
    chosen = [(row["solution_8"], row["solution_9"]) for row in rows]
    assert chosen == [
        ("Gemm_OneDnn", "Gemm_OneDnn"),
        *([("Default", "Gemm_OneDnn")] if is_linear_in_time else []),
    ]
    assert len(facts["failed"]) == (0 if is_linear_in_time else 1)
