"""The events of a Chrome trace that ``torch.profiler`` wrote, and which lie in which.

Only what a reader of products needs: the ops of each thread as trees, and how long kernels of
GPUs ran that were launched at some moment of a thread.
"""

from __future__ import annotations

import gzip
import json
import zlib
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Thread = tuple[Any, Any]
"""Its process and its number, as the trace has them."""

# Kineto rounds begin and length to nanoseconds each, so a child may seem to end a little late.
_SLACK_US = 0.0015

_LAUNCHES = ("cuda_runtime", "cuda_driver")


@dataclass
class OpEvent:
    """One call of an op. Times are microseconds."""

    name: str
    begin: float
    end: float
    thread: Thread
    args: dict[str, Any]
    children: list[OpEvent] = field(default_factory=list)

    @property
    def duration(self) -> float:
        """Microseconds, with all that it calls."""
        return self.end - self.begin

    def descendants(self) -> Iterator[OpEvent]:
        """All that it calls, outer before inner."""
        pending = self.children[::-1]
        while pending:
            op = pending.pop()
            yield op
            pending += op.children[::-1]


@dataclass(frozen=True)
class Kernel:
    """One run of a kernel of a GPU."""

    duration: float
    device: int


@dataclass
class TraceEvents:
    """What a trace holds."""

    roots: list[OpEvent]
    """Ops that no other op called, thread after thread, in the order of time."""
    kernels: list[Kernel]
    graph_launches: int
    """CUDA graphs that were launched: no op tells what is in them."""
    _launched: dict[Thread, list[tuple[float, Kernel]]]

    def kernels_of(self, op: OpEvent) -> list[Kernel]:
        """Those launched by an op or by what it calls."""
        launched = self._launched.get(op.thread, [])
        first = bisect_left(launched, op.begin, key=lambda entry: entry[0])
        last = bisect_right(launched, op.end, key=lambda entry: entry[0])
        return [kernel for _, kernel in launched[first:last]]


def read_events(path: str | Path) -> TraceEvents:
    """The events of a trace file, compressed with gzip or not.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is no trace of torch.profiler, or a part of one; the message says what is
            wrong.
    """
    data = Path(path).read_bytes()
    if data.startswith(b"\x1f\x8b"):
        try:
            data = gzip.decompress(data)
        except (EOFError, OSError, zlib.error) as error:
            raise ValueError(f"{path}: expected a gzip file, got a broken one ({error})") from error
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ValueError(
            f"{path}: expected a trace in JSON, got text that is none or is cut off ({error})"
        ) from error
    events = document.get("traceEvents") if isinstance(document, dict) else None
    if not isinstance(events, list):
        raise ValueError(
            f"{path}: expected a Chrome trace as torch.profiler's export_chrome_trace writes it, "
            "got JSON without 'traceEvents'"
        )
    return _sorted_out([event for event in events if _is_complete(event)])


def _is_complete(event: Any) -> bool:
    """Whether it is an event with a beginning and a length."""
    return (
        isinstance(event, dict)
        and event.get("ph") == "X"
        and isinstance(event.get("name"), str)
        and all(isinstance(event.get(name), (int, float)) for name in ("ts", "dur"))
    )


def _sorted_out(events: list[dict[str, Any]]) -> TraceEvents:
    ops: list[OpEvent] = []
    launches: dict[int | None, tuple[Thread, float]] = {}
    # Where the launch itself is not in the trace, a kernel still says of which op it was.
    begun: dict[int | None, tuple[Thread, float]] = {}
    kernels: list[tuple[dict[str, Any], Kernel]] = []
    graph_launches = 0
    for event in events:
        args = event.get("args")
        args = args if isinstance(args, dict) else {}
        thread = (event.get("pid"), event.get("tid"))
        begin = float(event["ts"])
        if event.get("cat") == "cpu_op":
            ops.append(OpEvent(event["name"], begin, begin + event["dur"], thread, args))
            begun[_number(args, "External id")] = (thread, begin)
        elif event.get("cat") in _LAUNCHES:
            launches[_number(args, "correlation")] = (thread, begin)
            graph_launches += event["name"].startswith(("cudaGraphLaunch", "cuGraphLaunch"))
        elif event.get("cat") == "kernel":
            kernel = Kernel(float(event["dur"]), _number(args, "device") or 0)
            kernels.append((args, kernel))
    launched: dict[Thread, list[tuple[float, Kernel]]] = defaultdict(list)
    launches.pop(None, None)
    begun.pop(None, None)
    for args, kernel in kernels:
        place = launches.get(_number(args, "correlation"), begun.get(_number(args, "External id")))
        if place is not None:
            launched[place[0]].append((place[1], kernel))
    for entries in launched.values():
        entries.sort(key=lambda entry: entry[0])
    return TraceEvents(_nested(ops), [k for _, k in kernels], graph_launches, dict(launched))


def _number(args: dict[str, Any], name: str) -> int | None:
    value = args.get(name)
    return value if isinstance(value, int) and value >= 0 else None


def _nested(ops: Iterable[OpEvent]) -> list[OpEvent]:
    by_thread: dict[Thread, list[OpEvent]] = defaultdict(list)
    for op in ops:
        by_thread[op.thread].append(op)
    roots: list[OpEvent] = []
    for of_thread in by_thread.values():
        open_ops: list[OpEvent] = []
        for op in sorted(of_thread, key=lambda each: (each.begin, -each.end)):
            while open_ops and op.end > open_ops[-1].end + _SLACK_US:
                open_ops.pop()
            (open_ops[-1].children if open_ops else roots).append(op)
            open_ops.append(op)
    return roots
