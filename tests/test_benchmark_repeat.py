"""`benchmarks/repeat.py`: its arithmetic, and small runs of it on the CPU."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
import repeat
import side_by_side
import tuning_runs
from conftest import CPU, QUICK
from record import read_record
from repeat_report import COLUMNS, print_repeats, row_of, sentences, summary_of
from side_by_side import SideBySide
from sides import key_on
from tunedops import _C
from tunedops.workloads import read_workloads

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


@pytest.fixture
def differing(
    workloads: Path, monkeypatch: pytest.MonkeyPatch, write_results: Callable[..., str]
) -> Path:
    """Workloads whose first product has three winners; the first one takes a tenth longer."""
    mm, linear = (key_on(workload, CPU) for workload in read_workloads(workloads))
    assert mm is not None
    assert linear is not None
    winners = iter(["Default", "Gemm_OneDnn", "Gemm_OneDnn"])

    def tune(path: Path, device: object, folder: Path, settings: object, label: str) -> None:
        rows = [",".join([*mm, next(winners)]), ",".join([*linear, "Default"])]
        folder.mkdir()
        (folder / tuning_runs.RESULTS).write_text(write_results(*rows))

    def time(workload: object, solutions: list[str], seconds: float) -> list[list[float]]:
        assert solutions == ["Default", "Gemm_OneDnn"]
        return [[2.2e-6, 2e-6]] * 11

    monkeypatch.setattr(tuning_runs, "tune", tune)
    monkeypatch.setattr(side_by_side.measure_cpu, "time_solutions", time)
    return workloads


def test_the_difference_is_between_winners() -> None:
    row = row_of(Counter({"A": 1, "B": 4}), TIMED)
    assert row["difference"] == pytest.approx(0.1), "not 0.5, which is Default's"
    assert (row["winners"], row["agreeing"], row["rounds"]) == (2, 4, 11)
    times = [row[name] for name in ("default_us", "fastest_us", "slowest_us")]
    assert times == pytest.approx([3, 2, 2.2])
    assert row["solutions"] == "4xB 1xA"
    assert {"problem", "suite", *row} == set(COLUMNS)
    row = row_of(Counter({"A": 1, "Default": 1}), TIMED)
    assert row["difference"] == pytest.approx(3 / 2.2 - 1)


def test_what_won_every_time_has_no_difference() -> None:
    row = row_of(Counter({"A": 5}), None)
    assert (row["winners"], row["agreeing"], row["difference"]) == (1, 5, 0)
    assert row["solutions"] == "5xA"
    assert {"problem", "suite", *row} == set(COLUMNS)


def test_what_the_rows_say_together(capsys: pytest.CaptureFixture[str]) -> None:
    counts = [Counter({"A": 5}), Counter({"A": 2, "B": 3})]
    rows = [
        {"problem": f"mm {number}", **row_of(winners, TIMED if len(winners) > 1 else None)}
        for number, winners in enumerate(counts)
    ]
    summary = summary_of(rows, 5)
    assert sentences(summary) == [
        "1 of 2 products have several winners in 5 runs; 2 of 10 choices are not their product's "
        "most frequent",
        "winners of a product differ by 10.00% at most (mm 1)",
    ]
    print_repeats(rows, "[a] device")
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert "mm 1 10.00% 3.00 2.00 2.20 3xB" in lines
    assert not any(line.startswith("mm 0") for line in lines)
    print_repeats(rows[:1], "title")
    assert capsys.readouterr().out == ""
    assert len(sentences(summary_of(rows[:1], 5))) == 1


def test_times_and_limit_are_checked() -> None:
    arguments = repeat.parse_arguments([])
    assert (arguments.times, arguments.limit, arguments.device) == (5, 2.0, CPU)
    for wrong in (["--times", "1"], ["--limit", "0"], ["--limit", "-1"], ["--limit", "nan"]):
        with pytest.raises(SystemExit):
            repeat.parse_arguments(wrong)


@pytest.mark.parametrize("limit", ["2.0", "11"])
def test_a_large_difference_is_an_error(
    differing: Path, limit: str, capsys: pytest.CaptureFixture[str]
) -> None:
    record = str(differing.parent / "record")
    command = [f"--workloads={differing}", "--times=3", f"--limit={limit}", f"--record={record}"]
    if limit == "2.0":
        with pytest.raises(SystemExit, match=r"winners of a product differ by 2\.0 % or more"):
            repeat.main(command)
    else:
        repeat.main(command)
    rows, facts = read_record(record) or ([], {})
    solutions = [row["solutions"] for row in rows]
    assert solutions == ["2xGemm_OneDnn 1xDefault", "3xDefault"]
    assert float(rows[0]["difference"]) == pytest.approx(0.1)
    assert rows[1]["default_us"] == "", "not timed"
    assert facts["summary"]["products_with_several_winners"] == 1
    assert "1 of 2 products have several winners in 3 runs" in capsys.readouterr().out


def test_a_run_from_start_to_end(
    workloads: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    limits = [f"--setting={name}={text}" for name, text in QUICK.items()]
    record = str(tmp_path / "record")
    given = [f"--workloads={workloads}", "--times=2", "--seconds=0.01", "--limit=1e9"]
    repeat.main([*given, *limits, f"--record={record}"])
    rows, facts = read_record(record) or ([], {})
    assert len(rows) == 2
    for row in rows:
        assert int(row["winners"]) in (1, 2)
        assert int(row["agreeing"]) == 3 - int(row["winners"])
        assert float(row["difference"]) >= 0
    assert (facts["summary"]["choices"], facts["failed"]) == (4, [])
    out = capsys.readouterr().out
    assert "run 2: tuned 2 of 2 products in " in out
    assert "products have several winners in 2 runs" in out
