"""Results that were timed while other work held the processors: their times may be anything,
so no table makes a ratio of them, and every command says how many there are and what to do.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import tunedops
from command_line import CPU, HEADER, KEY, Run, results_text, runner, write
from tunedops import _C
from tunedops.cli import tune
from tunedops.cli.tune_report import Outcome, what_disturbed

OTHER = KEY.replace("24_1_40", "24_2_40")
BUSY = f"{KEY},Gemm_OneDnn,0.01,50,clock-busy,100,0.01"
QUIET = f"{OTHER},Gemm_OneDnn,0.01,0.02,clock,100,0.01"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Runs a command in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    return runner(capsys)


class Share:
    """Threads that waited for this share of the time."""

    def __init__(self, share: float = 0.5):
        self.share = share

    def waited(self) -> float:
        return self.share

    def was_lacking(self) -> bool:
        return self.share > 0.1


def outcome(timing: str | None, how: str = "tuned") -> Outcome:
    return Outcome(how, "Default", 0.01, 50.0, 0.01, 100, timing)


def test_no_table_has_a_ratio_of_them(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    file = write("out.csv", *results_text(BUSY, QUIET))
    tunedops.read_file(file)
    tunedops.summary()
    for out in (capsys.readouterr().out, run("show", file)[1]):
        assert re.search(r" 50000 .* 10\.0 .* - .* busy .* Gemm_OneDnn", out)
        assert re.search(r" 20\.0 .* 10\.0 .* 2\.00x .* 1\.0% .* Gemm_OneDnn", out)


def test_the_geomean_is_of_the_others(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    given = iter([outcome("clock-busy"), Outcome("tuned", "Default", 0.01, 0.02, 0.01, 9, "clock")])
    monkeypatch.setattr(tune, "tune_one", lambda *_: next(given))
    rows = ["one,mm,float32,nt,1,1,24,40", "two,mm,float32,nt,1,2,24,40"]
    code, out, err = run("tune", write("w.csv", HEADER, *rows), "-o", "out.csv")
    assert (code, err) == (0, "")
    assert re.search(r"mm float32 nt 1x24x40 .* - .* busy ", out)
    assert re.search(r"geomean of one  .* - ", out)
    assert re.search(r"geomean of two  .* 2\.00x ", out)
    assert re.search(r"geomean    .* 2\.00x ", out)
    assert "1 of 2 products were timed while other work held the processors" in out


def test_what_disturbed_is_said_once_with_the_cure_that_helps() -> None:
    busy, quiet, stored = outcome("clock-busy"), outcome("clock"), outcome("clock", "stored")
    for share in (None, Share(), Share(0.0)):
        sentence = what_disturbed([busy, quiet, stored], share)
        assert sentence is not None
        assert sentence.startswith("1 of 3 products were timed while other work held the")
        assert sentence.endswith("the same command tunes them again, when the machine is idle")
        assert "--retune" not in sentence, "it is not needed for marked rows"
    # Nothing is marked (MAX_WAITING_PERCENT), so the next run would tune nothing.
    sentence = what_disturbed([quiet], Share())
    assert sentence is not None
    assert "waited 50% of the time" in sentence
    assert sentence.endswith("tune again with --retune when the machine is idle")
    assert what_disturbed([quiet], Share(0.0)) is None
    assert what_disturbed([quiet], None) is None
    assert what_disturbed([stored], Share()) is None, "nothing was tuned"


def test_help_says_what_is_tuned_again(run: Run) -> None:
    out = " ".join(run("tune", "--help")[1].split())
    assert "unless that was timed while other work held the processors" in out
    assert "those that were timed on a busy machine are tuned again without it" in out


def test_check_counts_them_and_names_the_command(run: Run) -> None:
    no_key = "GemmTunableOp_float_TN,tn_1,Default,1,1,clock-busy"
    file = write("r.csv", *results_text(BUSY, QUIET, no_key))
    code, out, _ = run("check", file)
    assert code == 1
    expected = (
        "r.csv: 1 of 2 results were timed while other work held the processors; "
        "`python -m tunedops tune r.csv -o r.csv` measures them again\n"
    )
    assert out.endswith(expected)
    code, out, _ = run("check", write("r.csv", *results_text(BUSY, QUIET)))
    assert code == 0, "they are used"
    assert out == f"r.csv: accepted on {_C.device_name(CPU)}\n{expected}"
    _, out, _ = run("check", write("r.csv", *results_text(QUIET)))
    assert "processors" not in out
    _, out, _ = run("check", write("r.csv", "Validator,DEVICE,another", BUSY))
    assert "held the processors" not in out, "nothing of it is used"


def test_the_command_needs_no_name_for_the_file_of_a_program(run: Run) -> None:
    tunedops.set_filename("own.csv")
    write("own.csv", *results_text(BUSY))
    assert "`python -m tunedops tune own.csv` measures" in run("check", "own.csv")[1]
    code, out, _ = run("tune", "own.csv")
    assert code == 0
    assert "tuned 1 of 1 products" in out
    assert not re.search("busy|processors", run("check", "own.csv")[1])


def test_doctor_counts_them(run: Run) -> None:
    tunedops.set_filename("own.csv")
    write("own.csv", *results_text(BUSY, QUIET))
    code, out, _ = run("doctor")
    assert code == 0
    assert re.search(
        r"of a busy machine +1 of 2 results were timed .*`python -m tunedops tune own\.csv` ", out
    )
    write("own.csv", *results_text(QUIET))
    tunedops.read_file()
    assert "of a busy machine" not in run("doctor")[1]


def test_check_goes_by_lines_and_names_doubled_keys(run: Run) -> None:
    start = len(results_text())
    rows = [QUIET, f"{OTHER},Gemm_Unheard", f"{KEY},Gemm_Unheard", "foo", QUIET, BUSY]
    code, out, _ = run("check", write("r.csv", *results_text(*rows, f"{KEY}x,Default", "bar")))
    assert code == 1
    lines = [re.findall(r"^r\.csv:(\d+): ", line) for line in out.splitlines()[:-1]]
    assert lines == [[str(start + n)] for n in (1, 2, 3, 4, 7, 8)]
    for line, used in ((1, 5), (2, 5), (3, 6)):
        assert f":{start + line}: has the key of line {start + used}, which is used instead" in out
    code, out, _ = run("check", write("r.csv", *results_text(QUIET, QUIET)))
    assert code == 0, "the file is used all the same"
    assert "which is used instead\nr.csv: accepted on " in out
