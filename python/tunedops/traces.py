"""The tunable problems of a profiled program, with how often they ran and for how long."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import torch

from tunedops.arguments import path_of
from tunedops.bound_arguments import BoundArguments
from tunedops.device import described_device
from tunedops.trace_events import OpEvent, TraceEvents, read_events
from tunedops.trace_products import (
    Assumptions,
    calls,
    exact_problem,
    has_shapes,
    problem_from_shapes,
)
from tunedops.trace_walk import products_in


@dataclass
class TracedProblem:
    """One problem of a trace."""

    bound: BoundArguments
    is_exact: bool
    """Whether the trace names it; else it follows from recorded shapes."""
    count: int = 0
    """Calls."""
    time_us: float = 0
    """Microseconds of all calls: of the kernels that they launched on a GPU or, if there are
    none, of the ops on the CPU with all that they call."""
    share: float = 0
    """Of the time of all kernels or, of an op without kernels, of all ops."""


@dataclass
class TraceReport:
    """What a trace tells."""

    problems: list[TracedProblem]
    """Each once, the longest first."""
    notes: list[str]
    """What was assumed and what is left out: a sentence for each kind, with the count of calls."""


def read_trace(
    path: str | os.PathLike[str], device: str | torch.device | None = None
) -> TraceReport:
    """The problems of a Chrome trace of ``torch.profiler``, also of one compressed with gzip.

    A product inside another op (``aten::addmm`` in ``aten::linear``) counts once. Products that
    ran with this package are named in the trace; of others the problem follows from shapes,
    which need ``record_shapes=True``, and what these leave open is assumed (``notes``).

    Args:
        path: what ``export_chrome_trace`` wrote, with CPU activities.
        device: where the products ran that launched no kernels of a GPU; the trace does not say.
            None: on the CPU.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is no such trace, it has no shapes, or no product that can be tuned.
    """
    name = path_of("read_trace", "path", path)
    events = read_events(Path(name))
    if not events.roots:
        raise ValueError(
            f"{name}: expected a trace with ops of the CPU, got one with none; profile with "
            "ProfilerActivity.CPU"
        )
    reader = _Reader(events, described_device("read_trace", "cpu" if device is None else device))
    for op in products_in(events.roots):
        reader.add(op)
    if not reader.problems:
        raise ValueError(f"{name}: {reader.why_nothing()}")
    return reader.report()


class _Reader:
    """Adds calls up."""

    def __init__(self, events: TraceEvents, device: torch.device) -> None:
        self.problems: dict[BoundArguments, TracedProblem] = {}
        self._events = events
        self._device = device
        self._kernels_us = sum(kernel.duration for kernel in events.kernels)
        self._ops_us = sum(op.duration for op in events.roots)
        self._assumptions = Assumptions()
        self._without_shapes = 0
        self._left_out = 0
        self._unknown = 0

    def add(self, call: tuple[OpEvent, OpEvent, bool]) -> None:
        """Counts one call."""
        op, timed, is_mv = call
        kernels = self._events.kernels_of(timed)
        device = torch.device("cuda", kernels[0].device) if kernels else self._device
        try:
            bound = exact_problem(op)
        except ValueError:
            self._unknown += 1
            return
        named = bound is not None
        if bound is None:
            if not has_shapes(op):
                self._without_shapes += 1
                return
            bound = problem_from_shapes(op, device, self._assumptions, is_mv)
        if bound is None:
            self._left_out += 1
            return
        problem = self.problems.setdefault(bound, TracedProblem(bound, named))
        problem.is_exact = problem.is_exact or named
        problem.count += 1
        if kernels:
            time_us = sum(kernel.duration for kernel in kernels)
            total_us = self._kernels_us
        else:
            time_us, total_us = timed.duration, self._ops_us
        problem.time_us += time_us
        problem.share += time_us / total_us if total_us > 0 else 0

    def why_nothing(self) -> str:
        """What to do about a trace without problems."""
        if self._without_shapes:
            return (
                f"expected recorded shapes, got products without any "
                f"({calls(self._without_shapes)}); profile with record_shapes=True"
            )
        if self._events.graph_launches:
            return (
                "holds no product that can be tuned, but launches of CUDA graphs, whose content "
                "no trace tells; profile a step that runs without them"
            )
        return "holds no product that can be tuned"

    def report(self) -> TraceReport:
        """The problems, the longest first, and the notes."""
        notes = self._assumptions.sentences()
        for count, text in (
            (self._without_shapes, "no shapes are recorded: left out"),
            (self._left_out, "only torch's own kernel can compute it: left out"),
            (self._unknown, "the trace names a problem that this release does not know: left out"),
        ):
            if count:
                notes.append(f"{text} ({calls(count)})")
        if self._events.graph_launches:
            notes.append(
                "what CUDA graphs hold is not told: left out (launches: "
                f"{self._events.graph_launches})"
            )
        problems = sorted(self.problems.values(), key=lambda each: -each.time_us)
        return TraceReport(problems, notes)
