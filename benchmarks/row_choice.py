"""A choice of a workload file's rows, where there is no time for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, zip_longest

from line_alignment import is_aligned
from tunedops.workloads import Workload

OPS = ("mm", "linear")
DTYPE = "bfloat16"


def spread(workloads: Sequence[Workload], count: int) -> list[Workload]:
    """Some single products in bfloat16, in their order.

    Half of them are unaligned, at like distances in the file; in the other half each family has
    its turn. Where one half has too few, the other has more.
    """
    fitting = [w for w in dict.fromkeys(workloads) if w.op in OPS and w.dtype == DTYPE]
    unaligned = [w for w in fitting if not is_aligned(w)]
    aligned = by_turns([w for w in fitting if is_aligned(w)])
    some = evenly(unaligned, max(count // 2, count - len(aligned)))
    chosen = {*some, *aligned[: count - len(some)]}
    return [w for w in fitting if w in chosen]


def by_turns(workloads: Sequence[Workload]) -> list[Workload]:
    """The first of each family, then the second of each, and so on."""
    families: dict[str, list[Workload]] = {}
    for workload in workloads:
        families.setdefault(workload.suite, []).append(workload)
    turns = chain.from_iterable(zip_longest(*families.values()))
    return [workload for workload in turns if workload is not None]


def evenly(workloads: Sequence[Workload], count: int) -> list[Workload]:
    """As many, or all, the first among them and the others at like distances."""
    count = min(count, len(workloads))
    return [workloads[place * len(workloads) // count] for place in range(count)]
