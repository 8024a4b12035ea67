"""Tuning in fresh processes for the benchmarks, and solutions that are timed side by side."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import fresh_process
import measure_cpu
import pytest
import side_by_side
import tuning_runs
from conftest import CPU, QUICK
from side_by_side import SideBySide, time_side_by_side
from sides import key_on
from tunedops import _C
from tunedops.workloads import Workload
from tuning_runs import Choice, TuningRun, read_run, tune, tune_in_turn

MM = Workload("few", "mm", "float32", "nt", 1, 4, 64, 64)
HEADER = "suite,op,dtype,layout,batch,m,n,k\n"
KEY = ("GemmTunableOp_float_TN", "tn_64_4_64_ld_64_64_64_threads_2")


def test_settings_of_the_environment_are_not_handed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TUNEDOPS_KERNELS", "Gemm_OneDnn")
    monkeypatch.setenv("OTHER", "kept")
    variables = fresh_process.environment({"VERBOSE": "1"})
    ours = {name: text for name, text in variables.items() if name.startswith("TUNEDOPS_")}
    no_tiers = {"TUNEDOPS_CACHE_DIR": "", "TUNEDOPS_DATABASE_DIR": ""}
    assert ours == {"TUNEDOPS_VERBOSE": "1"} | no_tiers
    without = fresh_process.environment(None)
    assert not any(name.startswith("TUNEDOPS_") for name in without)
    assert variables["OTHER"] == "kept"
    assert os.environ["TUNEDOPS_KERNELS"] == "Gemm_OneDnn"


def test_a_run_keeps_what_was_chosen_and_how_long_it_took(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    workloads = tmp_path / "w.csv"
    workloads.write_text(f"{HEADER}few,mm,float32,nt,1,4,64,64\n")
    (run,) = tune_in_turn(workloads, CPU, {"quick": QUICK})
    assert key_on(MM, CPU) == KEY
    choice = run.choice(KEY)
    assert choice.solution in _C.candidates(CPU, *KEY)
    assert choice.tuned_ms is not None
    assert choice.tuned_ms > 0
    assert "quick: tuned 1 of 1 products in " in capsys.readouterr().out


def test_a_problem_without_a_result_is_an_error() -> None:
    run = TuningRun({KEY: "Gemm_OneDnn"}, {})
    assert run.choice(KEY) == Choice("Gemm_OneDnn", None)
    for key in (("GemmTunableOp_float_TN", "tn_1_2_3"), None):
        with pytest.raises(RuntimeError, match="has no result"):
            run.choice(key)


def test_a_process_that_leaves_no_results_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "w.csv").write_text("nonsense\n")
    with pytest.raises(RuntimeError, match=r"(?s)a label: tuning ended with \d.*expected the head"):
        tune(tmp_path / "w.csv", CPU, tmp_path / "run", {}, "a label")


def test_a_process_that_fails_in_part_is_said_and_read(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    write_results: Callable[..., str],
) -> None:
    text = write_results(",".join([*KEY, "Gemm_OneDnn"]))

    def fails(arguments: list[str], folder: Path, settings: dict[str, str]) -> object:
        assert arguments[:3] == ["-m", "tunedops", "tune"]
        assert arguments[4:] == ["--device", "cuda:1", "-o", tuning_runs.RESULTS]
        assert settings == {"A": "b", "VERBOSE": "1", "VERBOSE_FILENAME": tuning_runs.LOG}
        (folder / tuning_runs.RESULTS).write_text(text)
        return fresh_process.subprocess.CompletedProcess([], 1, "", "a product failed")

    monkeypatch.setattr(fresh_process, "run", fails)
    tune(tmp_path / "w.csv", ("cuda", 1), tmp_path / "run", {"A": "b"}, "a label")
    assert "a label: tuning ended with 1:\na product failed" in capsys.readouterr().err
    run = read_run(tmp_path / "run", CPU)
    assert run.choice(KEY) == Choice("Gemm_OneDnn", None), "there is no log"


def test_how_much_longer_is_taken_within_rounds() -> None:
    # The clocks halve after the first rounds; A takes 1.1 of B's time in each.
    rounds = [[3e-6, 2.2e-6, 2e-6]] * 5 + [[6e-6, 4.4e-6, 4e-6]] * 6
    timed = SideBySide(["Default", "A", "B"], rounds)
    assert timed.excess("A", "B") == pytest.approx(0.1)
    assert timed.excess("B", "A") == pytest.approx(1 / 1.1 - 1)
    assert timed.excess("Default", "B") == pytest.approx(0.5)
    assert timed.by_time(["Default", "A", "B"]) == ["B", "A", "Default"]
    assert timed.microseconds("B") == pytest.approx(4)


def test_each_solution_is_one_side_and_default_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_C, "cache_bytes", lambda device: 40_000)
    side_by_side.start_timing(CPU)
    timed = time_side_by_side(MM, CPU, ["Gemm_OneDnn", "Default", "Gemm_OneDnn"], 0.01)
    assert timed.solutions == ["Default", "Gemm_OneDnn"]
    assert {len(one) for one in timed.rounds} == {2}
    assert timed.microseconds("Gemm_OneDnn") > 0
    assert _C.exchange_overlay(0) == 0, "nothing is forced any more"


def test_a_gpu_has_its_own_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[object] = []

    def time_solutions(*arguments: object) -> list[list[float]]:
        given.extend(arguments)
        return [[2.0, 1.0]]

    monkeypatch.setattr(side_by_side.measure_cuda, "time_solutions", time_solutions)
    timed = time_side_by_side(MM, ("cuda", 1), ["A"], 3.0)
    assert given == [MM, ("cuda", 1), ["Default", "A"], 3.0]
    assert timed.excess("A", "Default") == -0.5


def test_a_loop_runs_what_is_forced(monkeypatch: pytest.MonkeyPatch) -> None:
    forced: list[bool] = []

    def call(a: object, b: object) -> None:
        overlay = _C.exchange_overlay(0)
        _C.exchange_overlay(overlay)
        forced.append(overlay != 0)

    monkeypatch.setattr(measure_cpu, "calls_of", lambda workload: (call, call))
    operands = [MM.operands("cpu")]
    for solution, expected in (("Default", {False}), ("Gemm_OneDnn", {True})):
        forced.clear()
        measure_cpu.forced_side(MM, solution, operands)
        assert set(forced) == expected
