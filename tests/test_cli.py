"""The command line is what people and scripts see of the package: what it prints, what
it writes and the code it exits with are promises, above all when the input is bad. A
mistake in a file must be named by its line before anything is tuned or written.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
import tunedops
from command_line import CPU, HEADER, KEY, Run, results_text, runner, write
from tunedops import _C
from tunedops.cli import processor_share
from tunedops.cli.main import build_parser
from tunedops.cli.output import visible
from tunedops.cli.problems import read_problems
from tunedops.cli.results_text import parse_results
from tunedops.cli.tune_report import geomean
from tunedops.table import microseconds, percent
from tunedops.workloads import Workload

ROOT = Path(__file__).parents[1]

# Of processes: small limits for tuning.
ENVIRONMENT = {
    "PYTHONPATH": str(Path(tunedops.__file__).parents[1]),
    "TUNEDOPS_MAX_TUNING_BUDGET_MS": "50",
    "TUNEDOPS_MAX_TUNING_DURATION_MS": "2",
    "TUNEDOPS_MAX_WAITING_PERCENT": "100",
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, empty."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command in this process: exit code, standard output, standard error."""
    return runner(capsys)


def command(*words: str, **environment: str) -> subprocess.Popen[str]:
    """Starts a command in a process of its own, with small limits for tuning."""
    return subprocess.Popen(
        [sys.executable, "-m", "tunedops", *words],
        env={**os.environ, **ENVIRONMENT, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


def files() -> set[str]:
    return {entry.name for entry in Path().iterdir()}


# ---- the program as a whole


def test_alone_it_prints_help_and_fails(run: Run) -> None:
    code, out, err = run()
    assert (code, out) == (2, "")
    for name in ("tune", "show", "check", "doctor"):
        assert re.search(rf"^ +{name} ", err, re.MULTILINE)


def test_help_and_version(run: Run) -> None:
    code, out, _ = run("--version")
    assert (code, out) == (0, f"tunedops {tunedops.__version__}\n")
    for words in (["--help"], ["tune", "-h"], ["show", "-h"], ["check", "-h"], ["doctor", "-h"]):
        code, out, err = run(*words)
        assert (code, err) == (0, "")
        assert "usage: tunedops" in out


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["frobnicate"], "tunedops: argument COMMAND: invalid choice: 'frobnicate'"),
        (["tune"], "tunedops: tune: the following arguments are required: WORKLOADS"),
        (
            ["tune", "a", "--search", "all"],
            "tunedops: tune: argument --search: invalid choice: 'all'",
        ),
        (["check", "a", "--frob"], "tunedops: unrecognized arguments: --frob"),
        (["check", "a", "--device", "tpu"], "tunedops: --device tpu: "),
        (["check", "a", "--device", "mps"], "tunedops: --device mps: "),
    ],
)
def test_wrong_words_are_one_line(run: Run, words: list[str], expected: str) -> None:
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert err.startswith(expected)
    assert err.count("\n") == 1


def test_it_runs_as_a_module() -> None:
    code, out, err = finish(command("--version"))
    assert (code, out, err) == (0, f"tunedops {tunedops.__version__}\n", "")


def test_warnings_of_the_library_are_plain_lines(run: Run) -> None:
    write("results.csv", "Validator,PT_VERSION,1.0", f"{KEY},Default")
    code, _, err = run("tune", write("keys.csv", KEY), "-o", "results.csv")
    assert code == 0
    assert err.startswith("tunedops: results file 'results.csv' is not used: validator ")
    assert err.count("\n") == 1


# ---- tune


def test_tune_writes_what_products_then_use(run: Run) -> None:
    workload = write(
        "w.csv",
        "# where the shapes come from",
        HEADER,
        "one,mm,float32,nt,1,1,24,40",
        "",
        "one,linear,float32,nt,1,3,24,40",
        "# a comment between",
        "two, bmm , float32,nn,2,5,24,40",
        "two,mm,bfloat16,tn,1,16,24,40",
        "two,mm,float32,nt,1,1,24,40",
    )
    code, out, err = run("tune", workload, "-o", "out.csv")
    assert (code, err) == (0, "")
    assert "results: out.csv" in out
    assert re.search(r"tuned 4 of 4 products in [\d.]+ s: [\d.]+ s in the median", out)
    for label in (
        "mm float32 nt 1x24x40",
        "linear float32 nt 3x24x40",
        "bmm float32 nn 2x5x24x40",
        "mm bfloat16 tn 16x24x40",
    ):
        assert out.count(label) == 1
    for line in ("geomean of one", "geomean of two", "geomean "):
        assert line in out
    assert _C.check_file(CPU, "out.csv") == []

    # The keys are those of tensors that programs have.
    x = torch.empty(3, 40)
    operands = [
        (torch.empty(1, 40), torch.empty(24, 40).t(), None),
        (x, torch.empty(24, 40).t(), torch.empty(24)),
        (torch.empty(2, 5, 40), torch.empty(2, 40, 24), None),
        (torch.empty(40, 16).bfloat16().t(), torch.empty(40, 24).bfloat16(), None),
    ]
    stored = {(result.op, result.params) for result in tunedops.get_results()}
    assert stored == {_C.key_of(*each) for each in operands}


