"""Regrets in numbers: a row for each product, what they say together, and how it is printed."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from report import make_console
from rich.box import SIMPLE_HEAD
from rich.table import Table
from side_by_side import SideBySide
from sides import DEFAULT
from tuning_runs import Choice

Row = Mapping[str, Any]
Summary = Mapping[str, Mapping[str, float | None]]
"""By budget, whose milliseconds are text, as they are in a record."""

LINES = {
    "regret, median": ("regret_median", "{:.2%}"),
    "regret, worst": ("regret_worst", "{:.2%}"),
    "tuning a product, median [ms]": ("tuning_ms_median", "{:.0f}"),
    "tuning a product, longest [ms]": ("tuning_ms_longest", "{:.0f}"),
}


def columns_of(budgets: Sequence[int]) -> list[str]:
    """A record's columns."""
    kinds = ("regret", "tuning_ms", "solution")
    first = ["problem", "suite", "default_us", "best_us", "best_solution", "rounds"]
    return [*first, *(f"{kind}_{budget}" for kind in kinds for budget in budgets)]


def row_of(choices: Mapping[int, Choice], timed: SideBySide) -> dict[str, Any]:
    """The columns of one product, whose choices are those of each budget."""
    best = timed.by_time(timed.solutions)[0]
    row: dict[str, Any] = {
        "default_us": timed.microseconds(DEFAULT),
        "best_us": timed.microseconds(best),
        "best_solution": best,
        "rounds": len(timed.rounds),
    }
    for budget, choice in choices.items():
        # Of two that take the same time either may come out ahead within the rounds.
        row[f"regret_{budget}"] = max(0.0, timed.excess(choice.solution, best))
        row[f"tuning_ms_{budget}"] = choice.tuned_ms
        row[f"solution_{budget}"] = choice.solution
    return row


def summary_of(rows: Sequence[Row], budgets: Sequence[int]) -> dict[str, dict[str, float | None]]:
    """What the rows say together of each budget."""
    found: dict[str, dict[str, float | None]] = {}
    for budget in budgets:
        regrets = [row[f"regret_{budget}"] for row in rows]
        times = [row[f"tuning_ms_{budget}"] for row in rows]
        known = [value for value in times if value is not None]
        found[str(budget)] = {
            "regret_median": round(statistics.median(regrets), 4),
            "regret_worst": round(max(regrets), 4),
            "tuning_ms_median": round(statistics.median(known), 1) if known else None,
            "tuning_ms_longest": round(max(known), 1) if known else None,
        }
    return found


def print_row(row: Row) -> None:
    """One product, as soon as it is measured."""
    print(
        f"{row['problem']:<38} torch {row['default_us']:.2f} us, best {row['best_us']:.2f} us "
        f"{row['best_solution']}",
        flush=True,
    )


def print_regrets(rows: Sequence[Row], summary: Summary, title: str) -> None:
    """The regrets as a table, then what they say together."""
    table = Table(title=f"regret: {title}", box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("budget")
    for budget in summary:
        table.add_column(f"{budget} ms", justify="right", no_wrap=True)
    for row in rows:
        table.add_row(row["problem"], *(f"{row[f'regret_{budget}']:.2%}" for budget in summary))
    table.add_section()
    for line, (name, form) in LINES.items():
        values = [numbers[name] for numbers in summary.values()]
        table.add_row(line, *("-" if value is None else form.format(value) for value in values))
    make_console().print(table)
