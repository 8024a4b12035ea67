"""How the GPT-2 benchmark reads what its runs say, and what it makes of it."""

from __future__ import annotations

import math

import gpt2
import gpt2_report
import gpt2_rows
import pytest
from gpt2_runs import Decisions, Generation, Run, read_decisions, read_run
from record import read_record
from tuning_log import Tuned, read_tuned

MM = "GemmTunableOp_float_TN,tn_4_2_8_ld_8_8_4_threads_2"
BMM = "GemmStridedBatchedTunableOp_float_NN,nn_4_2_8_B_3_ld_4_8_4_threads_2"


def run_with(
    losses: tuple[float, ...] = (2.0, 1.0), tokens: tuple[int, ...] = (5, 6, 7), seconds: float = 1
) -> Run:
    times = tuple(seconds * (i + 1) for i in range(len(tokens)))
    generation = Generation(tuple((token,) for token in tokens), times)
    return Run(9.0, losses, (3.0, 1.0, 2.0) if losses else (), (generation,), ())


def test_a_run_is_read_from_what_the_program_prints() -> None:
    said = [
        {"step": 0, "loss": 2.5, "seconds": 3.0},
        {"step": 1, "loss": 1.5, "seconds": 1.0},
        {"tokens": [[1, 4], [2, 5]], "seconds": [0.5, 2.5]},
        {"tokens": [[1, 4], [2, 5]], "seconds": [0.25, 1.0]},
    ]
    run = read_run(said, 7.0, ())
    assert run.losses == (2.5, 1.5)
    assert run.timed_steps() == (1.0,), "without the first"
    assert run.timed_generations() == run.generations[1:], "without the first"
    assert (run.prefill_seconds(), run.writing_seconds()) == ((0.25,), (0.75,))
    assert run.generations[0].tokens == ((1, 4), (2, 5))
    assert run.generations[0].longest_wait() == 2.0
    assert read_run(said[:1] + said[2:3], 7.0, ()).prefill_seconds() == (0.5,), "no other"


def test_one_token_is_no_generation_after_the_first() -> None:
    run = read_run([{"tokens": [[1]], "seconds": [0.5]}], 7.0, ())
    assert (run.prefill_seconds(), run.writing_seconds()) == ((0.5,), ())


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
    assert gpt2_rows.loss_difference(run_with((2.0, 1.1)), base) == pytest.approx(0.1)
    assert math.isnan(gpt2_rows.loss_difference(run_with((math.nan, 1.0)), base))
    assert gpt2_rows.equal_tokens(base, base) == 3
    assert gpt2_rows.equal_tokens(run_with(tokens=(5, 9, 7)), base) == 1
    assert gpt2_rows.loss_difference(run_with(()), run_with(())) is None


def test_the_rates_of_a_run() -> None:
    arguments = gpt2.parse_arguments(["--tokens", "3", "--texts", "8", "--prompt", "512"])
    row = gpt2_rows.row_of("tuned", 1, run_with(seconds=0.5), run_with(), arguments)
    assert set(row) == set(gpt2_rows.COLUMNS)
    assert row["prefill_tokens_per_s"] == row["best_prefill_tokens_per_s"] == 8 * 512 / 0.5
    assert row["generation_tokens_per_s"] == 8 * 2 / 1.0, "without the first"
    assert row["best_training_tokens_per_s"] == 128 / 1.0


def summary(*tuned: Tuned, losses: tuple[float, ...] = (2.0, 1.0)) -> dict[str, object]:
    arguments = gpt2.parse_arguments(["--tokens", "3"])
    base = run_with()
    rows = [
        gpt2_rows.row_of(side, number, run, base, arguments)
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
    assert found["prefill_ratio"] == 3.0
    assert found["training_ratio"] == found["training_ratio_at_best"] == 1.0


def test_without_training_there_are_no_numbers_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = gpt2.parse_arguments(["--tokens", "3", "--steps", "0"])
    base = run_with(())
    rows = [
        gpt2_rows.row_of(side, number, base, base, arguments)
        for side, number in (("without", 0), ("online", 0), ("without", 1), ("tuned", 1))
    ]
    empty = {column for column, value in rows[0].items() if value is None}
    assert empty == {
        "first_step_s",
        "training_tokens_per_s",
        "best_training_tokens_per_s",
        "last_loss",
        "loss_difference",
    }
    decisions = Decisions({MM: 5}, frozenset([MM]))
    found = gpt2_report.summary_of(rows, (), decisions, budget_s=1)
    assert not any("training" in name or "loss" in name for name in found)
    assert gpt2_report.faults_of(found, (), [], 1e-3) == []
    gpt2_report.print_report(rows, found, 3)
    printed = capsys.readouterr().out
    assert "tuned over without: prefill 1.000x" in printed
    assert "losses" not in printed
    assert "s in all, 3.000 s a generation" in gpt2_rows.sentence_of(base)


def test_a_summary_of_a_record_without_prefill_is_still_put_into_words() -> None:
    _, facts = read_record("gpt2_cpu") or ([], {})
    words = gpt2_report.sentences(facts["summary"], 200)[0]
    assert words.startswith("tuned over without: training 1.")
    assert "generation 1." in words


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
