"""The GPT-2 runs in numbers: a row for each, what they say together, and how it is printed."""

from __future__ import annotations

import argparse
import math
import statistics
from collections.abc import Iterable, Sequence
from typing import Any

from gpt2_runs import SIDES, Decisions, Run
from report import make_console
from rich.box import SIMPLE_HEAD
from rich.table import Table
from tuning_log import Tuned

TIMES = (
    "whole_s",
    "first_step_s",
    "training_tokens_per_s",
    "best_training_tokens_per_s",
    "first_generation_s",
    "longest_wait_s",
    "generation_tokens_per_s",
    "best_generation_tokens_per_s",
)
COLUMNS = ("side", "round", *TIMES, "last_loss", "loss_difference", "equal_tokens")


def loss_difference(run: Run, base: Run) -> float:
    """The largest relative difference of a step's loss; NaN if one is NaN."""
    differences = [
        abs(one - other) / abs(other) for one, other in zip(run.losses, base.losses, strict=True)
    ]
    return largest(differences)


def largest(values: Iterable[float]) -> float:
    """The largest; NaN, which no comparison finds, if there is one."""
    return max(values, key=lambda value: (math.isnan(value), value))


def equal_tokens(run: Run, base: Run) -> int:
    """How many tokens are the same before the first one that differs, in any generation."""
    pairs = [zip(text.tokens, base.generations[0].tokens, strict=True) for text in run.generations]
    return min(
        next((i for i, (one, other) in enumerate(pair) if one != other), len(text.tokens))
        for pair, text in zip(pairs, run.generations, strict=True)
    )


def row_of(
    side: str, number: int, run: Run, base: Run, arguments: argparse.Namespace
) -> dict[str, Any]:
    """The columns of one run. A rate is that of the median time, the best one of the least."""
    step_tokens = arguments.batch * arguments.length
    steps, generations = run.timed_steps(), run.timed_generations()
    return {
        "side": side,
        "round": number,
        "whole_s": run.whole_s,
        "first_step_s": run.step_seconds[0],
        "training_tokens_per_s": step_tokens / statistics.median(steps),
        "best_training_tokens_per_s": step_tokens / min(steps),
        "first_generation_s": run.generations[0].seconds[-1],
        "longest_wait_s": run.generations[0].longest_wait(),
        "generation_tokens_per_s": arguments.tokens / statistics.median(generations),
        "best_generation_tokens_per_s": arguments.tokens / min(generations),
        "last_loss": run.losses[-1],
        "loss_difference": loss_difference(run, base),
        "equal_tokens": equal_tokens(run, base),
    }


def ratios(rows: Sequence[dict[str, Any]], column: str) -> list[float]:
    """How many times as fast as without tunedops, for each round."""
    without = {row["round"]: row[column] for row in rows if row["side"] == "without"}
    return [row[column] / without[row["round"]] for row in rows if row["side"] == "tuned"]


def ratio_at_best(rows: Sequence[dict[str, Any]], column: str) -> float:
    """The same of the best that any round brought: what other work disturbed least."""
    best = {
        side: max(row[column] for row in rows if row["side"] == side)
        for side in ("without", "tuned")
    }
    return best["tuned"] / best["without"]


def summary_of(
    rows: Sequence[dict[str, Any]], tuned: Sequence[Tuned], decisions: Decisions, budget_s: float
) -> dict[str, Any]:
    """The numbers that are not of one run."""
    found: dict[str, Any] = {}
    for what in ("training", "generation"):
        values = ratios(rows, f"{what}_tokens_per_s")
        found[f"{what}_ratio"] = round(statistics.median(values), 4)
        found[f"{what}_ratio_of_rounds"] = [round(value, 4) for value in values]
        found[f"{what}_ratio_at_best"] = round(ratio_at_best(rows, f"best_{what}_tokens_per_s"), 4)
    return found | {
        "loss_difference": largest(row["loss_difference"] for row in rows),
        "equal_tokens": min(row["equal_tokens"] for row in rows),
        "tuned_problems": len(tuned),
        "tuned_problems_measured": sum(one.ms > 0 for one in tuned),
        "tuned_problems_won": sum(one.solution not in ("Default", "nothing") for one in tuned),
        "tuning_s": round(sum(one.ms for one in tuned) / 1e3, 3),
        "tuning_budget_s": budget_s,
        "longest_tuning_ms": max((one.ms for one in tuned), default=0.0),
        "products": decisions.count(),
        "products_with_a_result": decisions.count(decisions.from_file),
        "products_on_another_kernel": decisions.count(decisions.ours),
        "problems": len(decisions.calls),
        "problems_with_a_result": len(decisions.from_file & set(decisions.calls)),
        "problems_unasked": decisions.unasked(),
    }


