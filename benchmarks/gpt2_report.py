"""The GPT-2 runs' rows together: what they say, what must not be, and how it is printed."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from gpt2_rows import RATES, TIMES, largest
from gpt2_runs import SIDES, Decisions
from report import make_console
from rich.box import SIMPLE_HEAD
from rich.table import Table
from tuning_log import Tuned


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
    """The numbers that are not of one run, without those of what no run did."""
    found: dict[str, Any] = {}
    for what in RATES:
        if rows[0][f"{what}_tokens_per_s"] is None:
            continue
        values = ratios(rows, f"{what}_tokens_per_s")
        found[f"{what}_ratio"] = round(statistics.median(values), 4)
        found[f"{what}_ratio_of_rounds"] = [round(value, 4) for value in values]
        found[f"{what}_ratio_at_best"] = round(ratio_at_best(rows, f"best_{what}_tokens_per_s"), 4)
    if rows[0]["loss_difference"] is not None:
        found["loss_difference"] = largest(row["loss_difference"] for row in rows)
    return found | {
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
    if not summary.get("loss_difference", 0.0) <= tolerance:  # also if it is NaN
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
    titles = [f"{what} [tokens/s]" for what in RATES]
    for column in (*titles, "whole run [s]", "longest wait for a token [ms]"):
        table.add_column(column, justify="right")
    for side in SIDES:
        # The first run without tunedops is no round: it warms the machine up.
        own = [row for row in rows if row["side"] == side and (row["round"] or side == "online")]
        middle = {
            name: statistics.median(row[name] for row in own)
            for name in TIMES
            if own[0][name] is not None
        }
        rates = [middle.get(f"{what}_tokens_per_s") for what in RATES]
        table.add_row(
            side,
            *("-" if rate is None else f"{rate:.1f}" for rate in rates),
            f"{middle['whole_s']:.1f}",
            f"{1e3 * middle['longest_wait_s']:.0f}",
        )
    console = make_console()
    console.print(table)
    for line in sentences(summary, tokens):
        console.print(line, soft_wrap=True)


def sentences(summary: dict[str, Any], tokens: int) -> list[str]:
    """What the summary says, in words."""
    done = [what for what in RATES if f"{what}_ratio" in summary]
    ratio = [
        f"{what} {summary[f'{what}_ratio']:.3f}x ({min(values):.3f} to {max(values):.3f})"
        for what in done
        for values in [summary[f"{what}_ratio_of_rounds"]]
    ]
    best = [f"{what} {summary[f'{what}_ratio_at_best']:.3f}x" for what in done]
    losses = (
        f"losses differ by at most {summary['loss_difference']:.1e}; "
        if "loss_difference" in summary
        else ""
    )
    return [
        f"tuned over without: {', '.join(ratio)}; each side at its best: {', '.join(best)}",
        f"{losses}the first {summary['equal_tokens']} of {tokens} generated tokens are the same",
        f"online tuning: {summary['tuned_problems']} problems, "
        f"{summary['tuned_problems_measured']} of them measured, {summary['tuned_problems_won']} "
        f"won by another kernel than torch's, in {summary['tuning_s']:.1f} s of "
        f"{summary['tuning_budget_s']:.0f} s, at most {summary['longest_tuning_ms']:.0f} ms each",
        f"products: {summary['products']} calls, {summary['products_with_a_result']} with a "
        f"result, {summary['products_on_another_kernel']} on another kernel than torch's; "
        f"{summary['problems']} problems, {summary['problems_with_a_result']} with a result",
    ]
