"""Writes a workload file, so that what a benchmark times can be tuned before by `tune`."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from tunedops.workloads import COLUMNS, Workload


def write_workloads(path: Path, workloads: Sequence[Workload], comment: str) -> None:
    """One row for each product, below a comment that says what they are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", newline="") as file:
        file.write(f"# {comment}\n")
        writer = csv.DictWriter(file, fieldnames=COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(vars(workload) for workload in workloads)
    print(f"{len(workloads)} products: {path}; `tune` makes a results file of them")
