"""The same GPT-2 of transformers as in test_gpt2.py, on a GPU and in bfloat16."""

from __future__ import annotations

import gpt2_story
import pytest
from gpt2_story import Story

pytest.importorskip("transformers")

pytestmark = [pytest.mark.gpu, pytest.mark.slow]
TOKENS = 48  # each beyond the first few is two problems that have to be tuned beforehand


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Story:
    folder = tmp_path_factory.mktemp("gpt2")
    return gpt2_story.live_through(folder, tokens=TOKENS, device="cuda", dtype="bfloat16")


def test_training_comes_out_the_same(story: Story) -> None:
    gpt2_story.check_losses(story, tolerance=2e-2)


def test_nothing_is_said(story: Story) -> None:
    for run in (story.without, story.online, story.after):
        assert run.warnings == ()


def test_tuning_keeps_to_its_bounds(story: Story) -> None:
    gpt2_story.check_pace(story)


def test_every_product_is_routed_and_has_a_result_afterwards(story: Story) -> None:
    gpt2_story.check_routing(story)
