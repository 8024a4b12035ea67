"""A GPT-2 of transformers that knows nothing of tunedops trains and writes with it."""

from __future__ import annotations

import sys
from pathlib import Path

import gpt2
import gpt2_runs
import gpt2_story
import pytest
from gpt2_story import MODEL, Story
from record import read_record

pytest.importorskip("transformers")

pytestmark = pytest.mark.slow
TOKENS = 200


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Story:
    return gpt2_story.live_through(tmp_path_factory.mktemp("gpt2"), tokens=TOKENS)


def test_the_program_imports_torch_and_transformers_only() -> None:
    names = gpt2_story.imports_of(gpt2_runs.FOLDER / "gpt2_program.py")
    assert names - sys.stdlib_module_names == {"torch", "transformers"}


def test_training_comes_out_the_same(story: Story) -> None:
    gpt2_story.check_losses(story, tolerance=1e-3)


def test_it_writes_as_much_as_was_asked_for(story: Story) -> None:
    for run in (story.without, story.online, story.after):
        assert [len(text.tokens) for text in run.generations] == [TOKENS]


def test_nothing_is_said(story: Story) -> None:
    for run in (story.without, story.online, story.after):
        assert run.warnings == ()


def test_each_tuned_problem_is_a_row_of_the_file(story: Story) -> None:
    rows = story.results_online.read_text().splitlines()
    keys = {",".join(row.split(",")[:2]) for row in rows if not row.startswith("Validator,")}
    assert keys == {one.key for one in story.tuned_online}


def test_tuning_keeps_to_its_bounds(story: Story) -> None:
    gpt2_story.check_pace(story)


def test_every_product_is_routed_and_has_a_result_afterwards(story: Story) -> None:
    gpt2_story.check_routing(story)


def test_a_sequence_that_grows_has_more_problems_than_are_tuned_online(story: Story) -> None:
    # Two products of attention, of each length.
    growing = 2 * (TOKENS - 1)
    assert len(story.decisions.calls) > growing
    assert len(story.tuned_online) < growing


def test_texts_are_continued_at_once_without_training(tmp_path: Path) -> None:
    model = (MODEL | {"generations": 2}).items()
    small = [text for name, value in model for text in (f"--{name}", str(value))]
    some = ["--steps", "0", "--texts", "3", "--prompt", "40", "--tokens", "4", "--rounds", "1"]
    some += ["--setting", "MAX_WAITING_PERCENT=100"]  # whatever else this machine does
    gpt2.main([*small, *some, "--record", str(tmp_path / "record")])
    rows, facts = read_record(str(tmp_path / "record")) or ([], {})
    assert [row["side"] for row in rows] == ["without", "online", "without", "tuned", "counted"]
    for row in rows:
        assert row["equal_tokens"] == "4"
        assert row["training_tokens_per_s"] == row["last_loss"] == ""
        assert (row["prefill_tokens_per_s"] != "") == (row["side"] != "counted")
    assert facts["arguments"]["texts"] == 3
    assert facts["summary"]["prefill_ratio"] > 0
    # The last product of a step has a row for each text.
    results = (tmp_path / "record_tuned.csv").read_text()
    assert "tn_1000_3_64_" in results
