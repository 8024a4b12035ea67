"""What a row says of how its result was found, and what becomes of it on its way."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import tunedops
from conftest import CPU, RunPython, messages
from tunedops import _C, offline_gpus
from tunedops.cli.results_text import parse_results

OP, PARAMS = "GemmTunableOp_float_NN", "nn_32_4_64_ld_32_64_32_threads_2"
KEY = f"{OP},{PARAMS}"
RECORD = "clock,100,0.0042,0.02,2026-11-30"
A, B = torch.ones(4, 64), torch.ones(64, 32)
WriteResults = Callable[..., str]


def record_of(result: tunedops.results.Result) -> tuple[object, ...]:
    return (result.timing, result.samples, result.spread, result.margin, result.date)


def today() -> str:
    return str(datetime.datetime.now(datetime.timezone.utc).date())


def rows(path: Path) -> list[str]:
    return [line for line in path.read_text().splitlines() if line.startswith("Gemm")]


@pytest.mark.usefixtures("tuning")
def test_a_row_tuned_here_says_all(results_path: Path) -> None:
    _C.set_setting("MAX_TUNING_ITERATIONS", "20")
    before = today()
    tunedops.mm(A, B)
    (result,) = tunedops.get_results()
    assert result.timing == "clock"
    assert result.samples is not None
    assert 1 <= result.samples <= 20
    assert result.spread is not None
    assert 0 <= result.spread < 10
    assert result.margin == 0.01
    assert result.date is not None
    assert before <= result.date <= today()
    fields = rows(results_path)[0].split(",")
    assert fields[5:] == [
        "clock",
        str(result.samples),
        f"{result.spread:.4f}".rstrip("0").rstrip("."),
        "0.01",
        result.date,
    ]


def test_tuning_on_request_says_the_same() -> None:
    outcome = _C.tune(CPU, OP, PARAMS, False)
    (result,) = tunedops.get_results()
    assert outcome.samples == result.samples
    assert outcome.spread == pytest.approx(result.spread, abs=0.00006)


@pytest.mark.usefixtures("tuning")
def test_where_there_was_nothing_to_choose_nothing_is_said(results_path: Path) -> None:
    _C.set_setting("KERNELS", "Default")
    tunedops.mm(A, B)
    assert rows(results_path) == [f"{KEY},Default"]
    (result,) = tunedops.get_results()
    assert (result.time_ms, result.default_ms, *record_of(result)) == (None,) * 7


@pytest.mark.parametrize("count", range(8))
@pytest.mark.usefixtures("tuning")
def test_a_row_by_hand_may_stop_anywhere(
    results_path: Path, write_results: WriteResults, count: int
) -> None:
    fields = [*["0.5", "1"], *RECORD.split(",")][:count]
    text = write_results(",".join([KEY, "Default", *fields]))
    assert messages(lambda: tunedops.mm(A, B)) == []
    (result,) = tunedops.get_results()
    record = ("clock", 100, 0.0042, 0.02, "2026-11-30")
    assert result.solution == "Default"
    assert (result.time_ms, result.default_ms, *record_of(result)) == (
        *(0.5, 1.0, *record)[:count],
        *(None,) * (7 - count),
    )
    assert tunedops.write_file()
    assert results_path.read_text() == text
    assert _C.check_file(CPU, str(results_path)) == []


@pytest.mark.parametrize(
    "record",
    [
        ",,,,",
        "two words,many,wide,none,yesterday",
        "[bold],0,-1,-0,2026-02-30",
        f"{'x' * 500},{'9' * 500},1e999,nan,{'2' * 500}",
        "a.b,1.5,inf,0x1,2026-2-3",
        "+,+1,+0.1,1_0,20261130",
    ],
)
@pytest.mark.usefixtures("tuning")
def test_what_is_no_value_is_kept_and_says_nothing(
    results_path: Path, write_results: WriteResults, record: str
) -> None:
    text = write_results(f"{KEY},Default,0.5,1,{record}")
    assert messages(lambda: tunedops.mm(A, B)) == []
    (result,) = tunedops.get_results()
    assert result.time_ms == 0.5
    assert record_of(result) == (None,) * 5
    tunedops.mm(A[:3], B)
    assert tunedops.write_file()
    assert text.splitlines()[-1] in rows(results_path)
    row = parse_results(results_path.read_text()).rows[OP, PARAMS]
    assert (row.timing, row.samples, row.spread, row.margin, row.date) == (None,) * 5


def test_fields_of_later_versions_are_kept(results_path: Path, write_results: WriteResults) -> None:
    row = f"{KEY},Default,0.5,1,{RECORD},more,and more"
    write_results(row)
    _C.tune(CPU, OP, PARAMS.replace("_4_", "_5_"), True)
    assert tunedops.write_file()
    assert rows(results_path)[0] == row
    (first, _) = tunedops.get_results()
    assert record_of(first) == ("clock", 100, 0.0042, 0.02, "2026-11-30")


def test_processes_keep_each_others_records(run_python: RunPython, tmp_path: Path) -> None:
    path = tmp_path / "tunedops_results_cpu.csv"
    tune = "_C.tune(CPU, 'GemmTunableOp_float_NN', 'nn_5_{}_4_ld_5_4_5_threads_2', True)"
    run_python(tune.format(2) + "\n" + tune.format(3))
    # As if some were of another day, another machine's hand and an earlier version.
    validators = path.read_text().split("Gemm")[0]
    (second, third) = rows(path)
    second = second.rpartition(",")[0] + ",2026-01-02"
    short = "GemmTunableOp_float_NN,nn_5_1_4_ld_5_4_5_threads_2,Default,0.5"
    path.write_text(validators + "".join(f"{row}\n" for row in (third, second, short)))
    run_python(
        f"""
assert len(tunedops.get_results()) == 3
with open({str(path)!r}, "a") as file:
    file.write("GemmTunableOp_float_NN,nn_5_9_4_ld_5_4_5_threads_2,Default,1,2,{RECORD}\\n")
{tune.format(4)}
assert tunedops.write_file()
dates = [result.date for result in tunedops.get_results()]
assert dates[:2] == [None, "2026-01-02"], dates
assert dates[4] == "2026-11-30", dates
"""
    )
    found = rows(path)
    assert found[:3] == [short, second, third]
    assert found[3].count(",") == 9
    assert found[4].endswith(f",Default,1,2,{RECORD}")


def test_results_that_gpus_share_keep_their_records() -> None:
    row = f"{KEY},Default,0.5,1.0,{RECORD}"
    offline_gpus._take_rows([row], CPU)
    (result,) = tunedops.get_results()
    assert record_of(result) == ("clock", 100, 0.0042, 0.02, "2026-11-30")
    assert offline_gpus._row_of(result) == row
    assert offline_gpus._row_of(result._replace(time_ms=None, date=None)) == (
        f"{KEY},Default,,1.0,clock,100,0.0042,0.02"
    )
    nothing = result._replace(**dict.fromkeys(result._fields[3:]))
    assert offline_gpus._row_of(nothing) == f"{KEY},Default"


@pytest.mark.parametrize(("width", "dated"), [("200", True), ("80", False)])
def test_summary_shows_spread_and_where_there_is_room_the_date(
    write_results: WriteResults,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    width: str,
    dated: bool,
) -> None:
    monkeypatch.setenv("COLUMNS", width)
    write_results(f"{KEY},Default,0.5,1,{RECORD}", f"{KEY.replace('_4_', '_5_')},Default")
    tunedops.summary()
    out = capsys.readouterr().out
    assert "0.4%" in out
    assert ("2026-11-30" in out) == dated
    assert ("date" in out) == dated
