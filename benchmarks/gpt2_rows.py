"""A run of the GPT-2 program as a row of numbers, some of them beside the first run's.

What a run did not do, training with no steps for one, is None in its row, an empty field.
"""

from __future__ import annotations

import argparse
import math
import statistics
from collections.abc import Iterable, Sequence
from typing import Any

from gpt2_runs import Run

RATES = ("training", "prefill", "generation")
TIMES = (
    "whole_s",
    "first_step_s",
    "training_tokens_per_s",
    "best_training_tokens_per_s",
    "first_generation_s",
    "longest_wait_s",
    "prefill_tokens_per_s",
    "best_prefill_tokens_per_s",
    "generation_tokens_per_s",
    "best_generation_tokens_per_s",
)
COLUMNS = ("side", "round", *TIMES, "last_loss", "loss_difference", "equal_tokens")


def row_of(
    side: str, number: int, run: Run, base: Run, arguments: argparse.Namespace
) -> dict[str, Any]:
    """The columns of one run; its loss and its tokens are compared with those of `base`."""
    texts = arguments.texts
    return {
        "side": side,
        "round": number,
        "whole_s": run.whole_s,
        "first_step_s": run.step_seconds[0] if run.step_seconds else None,
        **rates("training", arguments.batch * arguments.length, run.timed_steps()),
        "first_generation_s": run.generations[0].seconds[-1],
        "longest_wait_s": run.generations[0].longest_wait(),
        **rates("prefill", texts * arguments.prompt, run.prefill_seconds()),
        **rates("generation", texts * (arguments.tokens - 1), run.writing_seconds()),
        "last_loss": run.losses[-1] if run.losses else None,
        "loss_difference": loss_difference(run, base),
        "equal_tokens": equal_tokens(run, base),
    }


def rates(what: str, tokens: int, seconds: Sequence[float]) -> dict[str, float | None]:
    """Two columns: a rate is that of the median time, the best one of the least."""
    return {
        f"{what}_tokens_per_s": tokens / statistics.median(seconds) if seconds else None,
        f"best_{what}_tokens_per_s": tokens / min(seconds) if seconds else None,
    }


def loss_difference(run: Run, base: Run) -> float | None:
    """The largest relative difference of a step's loss; NaN if one is NaN."""
    differences = [
        abs(one - other) / abs(other) for one, other in zip(run.losses, base.losses, strict=True)
    ]
    return largest(differences) if differences else None


def largest(values: Iterable[float]) -> float:
    """The largest; NaN, which no comparison finds, if there is one."""
    return max(values, key=lambda value: (math.isnan(value), value))


def equal_tokens(run: Run, base: Run) -> int:
    """How many tokens are the same before one differs, in any text of any generation."""
    pairs = [zip(one.tokens, base.generations[0].tokens, strict=True) for one in run.generations]
    return min(
        next((i for i, (step, other) in enumerate(pair) if step != other), len(one.tokens))
        for pair, one in zip(pairs, run.generations, strict=True)
    )


def sentence_of(run: Run) -> str:
    """How long it took, for whoever waits."""
    steps = run.timed_steps()
    generation = min(one.seconds[-1] for one in run.timed_generations())
    training = f"{min(steps):.4f} s a training step and " if steps else ""
    return f"{run.whole_s:.1f} s in all, {training}{generation:.3f} s a generation at best"