def test_tune_takes_the_programs_file_by_default(run: Run, tmp_path: Path) -> None:
    code, out, _ = run("tune", write("keys.csv", KEY))
    assert code == 0
    name = tunedops.get_filename()
    assert Path(name).exists()
    assert f"results: {name}" in out


def test_results_are_kept_unless_retuned(run: Run) -> None:
    keys = write("keys.csv", KEY)
    write("out.csv", *results_text("# mine", f"{KEY},Default,5,10"))
    before = Path("out.csv").read_text()
    code, out, _ = run("tune", keys, "-o", "out.csv")
    assert code == 0
    assert re.search(r"10000 .* 5000 .* 2\.00x .* Default .* stored", out)
    assert Path("out.csv").read_text() == before

    code, out, _ = run("tune", keys, "-o", "out.csv", "--retune")
    assert code == 0
    assert "tuned" in out
    assert "stored" not in out
    after = Path("out.csv").read_text()
    assert KEY in after
    assert f"{KEY},Default,5,10" not in after
    assert "# mine\n" in after


def test_what_other_work_disturbed_is_tuned_again(run: Run) -> None:
    keys = write("keys.csv", KEY)
    write("out.csv", *results_text(f"{KEY},Default,5,10,clock-busy,100,0.01"))
    _, out, _ = run("show", "out.csv")
    assert re.search(r"10000 .* 5000 .* - .* busy .* Default", out)
    code, out, _ = run("tune", keys, "-o", "out.csv")
    assert code == 0
    assert "stored" not in out
    assert f"{KEY},Default,5,10" not in Path("out.csv").read_text()
    (result,) = tunedops.get_results()
    assert not result.was_disturbed
    assert "stored" in run("tune", keys, "-o", "out.csv")[1]


def test_absurd_times_of_a_file_spoil_no_table(run: Run) -> None:
    rows = [f"{KEY},Default,1e300,1e-300", f"{KEY[:-1]}4,Default,1e-300,1e300"]
    file = write("out.csv", *results_text(*rows))
    _, out, _ = run("show", file)
    assert re.search(r" >1e\+09 .* 0\.00x .* Default", out)
    assert re.search(r" >1e\+09x .* Default", out)
    code, out, err = run("tune", write("keys.csv", KEY), "-o", file)
    assert (code, err) == (0, "")
    assert "stored" in out


def test_a_row_may_leave_its_time_empty(run: Run) -> None:
    file = write("out.csv", *results_text(f"{KEY},Default,,2.0,clock"))
    assert run("check", file)[0] == 0


def test_few_rounds_have_no_spread(run: Run) -> None:
    write("out.csv", *results_text(f"{KEY},Default,5,10,clock,2,0.0123"))
    assert re.search(r"2\.00x .* - .* Default", run("show", "out.csv")[1])
    write("out.csv", *results_text(f"{KEY},Default,5,10,clock,3,0.0123"))
    assert re.search(r"2\.00x .* 1\.2% .* Default", run("show", "out.csv")[1])


def test_tune_takes_untuned_and_results_files(run: Run) -> None:
    other = KEY.replace("24_1_40", "24_2_40")
    code, out, _ = run("tune", write("untuned.csv", "# c", KEY, KEY), "-o", "a.csv")
    assert code == 0
    assert out.count("tn_24_1_40") == 1

    rows = write("rows.csv", "Validator,DEVICE,elsewhere", f"{KEY},x,1", f"{other},Default")
    code, out, _ = run("tune", rows, "-o", "b.csv")
    assert code == 0
    keys = {(result.op, result.params) for result in tunedops.get_results()}
    assert keys == {tuple(KEY.split(",")), tuple(other.split(","))}
    assert Path("rows.csv").read_text().startswith("Validator,DEVICE,elsewhere\n")


