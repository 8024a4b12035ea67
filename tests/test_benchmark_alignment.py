"""`benchmarks/alignment.py`: its arithmetic, and a small run of it on the CPU."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import alignment
import pytest
import side_by_side
from alignment_report import COLUMNS, add_quotients, next_aligned, print_sizes, summary_of
from conftest import CPU
from record import read_record
from sides import key_on
from tunedops import _C
from tunedops.workloads import read_workloads

SMALL = ["--sizes", "16", "32", "--seconds", "0.01"]


def row(size: int, default_us: float, tuned_us: float) -> dict[str, Any]:
    name = f"mm bfloat16 nt {size}x{size}x{size}"
    times = {"default_us": default_us, "tuned_us": tuned_us}
    return {"problem": name, "layout": "nt", "size": size, **times}


def test_the_products_are_those_around_each_size() -> None:
    found = alignment.cubes(["nt", "tn"], [16, 24])
    sizes = [15, 16, 17, 24, 23, 25, 32]
    assert [(w.layout, w.m) for w in found] == [
        (layout, n) for layout in ("nt", "tn") for n in sizes
    ]
    assert {w.suite for w in found if w.m % 8} == {"unaligned"}
    assert {w.suite for w in found if w.m % 8 == 0} == {"aligned"}
    assert len(alignment.cubes(["nt"], alignment.SIZES)) == 4 * 10


def test_an_odd_size_is_held_against_the_best_of_the_next_aligned_one() -> None:
    assert [next_aligned(size) for size in (15, 16, 17)] == [16, 16, 24]
    rows = [row(15, 8, 5), row(16, 4, 4.5), row(17, 9, 6), row(24, 6, 5), row(33, 1, 1)]
    add_quotients(rows)
    assert [one["next_aligned_us"] for one in rows] == [4, None, 5, None, None]
    assert [one["tuned_quotient"] for one in rows[:3]] == pytest.approx([1.25, None, 1.2])
    assert [one["default_quotient"] for one in rows[:3]] == pytest.approx([2, None, 1.8])
    summary = summary_of(rows)
    assert (summary["products"], summary["within_the_aim"]) == (2, 2), "33 has no aligned one"
    assert (summary["worst"], summary["worst_problem"]) == (1.25, rows[0]["problem"])
    assert summary["torch_geomean"] == pytest.approx(3.6**0.5, abs=1e-4)
    assert summary_of(rows[1:2]) == {}


def test_a_size_that_failed_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [row(15, 8, 5), row(16, 4, 4.5)]
    add_quotients(rows)
    print_sizes(rows, summary_of(rows), [16], "[a] device")
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert "nt 16 8.00 5.00 4.00 4.50 - - 1.25 -" in lines


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--results", "r.csv", "--sizes", "20"], "--sizes [20]: expected multiples of 8"),
        ([], "one of the arguments --results --write-workloads is required"),
    ],
)
def test_what_cannot_be_done_is_said(
    given: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        alignment.parse_arguments(given)
    assert message in capsys.readouterr().err


def test_the_products_can_be_written_down_where_there_is_no_gpu(tmp_path: Path) -> None:
    path = tmp_path / "new" / "w.csv"
    alignment.main(["--write-workloads", str(path), "--device", "cuda", "--layouts", "nn", "nt"])
    assert read_workloads(path) == alignment.cubes(["nn", "nt"], alignment.SIZES)


def test_on_a_gpu_rows_are_those_of_a_comparison(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[object, ...]] = []

    def measure(*given: object, with_tunableop: bool) -> dict[str, float]:
        assert not with_tunableop
        calls.append(given)
        return {"ratio": 2.0}

    monkeypatch.setattr(side_by_side.measure_cuda, "measure", measure)
    (workload, *_) = alignment.cubes(["nt"], [16])
    assert side_by_side.time_tuned(workload, ("cuda", 1), 0.5) == {"ratio": 2.0}
    assert calls == [(workload, ("cuda", 1), 0.5)]


def test_a_run_from_start_to_end(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    write_results: Callable[..., str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(_C, "cache_bytes", lambda device: 40_000)
    key = key_on(alignment.cubes(["nt"], [16])[0], CPU)
    assert key is not None
    (tmp_path / "r.csv").write_text(write_results(",".join([*key, "Gemm_OneDnn"])))
    record = str(tmp_path / "record")
    alignment.main([*SMALL, "--results", str(tmp_path / "r.csv"), "--record", record])
    rows, facts = read_record(record) or ([], {})
    assert [row["size"] for row in rows] == ["15", "16", "17", "24", "31", "32", "33", "40"]
    assert [row["solution"] for row in rows] == ["Gemm_OneDnn"] + 7 * ["(no result)"]
    assert list(rows[0]) == list(COLUMNS)
    odd = [row for row in rows if row["suite"] == "unaligned"]
    assert [row["next_aligned"] for row in odd] == ["16", "24", "32", "40"]
    assert all(float(row["tuned_quotient"]) > 0 for row in odd)
    assert facts["summary"]["products"] == 4
    assert facts["failed"] == []
    assert "of 4 odd sizes are within 1.25" in capsys.readouterr().out
