"""Records on disk, and the README's blocks that are made from them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import fake_cuda
import pytest
import readme_table
import record
import torch
from conftest import CPU
from record import FOLDER, facts_of, read_record, record_stem, write_record
from tunedops import get_workloads
from tunedops.workloads import read_workloads

ROWS: list[dict[str, Any]] = [
    {
        "problem": "mm bfloat16 nt 1x2x3",
        "suite": suite,
        "solution": "Default",
        "default_us": 2.123456,
        "tuned_us": 1.0,
        "ratio": ratio,
        "rounds": 11,
        "floor_us": 1.0,
    }
    for suite, ratio in (("decode", 2.0), ("batched", 0.5))
]
GPU_FACTS = {
    "device": "NVIDIA H200",
    "torch": "2.11.0+cu130",
    "date": "2026-12-01T00:00:00+00:00",
    "method": "some method",
    "validators": {"CUBLASLT_VERSION": "130200"},
    "nvidia_smi": {"driver_version": "580.1"},
    "failed": [],
}


def test_a_record_is_a_name_or_a_path() -> None:
    assert record_stem("gpu") == FOLDER / "gpu"
    assert record_stem("build/gpu/record") == Path("build/gpu/record")
    assert record_stem("/tmp/x.csv") == Path("/tmp/x")


def test_what_is_written_is_read(tmp_path: Path) -> None:
    name = str(tmp_path / "new" / "some.record")
    path = write_record(ROWS, GPU_FACTS, name)
    assert path.read_text().splitlines()[:2] == [
        "problem,suite,default_us,tuned_us,ratio,rounds,solution,floor_us",
        "mm bfloat16 nt 1x2x3,decode,2.1235,1.0,2.0,11,Default,1.0",
    ]
    rows, facts = read_record(name) or ([], {})
    assert [row["suite"] for row in rows] == ["decode", "batched"]
    assert facts == GPU_FACTS
    assert read_record(str(tmp_path / "none")) is None


def test_facts_of_a_cpu() -> None:
    facts = facts_of(CPU)
    assert facts["threads"] == torch.get_num_threads()
    assert "nvidia_smi" not in facts


def test_a_driver_that_does_not_answer_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_cuda.install(monkeypatch)
    monkeypatch.setenv("PATH", "/nowhere")
    assert record.ask_driver(0) == {}


def test_what_the_driver_answers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake_cuda.install(monkeypatch)
    program = tmp_path / "nvidia-smi"
    program.write_text(
        "#!/bin/sh\ncase $1 in --id=GPU-0) ;; *) exit 1;; esac\n"
        "echo '580.1, 1980 MHz, 1980 MHz, 3201 MHz, 120.00 W, 700.00 W'\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    answer = record.ask_driver(0)
    assert answer["driver_version"] == "580.1"
    assert answer["power.limit"] == "700.00 W"


def test_the_readmes_gpu_block() -> None:
    lines = readme_table.gpu_block(ROWS, GPU_FACTS, "gpu").splitlines()
    assert lines[0] == "### On one NVIDIA H200"
    assert lines[2].startswith("torch 2.11.0+cu130, cuBLASLt 130200, driver 580.1, 2026-12-01; ")
    assert lines[4].startswith("| family | rows | geomean | worst | worst row |")
    assert lines[5] == "|---|---:|---:|---:|---|---:|---:|---:|"
    assert lines[6].startswith("| decode | 1 | 2.000x | 2.000x | mm bfloat16 nt 1x2x3 | 100% | - |")
    assert [line.split()[1] for line in lines[6:9]] == ["decode", "batched", "all"]
    text = " ".join(lines)
    assert "| TunableOp's procedure, emulated |" in text
    assert "in torch 2.11 only `Default` on CUDA" in text
    assert [line.partition(":")[0] for line in lines[-2:]] == ["- decode", "- batched"]
    assert "library kernels only" not in text
    assert "1 rows failed" in readme_table.gpu_block(ROWS, {**GPU_FACTS, "failed": ["a"]}, "gpu")


def test_the_readmes_gpu_block_with_library_kernels() -> None:
    rows = [{**row, "library_ratio": "1.25", "library_solution": "Default"} for row in ROWS]
    lines = readme_table.gpu_block(rows, GPU_FACTS, "gpu").splitlines()
    assert lines[4].endswith(
        "| >= 1.02x | library kernels only | TunableOp's procedure, emulated | torch/floor |"
    )
    assert lines[5] == "|---|---:|---:|---:|---|---:|---:|---:|---:|"
    assert lines[6].endswith("| 100% | 1.250x | - | 2.12 |")
    assert "*library kernels only* is what is tuned where" in " ".join(lines)


def test_every_family_of_the_gpus_workload_is_explained() -> None:
    workloads = read_workloads(get_workloads() / "gpu.csv")
    assert {workload.suite for workload in workloads} == set(readme_table.FAMILIES)


def test_without_a_record_the_block_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(record, "FOLDER", tmp_path)
    assert readme_table.block("gpu") == f"### On a GPU\n\n{readme_table.NOT_RECORDED}"
    write_record(ROWS, GPU_FACTS, "gpu")
    assert "decode" in readme_table.block("gpu")


def test_the_readmes_block_on_tuning(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(record, "FOLDER", tmp_path)
    assert readme_table.block("tuning") == "", "neither is recorded"
    one = {"regret_median": 0.001, "regret_worst": 0.0345, "tuning_ms_median": 398.7}
    write_record(ROWS, {**GPU_FACTS, "summary": {"400": one}}, "regret_gpu")
    assert readme_table.block("tuning") == "", "one is not"
    summary = {
        "times": 5,
        "products": 20,
        "products_with_several_winners": 3,
        "choices": 100,
        "choices_unlike_the_most_frequent": 7,
        "largest_difference": 0.0123,
    }
    write_record(ROWS, {**GPU_FACTS, "summary": summary}, "repeat_gpu")
    text = readme_table.block("tuning")
    assert "| 400 ms | 0.1% | 3.5% | 399 ms |" in text.splitlines()
    words = " ".join(text.split())
    assert f"{len(ROWS)} products of the table, tuned on an NVIDIA H200" in words
    assert "17 got the same kernel every time, and 93 of 100 choices" in words
    assert "differ by 1.2% at most" in words


def test_the_readme_admits_the_worst_row_of_the_cpus_record() -> None:
    rows, _ = read_record("cpu") or ([], {})
    text = readme_table.README.read_text()
    promises = text[text.index("## What it does not promise") :]
    assert re.findall(r"[\d.]+x", promises) == [f"{min(float(r['ratio']) for r in rows):.2f}x"]


def test_the_readme_is_what_the_records_say() -> None:
    script = Path(readme_table.__file__)
    subprocess.run([sys.executable, script, "--check"], check=True)
