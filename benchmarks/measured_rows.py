"""The rows of a benchmark: one for each workload, whatever happens to the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tunedops.cli.processor_share import ProcessorShare
from tunedops.workloads import Workload

Measure = Callable[[Workload], dict[str, Any]]
Show = Callable[[dict[str, Any]], None]


def measure_all(
    workloads: Sequence[Workload], measure: Measure, show: Show
) -> tuple[list[dict[str, Any]], list[str]]:
    """The measured rows, and what failed: a wrong result, or an error of the device."""
    share = ProcessorShare()
    rows: list[dict[str, Any]] = []
    failed: list[str] = []
    for workload in workloads:
        try:
            measured = measure(workload)
        except RuntimeError as error:
            failed.append(f"{workload}: {str(error).partition(chr(10))[0]}")
            print(f"FAILED {failed[-1]}", flush=True)
            continue
        rows.append({"problem": str(workload), "suite": workload.suite, **measured})
        show(rows[-1])
    if share.was_lacking():
        print(
            f"the machine was busy: threads waited {share.waited():.0%} of the time for a "
            "processor, so these ratios are of other work too"
        )
    return rows, failed