def test_tune_takes_several_files_as_one(run: Run) -> None:
    other = KEY.replace("24_1_40", "24_2_40")
    first = write("untuned1.csv", KEY, other)
    second = write("untuned2.csv", other, KEY, KEY.replace("24_1_40", "24_3_40"))
    workload = write("w.csv", HEADER, "s,mm,float32,nt,1,1,24,40")  # with two threads
    code, out, err = run("tune", first, second, workload, "-o", "out.csv")
    assert (code, err) == (0, "")
    assert "tuned 4 of 4 products" in out
    found = [result.params[:10] for result in tunedops.get_results()]
    assert found == ["tn_24_1_40", "tn_24_1_40", "tn_24_2_40", "tn_24_3_40"]

    bad = write("bad.csv", HEADER, "nonsense")
    code, out, err = run("tune", first, bad, "-o", "new.csv")
    assert (code, out) == (2, "")
    assert err.startswith("tunedops: bad.csv:2: expected 8 fields")
    assert "new.csv" not in files(), "nothing is done if a file is refused"


def test_a_bad_row_of_a_results_file_is_left_out(run: Run) -> None:
    without_threads = KEY.removesuffix("_threads_1")
    rows = [f"{KEY},Default,1", f"{without_threads},Default", "foo", f"{KEY}0000,Default"]
    file = write("out.csv", *results_text(*rows))
    start = len(results_text())
    code, out, err = run("tune", file, "-o", file, "--retune")
    assert code == 1, "not all that was asked for is done"
    assert "tuned 1 of 1 products" in out
    said = [line for line in err.splitlines() if line.endswith("; it is left out")]
    assert [re.sub(r"'.*?'", "KEY", line) for line in said] == [
        f"tunedops: out.csv:{start + 2}: KEY is no product of cpu (keys of a CPU end in "
        "_threads_<n>); it is left out",
        f"tunedops: out.csv:{start + 3}: KEY is no product of cpu; it is left out",
        f"tunedops: out.csv:{start + 4}: the key is for 10000 threads, and this machine has "
        f"{max(os.cpu_count() or 1, torch.get_num_threads())} processors; it is left out",
    ]
    text = Path("out.csv").read_text()
    assert f"{KEY},Default,1\n" not in text
    assert f"{without_threads},Default\n" in text, "who wrote it may mend it"


def test_of_very_many_bad_rows_some_are_named(run: Run) -> None:
    bad = [KEY.replace("24_1_40", f"24_{n}_41") for n in range(1, 31)]
    code, _, err = run("tune", write("keys.csv", *bad, KEY), "-o", "out.csv")
    assert (code, err.count("it is left out\n")) == (1, 20)
    assert err.endswith("\ntunedops: 10 more lines are left out\n")
    code, out, err = run("tune", write("keys.csv", *bad), "-o", "out.csv")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("tunedops: keys.csv:1: ")
    assert err.endswith("; nor are 29 other lines\n")


def test_products_that_only_tunable_op_has_are_left_out(run: Run) -> None:
    scaled = "ScaledGemmTunableOp_Float8_e4m3fn_Float8_e4m3fn_BFloat16_TN,tn_16_16_16_ld_16_16_16"
    keys = write("keys.csv", scaled, KEY)
    code, out, err = run("tune", keys, "-o", "out.csv")
    assert code == 0
    assert "tuned 1 of 1 products" in out
    assert err == ("tunedops: 1 product left out, since tunedops has no scaled ones: keys.csv:1\n")


def test_keys_of_another_pool_size(run: Run) -> None:
    before = torch.get_num_threads()
    two = KEY.replace("threads_1", "threads_2")
    code, _, _ = run("tune", write("keys.csv", KEY, two), "-o", "out.csv")
    assert code == 0
    params = [result.params for result in tunedops.get_results()]
    assert params == [KEY.split(",")[1], two.split(",")[1]]
    assert torch.get_num_threads() == before


BAD_ROWS = {
    "s,conv,float32,nt,1,1,2,3": ":4: op must be one of mm, bmm, linear, got 'conv'",
    "s,mm,float33,nt,1,1,2,3": ":4: dtype must be one of float32, bfloat16, float16, "
    "float64, complex64, complex128, got 'float33'",
    "s,mm,float32,tt,1,1,2,3": ":4: layout must be one of nt, nn, tn, got 'tt'",
    "s,mm,float32,nt,1,0,2,3": ":4: m must be a positive integer, got '0'",
    "s,mm,float32,nt,1,1,-2,3": ":4: n must be a positive integer, got '-2'",
    "s,mm,float32,nt,1,1,2,1_0": ":4: k must be a positive integer, got '1_0'",
    "s,mm,float32,nt,,1,2,3": ":4: batch must be a positive integer, got ''",
    "s,mm,float32,nt,2,1,2,3": ":4: batch must be 1 for mm, got 2",
    "s,linear,float32,nn,1,1,2,3": ":4: layout must be nt for linear, got 'nn'",
    "s,mm,float32,nt,1,1,2": ":4: expected 8 fields, got 7",
    "s,mm,float32,nt,1,1,2,3,4": ":4: expected 8 fields, got 9",
    "s,mm,float32,nt,1,1000000000000,2,1000000000000": ": no memory for the operands of "
    "'mm float32 nt 1000000000000x2x1000000000000'",
    "s,mm,float32,nt,1,1,2,99999999999999999999": ": no memory for the operands of 'mm "
    "float32 nt 1x2x99999999999999999999'",
}