def faults_of(
    summary: dict[str, Any], tuned: Sequence[Tuned], warnings: Sequence[str], tolerance: float
) -> list[str]:
    """What must not be, in sentences."""
    faults = [f"a warning: {line}" for line in warnings]
    if not summary["loss_difference"] <= tolerance:  # also if it is NaN
        faults.append(f"losses differ by {summary['loss_difference']:.2g}, allowed {tolerance}")
    if summary["problems_unasked"]:
        faults.append(f"products went past tunedops: {summary['problems_unasked'][:3]}")
    if not summary["products_with_a_result"]:
        faults.append("no product found a result")
    # A problem that has begun within the budget is finished.
    if sum(one.ms for one in tuned[:-1]) > 1e3 * summary["tuning_budget_s"]:
        faults.append("a problem was tuned after the budget was spent")
    return faults


def print_report(rows: Sequence[dict[str, Any]], summary: dict[str, Any], tokens: int) -> None:
    """The sides as a table, then what was tuned and counted."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("side")
    for column in ("training [tokens/s]", "generation [tokens/s]", "whole run [s]"):
        table.add_column(column, justify="right")
    table.add_column("longest wait for a token [ms]", justify="right")
    for side in SIDES:
        # The first run without tunedops is no round: it warms the machine up.
        own = [row for row in rows if row["side"] == side and (row["round"] or side == "online")]
        middle = {name: statistics.median(row[name] for row in own) for name in TIMES}
        table.add_row(
            side,
            f"{middle['training_tokens_per_s']:.0f}",
            f"{middle['generation_tokens_per_s']:.1f}",
            f"{middle['whole_s']:.1f}",
            f"{1e3 * middle['longest_wait_s']:.0f}",
        )
    console = make_console()
    console.print(table)
    for line in sentences(summary, tokens):
        console.print(line, soft_wrap=True)


def sentences(summary: dict[str, Any], tokens: int) -> list[str]:
    """What the summary says, in words."""
    ratio = {
        what: f"{what} {summary[f'{what}_ratio']:.3f}x ({min(values):.3f} to {max(values):.3f})"
        for what in ("training", "generation")
        for values in [summary[f"{what}_ratio_of_rounds"]]
    }
    return [
        f"tuned over without: {ratio['training']}, {ratio['generation']}; each side at its best: "
        f"training {summary['training_ratio_at_best']:.3f}x, "
        f"generation {summary['generation_ratio_at_best']:.3f}x",
        f"losses differ by at most {summary['loss_difference']:.1e}; the first "
        f"{summary['equal_tokens']} of {tokens} generated tokens are the same",
        f"online tuning: {summary['tuned_problems']} problems, "
        f"{summary['tuned_problems_measured']} of them measured, {summary['tuned_problems_won']} "
        f"won by another kernel than torch's, in {summary['tuning_s']:.1f} s of "
        f"{summary['tuning_budget_s']:.0f} s, at most {summary['longest_tuning_ms']:.0f} ms each",
        f"products: {summary['products']} calls, {summary['products_with_a_result']} with a "
        f"result, {summary['products_on_another_kernel']} on another kernel than torch's; "
        f"{summary['problems']} problems, {summary['problems_with_a_result']} with a result",
    ]
