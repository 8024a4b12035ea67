"""`benchmarks/compare.py` as it is started, on the CPU."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import compare
import cpu_ceilings
import options
import pytest
from conftest import CPU
from cpu_ceilings import measure_cpu_ceilings
from measured_rows import measure_all
from record import read_record
from report import print_row
from sides import key_on
from tunedops import _C, get_workloads
from tunedops.workloads import Workload, read_workloads

PACKAGE = str(Path(_C.__file__).parents[1])
FILES = ["--workloads", "w.csv", "--results", "r.csv"]
PACKAGED = ["--workloads", str(get_workloads() / "quickstart.csv"), "--results", "r.csv"]
WORKLOADS = """\
suite,op,dtype,layout,batch,m,n,k
few,mm,float32,nt,1,4,64,64
few,linear,float32,nt,1,4,64,64
many,bmm,float32,nn,4,16,16,16
"""


def test_seconds_depend_on_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    assert compare.parse_arguments(PACKAGED).seconds == 2.0
    assert compare.parse_arguments([*PACKAGED, "--quick"]).seconds == 0.2
    assert compare.parse_arguments([*PACKAGED, "--seconds", "3"]).seconds == 3
    monkeypatch.setattr(options, "parse_device", lambda name: ("cuda", 1))
    arguments = compare.parse_arguments([*PACKAGED, "--device", "cuda:1", "--tunableop"])
    assert (arguments.device, arguments.seconds, arguments.tunableop) == (("cuda", 1), 0.8, True)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--device", "tpu"], "--device tpu: "),
        (["--tunableop"], "TunableOp has no CPU part"),
        (["--seconds", "inf"], "--seconds inf: expected a number above 0"),
        (["--seconds", "-1"], "--seconds -1.0: expected a number above 0"),
        (["--seconds", "nan"], "--seconds nan: expected a number above 0"),
        (["--workloads", "no.csv"], "--workloads no.csv: No such file or directory"),
        (["--workloads", __file__], "expected the header 'suite,"),
    ],
)
def test_what_cannot_be_done_is_said(
    given: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        compare.parse_arguments([*PACKAGED, *given])
    assert message in capsys.readouterr().err


def test_a_row_that_fails_does_not_end_the_others(capsys: pytest.CaptureFixture[str]) -> None:
    workloads = [Workload("s", "mm", "float32", "nt", 1, m, 4, 4) for m in (1, 2)]

    def measure(workload: Workload) -> dict[str, object]:
        if workload.m == 1:
            raise RuntimeError("out of luck\nat length")
        return {"default_us": 2.0, "tuned_us": 1.0, "ratio": 2.0, "solution": "Default"}

    rows, failed = measure_all(workloads, measure, print_row)
    assert failed == ["mm float32 nt 1x4x4: out of luck"]
    assert [(row["problem"], row["suite"]) for row in rows] == [("mm float32 nt 2x4x4", "s")]
    assert "FAILED mm float32 nt 1x4x4: out of luck" in capsys.readouterr().out


def run_in(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """The comparison as a process of its own."""
    (folder / "w.csv").write_text(WORKLOADS)
    return subprocess.run(
        [sys.executable, compare.__file__, *FILES, "--seconds", "0.01", *options],
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "2", "PYTHONPATH": PACKAGE},
        capture_output=True,
        text=True,
    )


def keys_in_a_file(folder: Path) -> list[str]:
    """The keys of the workloads."""
    (folder / "w.csv").write_text(WORKLOADS)
    keys = [key_on(workload, CPU) for workload in read_workloads(folder / "w.csv")]
    return [",".join(key) for key in keys if key is not None]


def test_a_comparison_from_start_to_end(tmp_path: Path, write_results: Callable[..., str]) -> None:
    mm, linear, _ = keys_in_a_file(tmp_path)
    text = write_results(f"{mm},Default")
    (tmp_path / "r.csv").write_text(text)
    library = write_results(f"{mm},Default", f"{linear},Gemm_OneDnn")
    (tmp_path / "l.csv").write_text(library)
    done = run_in(tmp_path, "--library-results", "l.csv", "--record", "./here/record")
    assert (done.returncode, done.stderr) == (0, "")
    rows, facts = read_record(str(tmp_path / "here" / "record")) or ([], {})
    assert [row["library_solution"] for row in rows] == ["Default", "Gemm_OneDnn", "(no result)"]
    for row in rows:
        equal = row["library_solution"] == row["solution"]
        assert (row["library_ratio"] == row["ratio"]) == equal
        assert (row["library_us"] == row["tuned_us"]) == equal
    assert [(row["problem"], row["solution"]) for row in rows] == [
        ("mm float32 nt 4x64x64", "Default"),
        ("linear float32 nt 4x64x64", "(no result)"),
        ("bmm float32 nn 4x16x16x16", "(no result)"),
    ]
    assert all(float(row["ratio"]) > 0 for row in rows)
    assert all(float(row["floor_us"]) > 0 for row in rows)
    assert facts["failed"] == []
    families = re.findall(
        r"^ *(few|many|all) +(\d) +(tuned|library kernels only) ", done.stdout, re.M
    )
    assert families == [
        (family, number, side)
        for family, number in (("few", "2"), ("many", "1"), ("all", "3"))
        for side in ("tuned", "library kernels only")
    ]
    assert (tmp_path / "r.csv").read_text() == text, "nothing is written"
    assert (tmp_path / "l.csv").read_text() == library


def test_a_results_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    keys_in_a_file(tmp_path)
    done = run_in(tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "--results r.csv: there is no such file; `tune` makes one\n"


def test_a_library_file_that_cannot_be_used_is_an_error(
    tmp_path: Path, write_results: Callable[..., str]
) -> None:
    mm, *_ = keys_in_a_file(tmp_path)
    (tmp_path / "r.csv").write_text("")
    (tmp_path / "l.csv").write_text(write_results(f"{mm},Gemm_Nobodys"))
    done = run_in(tmp_path, "--library-results", "l.csv")
    assert (done.returncode, done.stdout) == (1, "")
    assert "Gemm_Nobodys" in done.stderr
    done = run_in(tmp_path, "--library-results", "none.csv")
    assert done.stderr == "--library-results none.csv: there is no such file; `tune` makes one\n"


def test_a_results_file_without_any_of_the_products_is_said(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("")
    done = run_in(tmp_path)
    assert done.returncode == 0
    assert done.stderr.startswith("WARNING: r.csv has no result for any of the 3 products on ")


def test_the_ceilings_of_a_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu_ceilings, "READ_BYTES", 1 << 20)
    monkeypatch.setattr(cpu_ceilings, "SIZE", 64)
    ceilings = measure_cpu_ceilings(["float32", "bfloat16", "float32"])
    assert list(ceilings.operations_per_second) == ["bfloat16", "float32"]
    assert min(ceilings.operations_per_second.values()) > 1e6
    assert ceilings.bytes_per_second > 1e6
    # 2^24 weights are read once.
    product = Workload("", "mm", "float32", "nt", 1, 1, 4096, 4096)
    moved = 4 * (4096 * 4096 + 2 * 4096)
    assert ceilings.floor_us(product) >= 1e6 * moved / ceilings.bytes_per_second * 0.999