@pytest.mark.parametrize("row", BAD_ROWS)
def test_a_bad_row_stops_all_before_anything_is_done(run: Run, row: str) -> None:
    workload = write("w.csv", "# c", HEADER, "s,mm,float32,nt,1,1,24,40", row)
    code, out, err = run("tune", workload, "-o", "out.csv")
    assert (code, out) == (2, "")
    assert err == f"tunedops: w.csv{BAD_ROWS[row]}\n"
    assert files() == {"w.csv"}


BAD_FILES = {
    "": "f.csv: holds no products",
    "# only a comment\n": "f.csv: holds no products",
    f"{HEADER}\n": "f.csv: holds no workload",
    "Validator,DEVICE,x\n": "f.csv: holds no products",
    "\na,b\n": f"f.csv:2: expected the header '{HEADER}' or 'op,params' lines, got 'a,b'",
    f"{KEY}x\n": f"f.csv:1: '{KEY}x' is no product of cpu (keys of a CPU end in _threads_<n>)",
    "GemmTunableOp_float_TN\n": "f.csv:1: 'GemmTunableOp_float_TN,' is no product of cpu "
    "(the op ends in _TN, so the params have to begin with tn_, not with '')",
    "GemmTunableOp_float_TN,tn_24_1_40_ld_40_40_24\n": "f.csv:1: 'GemmTunableOp_float_TN,"
    "tn_24_1_40_ld_40_40_24' is no product of cpu (keys of a CPU end in _threads_<n>)",
}


@pytest.mark.parametrize("text", BAD_FILES)
def test_a_file_that_is_none(run: Run, text: str) -> None:
    Path("f.csv").write_text(text)
    code, out, err = run("tune", "f.csv", "-o", "out.csv")
    assert (code, out) == (2, "")
    assert err == f"tunedops: {BAD_FILES[text]}\n"
    assert files() == {"f.csv"}


def test_a_key_for_more_threads_than_the_machine_has(run: Run) -> None:
    keys = write("f.csv", KEY.replace("threads_1", "threads_60000"))
    code, _, err = run("tune", keys, "-o", "out.csv")
    assert code == 2
    assert err.startswith("tunedops: f.csv:1: the key is for 60000 threads, and this machine")


@pytest.mark.parametrize("name", ["tune", "show"])
def test_files_that_cannot_be_read(run: Run, name: str) -> None:
    Path("folder").mkdir()
    Path("binary").write_bytes(b"\n\xff\xfe\x00\x01")
    for file, reason in (
        ("none", "cannot read 'none': No such file or directory"),
        ("folder", "cannot read 'folder': Is a directory"),
        ("binary", "binary:2: is not text in UTF-8"),
    ):
        code, out, err = run(name, file)
        assert (code, out, err) == (2, "", f"tunedops: {reason}\n")


def test_an_output_that_cannot_be_written(run: Run) -> None:
    keys = write("keys.csv", KEY)
    Path("folder").mkdir()
    Path("link.csv").symlink_to("elsewhere.csv")
    before = files()
    for output, reason in (
        ("folder", "cannot write 'folder': it is not a regular file"),
        ("none/out.csv", "cannot write 'none/out.csv': there is no folder 'none'"),
        ("link.csv", "cannot write 'link.csv': it is a link; name its target"),
        ("", "-o: the name is empty"),
    ):
        code, out, err = run("tune", keys, "-o", output)
        assert (code, out, err) == (2, "", f"tunedops: {reason}\n")
    assert files() == before


