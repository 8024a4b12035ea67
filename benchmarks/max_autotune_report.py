"""Rows with a compiled side: their columns, what they say together, and how they are printed."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from families import LOSS, Row
from inductor_side import Compiled
from rounds import Round, geomean, side_columns, tuned_columns

COLUMNS = (
    *("problem", "suite"),
    *("default_us", "tuned_us", "ratio", "ratio_p10", "ratio_p90", "rounds", "solution"),
    *("max_autotune_us", "max_autotune_ratio", "tuned_over_max_autotune"),
    *("max_autotune_kernels", "compile_s"),
)
MEANS = ("ratio", "max_autotune_ratio", "tuned_over_max_autotune")
"""torch's time over each side's, and how many times faster tunedops is than Inductor."""


def columns_of(rounds: Sequence[Round], solution: str, compiled: Compiled) -> dict[str, Any]:
    """The columns of a row; its sides are torch's, ours, and the compiled one."""
    return {
        **tuned_columns(rounds),
        "solution": solution,
        **side_columns(rounds, 2, "max_autotune"),
        "tuned_over_max_autotune": statistics.median(one[2] / one[1] for one in rounds),
        "max_autotune_kernels": compiled.kernels,
        "compile_s": compiled.seconds,
    }


def summary_of(rows: Sequence[Row]) -> dict[str, Any]:
    """Geometric means, and where tunedops is the slower of the two; empty without rows."""
    if not rows:
        return {}
    return {
        "rows": len(rows),
        **{f"{name}_geomean": round(geomean(row[name] for row in rows), 4) for name in MEANS},
        "slower_than_max_autotune": [
            row["problem"] for row in rows if row["tuned_over_max_autotune"] < LOSS
        ],
        "compile_s": round(sum(row["compile_s"] for row in rows), 1),
    }


def print_row(row: Row) -> None:
    """One product, as soon as it is measured."""
    print(
        f"{row['problem']:<38} torch {row['default_us']:.2f} us; "
        f"tuned {row['ratio']:.3f}x {row['solution']}; "
        f"max-autotune {row['max_autotune_ratio']:.3f}x {row['max_autotune_kernels']}, "
        f"compiled in {row['compile_s']:.0f} s",
        flush=True,
    )


def print_summary(summary: Mapping[str, Any]) -> None:
    """What the rows say together."""
    print(
        f"geometric means of {summary['rows']} rows: torch over tuned "
        f"{summary['ratio_geomean']:.3f}x, torch over max-autotune "
        f"{summary['max_autotune_ratio_geomean']:.3f}x, max-autotune over tuned "
        f"{summary['tuned_over_max_autotune_geomean']:.3f}x; compiled in "
        f"{summary['compile_s']:.0f} s"
    )
    for problem in summary["slower_than_max_autotune"]:
        print(f"max-autotune is faster by more than 1 %: {problem}")
