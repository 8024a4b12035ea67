"""What the measurement of a call's cost prints: a small table for each question, and the aims.

A table has one line for each call and one column for each kind of process.
"""

from __future__ import annotations

from collections.abc import Sequence

from overhead_plan import ABSENT, ENABLED
from overhead_rows import Row
from report import make_console
from rich.box import SIMPLE_HEAD
from rich.table import Table

EAGER_AIMS = {"Gemm_Cublaslt": 0.87, "Gemm_Skinny": 0.65}
"""Of torch.mm's time in a process that never enabled anything, for torch.mm."""
SMALL_AIMS = {"float32": 1.0, "bfloat16": 0.5}
"""The same for the fastest kernel, by type, for torch.mm and for tunedops.mm."""
LOOKUP_AIM_NS = 100
LOOKUP_LIMIT_NS = 150

Entry = tuple[str, str, str]
"""A line's name, a column's name, and what stands there."""


def print_pivot(title: str, corner: str, entries: Sequence[Entry]) -> None:
    """Entries as a table, lines and columns in the order in which they first come."""
    columns = list(dict.fromkeys(column for _, column, _ in entries))
    table = Table(title=title, box=SIMPLE_HEAD, pad_edge=False)
    table.add_column(corner, no_wrap=True)
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    texts = {(line, column): text for line, column, text in entries}
    for line in dict.fromkeys(line for line, _, _ in entries):
        table.add_row(line, *(texts.get((line, column), "-") for column in columns))
    make_console().print(table)


def kernel_of(row: Row) -> str:
    """The kernel that a row's process runs, or why it runs torch's."""
    if row["state"] != ENABLED:
        return str(row["state"])
    return "_".join(row["solution"].split("_")[:2])


def print_eager(rows: Sequence[Row]) -> None:
    """Microseconds and ratios, a table for each product."""
    for product in dict.fromkeys(row["product"] for row in rows):
        entries = [
            (row["call"], kernel_of(row), f"{row['us']:.2f}  {row['of_torch_mm']:.2f}x")
            for row in rows
            if row["product"] == product
        ]
        print_pivot(f"{product}: us a call, and of torch.mm never enabled", "call", entries)
    for row in rows:
        aim = EAGER_AIMS.get(kernel_of(row))
        if aim is not None and row["call"] == "torch.mm":
            print(
                f"torch.mm with {kernel_of(row)}, {row['product']}: {row['of_torch_mm']:.3f}x "
                f"(tenths of the rounds: {row['of_torch_mm_p10']:.3f} to "
                f"{row['of_torch_mm_p90']:.3f}); aim {aim}x at most"
            )


def print_small(rows: Sequence[Row]) -> None:
    """The same tables, and for each product and call the kernel that is fastest."""
    print_eager(rows)
    for product in dict.fromkeys(row["product"] for row in rows):
        for call in ("torch.mm", "tunedops.mm"):
            best = min(
                (r for r in rows if (r["product"], r["call"]) == (product, call) if r["solution"]),
                key=lambda row: row["of_torch_mm"],
            )
            print(
                f"{call}, {product}: {best['of_torch_mm']:.3f}x with {kernel_of(best)} "
                f"(tenths of the rounds: {best['of_torch_mm_p10']:.3f} to "
                f"{best['of_torch_mm_p90']:.3f}); aim {SMALL_AIMS[product.split()[0]]}x at most"
            )


def print_lookups(rows: Sequence[Row]) -> None:
    """What each call costs in torch, and how much more elsewhere."""
    entries: list[Entry] = []
    for row in rows:
        line = f"{row['product']} {row['call']}{', in turn' if row['called'] > 1 else ''}"
        text = f"{row['ns']:.0f}"
        if row["state"] != ABSENT:
            tenths = f"{row['price_ns_p10']:.0f}..{row['price_ns_p90']:.0f}"
            text = f"{row['price_ns']:+.0f} ({tenths})"
        entries.append((line, process(row), text))
    print_pivot("ns of a call that takes torch's kernel in the end, and how many more", "", entries)
    print(
        "In brackets: tenths of the rounds. at::mm is called in C++, the others in Python; what is "
        f"more than torch.mm's for tunedops.mm.\nin turn: {max(row['called'] for row in rows)} "
        f"products. Aim with results: {LOOKUP_AIM_NS} ns more, limit {LOOKUP_LIMIT_NS} ns."
    )


def process(row: Row) -> str:
    """The state of a row's process, or how many results it has."""
    if row["state"] != ENABLED:
        return str(row["state"])
    return f"{row['results']} result{'s' if row['results'] > 1 else ''}"


def print_threads(rows: Sequence[Row]) -> None:
    """Millions of calls a second."""
    entries = []
    for row in rows:
        kernel = f"{kernel_of(row)}, " if row["state"] == ENABLED else ""
        text = f"{row['calls_per_second'] / 1e6:.2f}  {row['of_never_enabled']:.2f}x"
        entries.append((str(row["threads"]), kernel + process(row), text))
    title = "millions of calls a second, and a call's time of that never enabled"
    print_pivot(f"{rows[0]['product']}: {title}", "threads", entries)