def test_a_folder_without_permission(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = write("keys.csv", KEY)
    real = os.open

    def refuse(path: str, *arguments: int) -> int:
        if path == "out.csv.lock":
            raise PermissionError(13, "Permission denied", path)
        return real(path, *arguments)

    monkeypatch.setattr(os, "open", refuse)  # permissions do not bind root
    code, out, err = run("tune", keys, "-o", "out.csv")
    assert (code, out) == (2, "")
    assert err == "tunedops: cannot write 'out.csv': Permission denied\n"
    assert files() == {"keys.csv"}


def test_results_that_cannot_be_saved_after_all(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_C, "write_file", lambda: False)
    code, out, err = run("tune", write("keys.csv", KEY), "-o", "out.csv")
    assert code == 2
    assert "tuned" in out
    assert err == "tunedops: not all results could be saved in 'out.csv'\n"


def test_read_only_tunes_nothing(run: Run) -> None:
    _C.set_setting("READ_ONLY", "1")
    code, out, err = run("tune", write("keys.csv", KEY), "-o", "out.csv")
    assert (code, out) == (2, "")
    assert err == "tunedops: TUNEDOPS_READ_ONLY is set, so nothing is tuned or written\n"
    assert files() == {"keys.csv"}


def test_search_is_set_if_asked_for(run: Run) -> None:
    # Our kernel has more configs for it than it proposes.
    keys = write("keys.csv", "GemmTunableOp_float_TN,tn_64_4_64_ld_64_64_64_threads_2")
    _C.set_setting("SEARCH", "exhaustive")
    code, out, err = run("tune", keys, "-o", "out.csv")
    assert (code, err, _C.setting("SEARCH")) == (0, "", "exhaustive")
    assert re.search(r"\nsearched \d+ configs beyond what kernels propose: ", out)
    for search in ("guided", "exhaustive", "proposals"):
        code, out, err = run("tune", keys, "-o", "out.csv", "--retune", "--search", search)
        assert (code, err, _C.setting("SEARCH")) == (0, "", search)
    assert "searched" not in out


def test_search_and_the_environment_must_agree(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("tune", write("keys.csv", KEY), "-o", "out.csv", "--search", "proposals")
    monkeypatch.setenv("TUNEDOPS_SEARCH", "exhaustive")
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert err == (
        "tunedops: --search proposals and TUNEDOPS_SEARCH=exhaustive contradict each other; "
        "give one of them\n"
    )
    monkeypatch.setenv("TUNEDOPS_SEARCH", "proposals")
    assert run(*words)[0] == 0


def test_two_names_for_one_file(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TUNEDOPS_FILENAME", "named.csv")
    code, _, err = run("tune", write("keys.csv", KEY), "-o", "out.csv")
    assert code == 2
    assert err.startswith("tunedops: -o out.csv: TUNEDOPS_FILENAME=named.csv is set")


def test_a_product_that_cannot_be_tuned_is_a_failure(run: Run) -> None:
    side = 1_000_000
    huge = f"GemmTunableOp_float_TN,tn_{side}_{side}_{side}_ld_{side}_{side}_{side}_threads_1"
    code, out, _ = run("tune", write("keys.csv", huge, KEY), "-o", "out.csv")
    assert code == 1
    assert re.search("not enough free memory .* failed", out)
    rows = parse_results(Path("out.csv").read_text()).rows
    assert [params for _, params in rows] == [KEY.split(",")[1]]


def test_an_interrupt_keeps_what_was_found() -> None:
    rows = [f"s,mm,float32,nt,1,4,{n},512" for n in range(512, 912)]
    process = command("tune", write("w.csv", HEADER, *rows), "-o", "out.csv")
    deadline = time.monotonic() + 60
    while not (Path("out.csv").exists() and KEY[:8] in Path("out.csv").read_text()):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    code, out, err = finish(process)
    assert code == 130
    assert re.fullmatch(
        r"tunedops: interrupted with \d+ of 400 products left; 'out.csv' keeps what was "
        r"found\n",
        err,
    )
    found = parse_results(Path("out.csv").read_text())
    assert 0 < len(found.rows) < 400
    assert not found.complaints
    assert out.count("mm float32 nt") == len(found.rows)


def test_geomean() -> None:
    assert geomean([2.0, 8.0, None]) == pytest.approx(4)
    assert geomean([None]) is None


def test_every_workload_of_the_package_is_understood() -> None:
    for path in sorted(tunedops.get_workloads().glob("*.csv")):
        assert read_problems([str(path)], CPU).problems


def test_keys_for_a_gpu_leave_no_operands_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    file = write("w.csv", HEADER, "s,mm,float32,nt,1,8,8,8", "s,mm,float32,nt,1,9,9,9")
    events: list[str] = []
    operands = Workload.operands

    def on_the_cpu(workload: Workload, device: torch.device) -> tuple[torch.Tensor, ...]:
        events.append(str(device))
        return operands(workload, "cpu")

    monkeypatch.setattr(Workload, "operands", on_the_cpu)
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: events.append("freed"))
    assert len(read_problems([file], ("cuda", 0)).problems) == 2
    assert events == ["cuda:0", "freed"] * 2


def counted(monkeypatch: pytest.MonkeyPatch, *readings: dict[str, tuple[float, float]]) -> None:
    """Seconds that threads ran and waited, as read one after the other."""
    given = iter(readings)

    def threads() -> dict[str, processor_share._Seconds]:
        return {name: processor_share._Seconds(*pair) for name, pair in next(given, {}).items()}

    monkeypatch.setattr(processor_share, "_threads", threads)


@pytest.mark.parametrize(
    ("after", "share"),
    [
        ({"a": (11.0, 5.0)}, 0.0),
        ({"a": (11.0, 5.0), "b": (1.0, 0.0)}, 0.0),
        ({"a": (11.0, 6.0)}, 0.5),
        ({"a": (11.0, 5.0), "b": (0.5, 0.5)}, 0.25),
        ({"a": (10.1, 5.05)}, 0.0),  # too little to say anything
        ({}, 0.0),  # nothing is counted here
    ],
)
def test_the_share_of_waiting(
    monkeypatch: pytest.MonkeyPatch, after: dict[str, tuple[float, float]], share: float
) -> None:
    counted(monkeypatch, {"a": (10.0, 5.0)}, after, after)
    found = processor_share.ProcessorShare()
    assert found.waited() == pytest.approx(share)
    assert found.was_lacking() == (share > 0.1)


def test_threads_are_counted_here() -> None:
    if not Path("/proc/self/schedstat").exists():
        pytest.skip("this system does not count")
    before = processor_share._threads()
    assert len(before) >= 1
    assert all(seconds.waiting >= 0 for seconds in before.values())
    assert sum(seconds.running for seconds in before.values()) > 0


def test_tuning_on_a_busy_machine_is_said(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = write("keys.csv", KEY)
    before, after = {"a": (1.0, 0.0)}, {"a": (2.0, 1.0)}
    counted(monkeypatch, before, after, after)
    code, out, err = run("tune", keys, "-o", "out.csv")
    assert (code, err) == (0, "")
    expected = "the machine was busy: threads waited 50% of the time for a processor, so "
    assert expected in out
    assert "tune again with --retune when the machine is idle\n" in out

    counted(monkeypatch, before, after, after)
    assert "busy" not in run("tune", keys, "-o", "out.csv")[1], "nothing was tuned"
    counted(monkeypatch, before, {"a": (5.0, 0.1)})
    assert "busy" not in run("tune", keys, "-o", "out.csv", "--retune")[1]


# ---- show


def test_show_prints_files_of_any_environment(run: Run) -> None:
    file = write(
        "r.csv",
        "# comment",
        "Validator,DEVICE,9.0:NVIDIA H200",
        "Validator,PT_VERSION,2.11.0",
        "GemmTunableOp_BFloat16_TN,tn_1_2_3_ld_3_3_1,Gemm_Cublaslt_id_66,0.012,0.018,"
        "events,100,0.0123,0.02,2026-11-30",
        f"{KEY},Default",
        "GemmTunableOp_BFloat16_TN,tn_1_2_4_ld_4_4_1,Default,0.5",
    )
    code, out, err = run("show", file)
    assert (code, err) == (0, "")
    assert "DEVICE: 9.0:NVIDIA H200\nPT_VERSION: 2.11.0\n" in out
    assert re.search(
        r"tn_1_2_3_ld_3_3_1 .* 18\.0 .* 12\.0 .* 1\.50x .* 1\.2% .* Gemm_Cublaslt_id_66 "
        r".* 2026-11-30 ",
        out,
    )
    assert re.search(r"tn_24_1_40\S* .* - .* - .* - .* - .* Default .* - ", out)


def test_show_takes_nothing_from_a_file_as_markup_or_control(run: Run) -> None:
    file = write("r.csv", "Validator,DEVICE,[/red]", "a[bold],b,c[/nope]", "a,b\x1b[31m,c")
    code, out, err = run("show", file)
    assert code == 0
    assert "DEVICE: [/red]" in out
    assert "a[bold]" in out
    assert "c[/nope]" in out
    assert "\x1b" not in out + err
    assert err == "tunedops: r.csv:3: holds control characters and is ignored\n"
    assert visible("a\x1b\n\u202e\\") == "a\\x1b\\n\\u202e\\"


def test_show_says_what_it_left_out(run: Run) -> None:
    Path("r.csv").write_text(f"{KEY},Default\nfoo\nValidator,a\n{KEY},Def")
    code, _, err = run("show", "r.csv")
    assert code == 0
    assert err.splitlines() == [
        "tunedops: r.csv:2: is not 'op,params,solution[,time_ms[,...]]' and is ignored",
        "tunedops: r.csv:3: is not 'Validator,KEY,VALUE'",
        "tunedops: r.csv:4: the last line does not end and is ignored",
    ]


def test_show_refuses_other_files(run: Run) -> None:
    code, out, err = run("show", write("w.csv", HEADER, "s,mm,float32,nt,1,1,2,3"))
    assert (code, out) == (2, "")
    assert err == "tunedops: w.csv: is a workload, no results file; `tune` takes it\n"
    code, out, err = run("show", write("u.csv", KEY))
    assert (code, out) == (2, "")
    assert err.startswith("tunedops: u.csv:1: is not 'op,params,solution")


def test_show_and_the_library_read_alike() -> None:
    text = "\ufeff" + "\n".join(
        [
            *results_text(f"{KEY},Default,1"),
            "#,x,y,z",
            f" {KEY.replace(',', ' , ')},\tDefault , 0.5 , nan,,",
            f"{KEY.replace('_1_40', '_2_40')},Default,-1,1e-3\r",
            f"{KEY.replace('_1_40', '_3_40')},,1",
            f"{KEY.replace('_1_40', '_4_40')},Default,inf,0x10",
            f"{KEY.replace('_1_40', '_5_40')},Default,.5,1_0,clock,100,0,0.02,2026-11-30,more",
            f"{KEY.replace('_1_40', '_6_40')},Default,5.,+1,a b,1e2,1e-4,-0,2026-02-29",
            f"{KEY.replace('_1_40', '_7_40')},Default,1e999,.,,0,1e999,nan,2028-02-29",
            f"{KEY.replace('_1_40', '_8_40')},Default,1e5,\u0661,\u00e4,\u0661,5e,.5,0000-01-01",
            "",
        ]
    )
    Path("r.csv").write_text(text)
    with pytest.warns(UserWarning, match=r"r\.csv:8: is not 'op,params,solution"):
        assert tunedops.read_file("r.csv")
    ours = parse_results(text.removeprefix("\ufeff")).rows
    results = tunedops.get_results()
    assert len(ours) == len(results) == 7
    for result in results:
        row = ours[result.op, result.params]
        assert vars(row).items() <= result._asdict().items()


def test_microseconds_are_readable() -> None:
    assert [microseconds(ms) for ms in (None, 0.00032468, 0.0123, 0.56789, 34.86)] == [
        "-",
        "0.32",
        "12.3",
        "568",
        "34860",
    ]


def test_percents_are_short() -> None:
    assert [percent(share) for share in (None, 0.0, 0.0123, 9.99, 1e300)] == [
        "-",
        "0.0%",
        "1.2%",
        "999.0%",
        ">999%",
    ]


# ---- check


def test_check_accepts(run: Run) -> None:
    file = write("r.csv", *results_text("# why not", f"{KEY},Default"))
    code, out, err = run("check", file, "--device", "cpu")
    assert (code, err) == (0, "")
    assert out == f"r.csv: accepted on {_C.device_name(CPU)}\n"


def test_check_names_the_validator(run: Run) -> None:
    lines = [line.replace("DEVICE,", "DEVICE,other ") for line in results_text()]
    code, out, err = run("check", write("r.csv", *lines))
    assert (code, err) == (1, "")
    assert "validator DEVICE is 'other " in out


def test_check_names_the_lines(run: Run) -> None:
    start = len(results_text()) + 1
    rows = ["foo", "GemmTunableOp_float_TN,tn_1,Default", f"{KEY},Gemm_Unheard"]
    code, out, _ = run("check", write("r.csv", *results_text(*rows)))
    assert code == 1
    for number, reason in (
        (start, "is not 'op,params,solution"),
        (start + 1, "is not a problem of this device and is ignored: tn has to be followed by"),
        (start + 2, "solution 'Gemm_Unheard' cannot be used: no kernel here has that name; there"),
    ):
        assert re.search(rf"^r\.csv:{number}: .*{reason}", out, re.MULTILINE)


def test_check_shows_a_config_where_one_is_wrong(run: Run) -> None:
    for config in ("_rows_99_prefetch_0_threads_1", "_rows_4", "_rows_four"):
        row = f"{KEY},Gemm_CpuSkinny{config}"
        code, out, _ = run("check", write("r.csv", *results_text(row)))
        assert code == 1
        (shown,) = re.findall(r"; one that it has for this problem is '(\w+)'\n$", out)
        assert shown.startswith("Gemm_CpuSkinny_rows_")
        assert run("check", write("r.csv", *results_text(f"{KEY},{shown}")))[0] == 0


def test_check_of_no_file(run: Run) -> None:
    code, out, err = run("check", "none.csv")
    assert (code, out) == (2, "")
    assert err == "tunedops: cannot read 'none.csv': No such file or directory\n"


def test_check_refuses_a_workload(run: Run) -> None:
    code, out, err = run("check", write("w.csv", "# c", HEADER, "s,mm,float32,nt,1,1,2,3"))
    assert (code, out) == (2, "")
    assert err == "tunedops: w.csv: is a workload, no results file; `tune` takes it\n"
    Path("binary").write_bytes(b"\n\xff\xfe\x00\x01")
    assert run("check", "binary")[0] == 1


# ---- doctor


def test_doctor_tells_what_is_there(run: Run) -> None:
    code, out, err = run("doctor")
    assert (code, err) == (0, "")
    for text in (
        tunedops.__version__,
        torch.__version__,
        _C.device_name(CPU),
        _C.isa(),
        *_C.kernel_names(CPU),
        tunedops.get_filename(),
        "the file does not exist yet",
    ):
        assert text in out
    for name, value, _, origin, meaning in _C.describe_settings():
        assert re.search(rf" {name} .* {re.escape(value)} .* {origin} .* {meaning}", out)
    assert files() == set()


def test_doctor_tells_where_settings_come_from_and_what_is_wrong() -> None:
    write("out_cpu.csv", "Validator,DEVICE,another", f"{KEY},Default")
    code, out, err = finish(
        command(
            "doctor",
            TUNEDOPS_ENABLED="1",
            TUNEDOPS_FILENAME="out.csv",
            TUNEDOPS_TUNNING="0",
            TUNEDOPS_KERNELS="Gemm_Unheard",
            TUNEDOPS_VERBOSE="many",
            COLUMNS="200",
        )
    )
    assert code == 0
    assert re.search(r" ENABLED .* 1 .* environment ", out)
    assert "routed in this process" in out
    assert re.search(r"used instead +out_cpu\.[0-9a-f]{8}\.csv", out)
    assert "results file 'out_cpu.csv' is not used: validator DEVICE" in out
    assert "KERNELS names 'Gemm_Unheard', and no kernel has that name" in out
    assert "TUNEDOPS_TUNNING is set in the environment, and there is no such setting" in out
    assert "TUNEDOPS_VERBOSE is 'many', expected an integer" in out + err


# ---- what the documents say

DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), ROOT / "tuning/README.md"]


def test_the_user_guide_lists_every_setting_with_its_default() -> None:
    guide = (ROOT / "docs" / "user_guide.md").read_text()
    section = guide[guide.index("## Settings") : guide.index("## The results file")]
    listed = re.findall(r"^\| `([A-Z_]+)` \| (?:`([^`]+)`|empty) \|", section, re.MULTILINE)
    # Whose home, and where the package is, the guide cannot know.
    told = {"CACHE_DIR": "~/.cache/tunedops", "DATABASE_DIR": "tunedops/databases"}
    assert listed == [
        (name, told.get(name, standard)) for name, _, standard, _, _ in _C.describe_settings()
    ]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_commands_in_documents_exist(path: Path) -> None:
    for words in re.findall(r"python -m tunedops (\w[^\n`]*)", path.read_text()):
        assert build_parser().parse_args(words.split()).run is not None


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_in_documents_lead_somewhere(path: Path) -> None:
    for link in re.findall(r"\]\(([^)]+)\)", path.read_text()):
        name, _, anchor = link.partition("#")
        target = path.parent / name if name else path
        assert target.exists(), link
        titles = re.findall(r"^#+ (.*)$", target.read_text(), re.MULTILINE)
        slugs = {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}
        assert not anchor or anchor in slugs, link


def test_the_example_of_the_readme_runs(tmp_path: Path) -> None:
    text = (ROOT / "README.md").read_text()
    examples = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert examples
    for example in examples:
        done = subprocess.run(
            [sys.executable, "-c", example],
            env={**os.environ, **ENVIRONMENT},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert "epi_relu" in done.stdout.replace("\n", "")
    name = "tunedops_results_cpu.csv"
    assert _C.check_file(CPU, name) == []
    assert len(parse_results(Path(name).read_text()).rows) == 3
