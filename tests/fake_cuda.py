"""What the benchmarks use of `torch.cuda`, played on the CPU.

A fake graph records the ops of its capture and computes them again into the same outputs at
each replay; a fake event reads the clock.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from tunedops import _C

CACHE_BYTES = 40_000


class FakeGraph:
    """The ops of a capture, with their arguments and outputs."""

    def __init__(self) -> None:
        self.ops: list[tuple[Any, Any, Any, Any]] = []
        self.replays = 0

    def replay(self) -> None:
        self.replays += 1
        for function, args, kwargs, output in self.ops:
            result = function(*args, **kwargs)
            if result.data_ptr() != output.data_ptr():  # no view
                output.copy_(result)


class Capture(TorchDispatchMode):
    def __init__(self, graph: FakeGraph):
        super().__init__()
        self.graph = graph

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None):
        output = function(*args, **(kwargs or {}))
        self.graph.ops.append((function, args, kwargs or {}, output))
        return output


class FakeEvent:
    def __init__(self, enable_timing: bool = False) -> None:
        assert enable_timing
        self.time: float | None = None

    def record(self) -> None:
        self.time = time.perf_counter()

    def elapsed_time(self, end: FakeEvent) -> float:
        assert self.time is not None
        assert end.time is not None
        return (end.time - self.time) * 1e3


@contextlib.contextmanager
def capture(graph: FakeGraph, pool: object = None, stream: object = None) -> Iterator[None]:
    with Capture(graph):
        yield


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Puts the fakes in the place of torch's."""
    fakes = {
        "CUDAGraph": FakeGraph,
        "Event": FakeEvent,
        "Stream": lambda place: SimpleNamespace(device=place, cuda_stream=0),
        "graph": capture,
        "stream": lambda stream: contextlib.nullcontext(),
        "graph_pool_handle": lambda: (0, 1),
        "synchronize": lambda: None,
        "_sleep": lambda cycles: None,
        "empty_cache": lambda: None,
        "get_device_properties": lambda place: SimpleNamespace(
            L2_cache_size=CACHE_BYTES // 2, uuid="0"
        ),
    }
    for name, fake in fakes.items():
        monkeypatch.setattr(torch.cuda, name, fake)
    # A build for CPUs only has none.
    monkeypatch.setattr(_C, "scatter_blocks", lambda device, seed, stream: None, raising=False)
