"""How the GPT-2 benchmark reads what its runs say, and what it makes of it."""

from __future__ import annotations

import math

import gpt2
import gpt2_report
import pytest
from gpt2_runs import Decisions, Generation, Run, read_decisions, read_run
from tuning_log import Tuned, read_tuned

MM = "GemmTunableOp_float_TN,tn_4_2_8_ld_8_8_4_threads_2"
BMM = "GemmStridedBatchedTunableOp_float_NN,nn_4_2_8_B_3_ld_4_8_4_threads_2"


def run_with(
    losses: tuple[float, ...] = (2.0, 1.0), tokens: tuple[int, ...] = (5, 6, 7), seconds: float = 1
) -> Run:
    times = tuple(seconds * (i + 1) for i in range(len(tokens)))
    return Run(9.0, losses, (3.0, 1.0, 2.0), (Generation(tokens, times),), ())


def test_a_run_is_read_from_what_the_program_prints() -> None:
    said = [
        {"step": 0, "loss": 2.5, "seconds": 3.0},
        {"step": 1, "loss": 1.5, "seconds": 1.0},
        {"tokens": [1, 2], "seconds": [0.5, 2.5]},
        {"tokens": [1, 2], "seconds": [0.1, 0.3]},
    ]
    run = read_run(said, 7.0, ())
    assert run.losses == (2.5, 1.5)
    assert run.timed_steps() == (1.0,), "without the first"
    assert run.timed_generations() == (0.3,), "without the first"
    assert run.generations[0].longest_wait() == 2.0
    assert read_run(said[:1] + said[2:3], 7.0, ()).timed_generations() == (2.5,), "no other"


def test_what_was_tuned_is_read_from_the_log() -> None:
    log = (
        f"{MM} -> Gemm_OneDnn 0.5 ms (Default 1 ms), tuned in 31.5 ms\n"
        f"{BMM} -> Default, the only candidate\n"
        "of another kind\n"
        f"{MM} -> nothing, tuned in 2e+03 ms\n"
        f"{MM} -> Default 1 ms (Default 1 ms), tuned in 4 ms, disturbed by other work\n"
    )
    assert read_tuned(log) == [
        Tuned(MM, "Gemm_OneDnn", 31.5),
        Tuned(BMM, "Default", 0),
        Tuned(MM, "nothing", 2000),
        Tuned(MM, "Default", 4),
    ]


def test_what_was_decided_is_read_from_the_trace() -> None:
    trace = (
        f"{MM}: from the file, a plan of ours\n"
        f"{MM}: from the file, a plan of ours\n"
        f"{BMM}: on miss, Default, for this call only\n"
        "params_alone: Gemm_OneDnn 0.5 ms\n"
    )
    decisions = read_decisions({MM: 5, BMM: 2, "new,product": 1}, trace)
    assert decisions.from_file == decisions.ours == {MM}
    assert decisions.missed == {BMM}
    assert decisions.unasked() == ["new,product"]
    assert decisions.count() == 8
    assert decisions.count(decisions.from_file) == 5


def test_differences_between_runs() -> None:
    base = run_with()
    assert gpt2_report.loss_difference(run_with((2.0, 1.1)), base) == pytest.approx(0.1)
    assert math.isnan(gpt2_report.loss_difference(run_with((math.nan, 1.0)), base))
    assert gpt2_report.equal_tokens(base, base) == 3
    assert gpt2_report.equal_tokens(run_with(tokens=(5, 9, 7)), base) == 1


def summary(*tuned: Tuned, losses: tuple[float, ...] = (2.0, 1.0)) -> dict[str, object]:
    arguments = gpt2.parse_arguments(["--tokens", "3"])
    base = run_with()
    rows = [
        gpt2_report.row_of(side, number, run, base, arguments)
        for side, number, run in (
            ("without", 0, base),
            ("online", 0, run_with(losses)),
            ("without", 1, base),
            ("tuned", 1, run_with(seconds=0.5)),
            ("without", 2, base),
            ("tuned", 2, run_with(seconds=0.25)),
        )
    ]
    decisions = Decisions({MM: 5, BMM: 2}, frozenset([MM]), frozenset([MM]), frozenset([BMM]))
    return gpt2_report.summary_of(rows, tuned, decisions, budget_s=1)


def test_ratios_are_taken_within_rounds() -> None:
    found = summary()
    assert found["generation_ratio_of_rounds"] == [2.0, 4.0]
    assert found["generation_ratio"] == 3.0
    assert found["generation_ratio_at_best"] == 4.0
    assert found["training_ratio"] == found["training_ratio_at_best"] == 1.0


def test_what_was_tuned_and_counted() -> None:
    found = summary(Tuned(MM, "Gemm_OneDnn", 300), Tuned(BMM, "Default", 0))
    assert found["tuned_problems"] == 2
    assert found["tuned_problems_measured"] == found["tuned_problems_won"] == 1
    assert found["tuning_s"] == 0.3
    assert (found["products"], found["products_with_a_result"]) == (7, 5)
    assert (found["problems"], found["problems_with_a_result"]) == (2, 1)
    assert "2 problems, 1 of them measured, 1 won" in " ".join(gpt2_report.sentences(found, 3))


def test_what_must_not_be() -> None:
    fine = (Tuned(MM, "Default", 900), Tuned(BMM, "Default", 900))
    assert gpt2_report.faults_of(summary(*fine), fine, [], 1e-3) == []
    late = (*fine, Tuned(MM, "Default", 1))
    assert "budget" in gpt2_report.faults_of(summary(*late), late, [], 1e-3)[0]
    assert "differ" in gpt2_report.faults_of(summary(losses=(2, 1.1)), (), [], 1e-3)[0]
    assert "differ" in gpt2_report.faults_of(summary(losses=(math.nan, 1)), (), [], 1e-3)[0]
    assert gpt2_report.faults_of(summary(), (), ["tunedops: odd"], 1e-3) == [
        "a warning: tunedops: odd"
    ]


def test_the_devices_defaults_may_be_overruled() -> None:
    assert gpt2.parse_arguments([]).layers == 4
    arguments = gpt2.parse_arguments(
        ["--device", "cuda", "--layers", "2", "--setting", "KERNELS=Default"]
    )
    assert (arguments.layers, arguments.dtype) == (2, "bfloat16")
    assert arguments.setting == {"KERNELS": "Default"}
    assert "--layers 2 " in " ".join(gpt2.program_arguments(arguments))
    with pytest.raises(SystemExit):
        gpt2.parse_arguments(["--setting", "KERNELS"])
