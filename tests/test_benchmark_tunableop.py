"""The procedure by which TunableOp chooses, with times that are known beforehand."""

from __future__ import annotations

import fake_cuda
import pytest
import torch
from conftest import CPU
from sides import key_of
from tunableop import GraphTimer, choose, competitors
from tunedops import _C


class FakeTimer:
    """Times a solution as told, and remembers what was asked; 0 calls are its beginning."""

    def __init__(self, **milliseconds: float):
        self.milliseconds = milliseconds
        self.asked: list[tuple[str, int]] = []

    def begin(self, solution: str) -> None:
        self.solution = solution
        self.asked.append((solution, 0))
        if solution not in self.milliseconds:
            raise RuntimeError("not supported")

    def mean_ms(self, calls: int) -> float:
        self.asked.append((self.solution, calls))
        return self.milliseconds[self.solution]

    def choose(self) -> str:
        return choose(list(self.milliseconds), self)


def test_competitors_are_torchs_kernel_and_eight_proposals() -> None:
    proposals = [f"Gemm_Cublaslt_id_{i}" for i in range(10)]
    names = competitors(["Gemm_Ours", *proposals, "Gemm_CublasltPadded_id_1", "Default"])
    assert names == ["Default", *proposals[:8]]


def test_the_calls_are_one_then_three_then_ten_then_what_fits() -> None:
    timer = FakeTimer(Default=1.0, a=0.9)
    assert timer.choose() == "a"
    assert timer.asked == [
        *[("Default", 0), ("Default", 3), ("Default", 10), ("Default", 30)],
        *[("a", 0), ("a", 3), ("a", 10), ("a", 33)],
    ]


@pytest.mark.parametrize(("milliseconds", "calls"), [(0.001, 100), (0.3, 100), (31.0, 1)])
def test_the_last_calls_are_at_most_a_hundred_and_at_least_one(
    milliseconds: float, calls: int
) -> None:
    timer = FakeTimer(Default=milliseconds)
    timer.choose()
    assert timer.asked[-1] == ("Default", calls)


@pytest.mark.parametrize(
    ("milliseconds", "groups"), [(1.51, 1), (1.5, 2), (1.16, 2), (1.15, 3), (1.0, 3)]
)
def test_slow_ones_leave_early(milliseconds: float, groups: int) -> None:
    timer = FakeTimer(Default=1.0, a=milliseconds)
    assert timer.choose() == "Default"
    assert sum(solution == "a" and calls > 0 for solution, calls in timer.asked) == groups


def test_a_tie_stays_with_the_first_and_any_gain_wins() -> None:
    assert FakeTimer(Default=1.0, a=1.0).choose() == "Default"
    assert FakeTimer(Default=1.0, a=0.999, b=0.999).choose() == "a"


def test_one_that_cannot_run_is_passed_over() -> None:
    timer = FakeTimer(Default=1.0, b=0.5)
    assert choose(["Default", "a", "b"], timer) == "b"
    assert [calls for solution, calls in timer.asked if solution == "a"] == [0]
    assert choose(["a"], timer) == "Default"


def test_graphs_rotate_under_the_forced_solution(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_cuda.install(monkeypatch)
    operands = [(torch.full((2, 2), float(i)), torch.eye(2)) for i in range(3)]
    seen: list[float] = []
    overlays: set[bool] = set()

    def call(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        seen.append(next(float(i) for i, given in enumerate(operands) if given[0] is a))
        overlay = _C.exchange_overlay(0)
        _C.exchange_overlay(overlay)
        overlays.add(overlay != 0)
        return a @ b

    timer = GraphTimer(call, operands, object())
    timer.begin("Default")
    assert seen == [0], "the call that shows whether it can run"
    assert timer.mean_ms(3) > 0
    assert seen == [0, 0, 1, 2], "one graph for each operand set"
    assert [graph.replays for graph in timer.graphs] == [1 + 2, 1 + 2, 1 + 1]
    assert timer.next == 2
    assert timer.mean_ms(10) > 0
    assert seen == [0, 0, 1, 2], "made once"
    assert sum(graph.replays for graph in timer.graphs) == 3 + (2 + 3) + (2 + 10)
    assert len({output.data_ptr() for output in timer.outputs}) == 3, "outputs rotate too"
    first = timer.graphs[0]
    timer.begin("Default")
    assert timer.graphs == [], "a candidate has graphs of its own"
    timer.mean_ms(1)
    assert timer.graphs[0] is not first
    assert overlays == {True}
    assert _C.exchange_overlay(0) == 0


def test_only_the_graphs_that_are_replayed_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_cuda.install(monkeypatch)
    operands = [(torch.ones(2, 2), torch.eye(2)) for _ in range(128)]
    timer = GraphTimer(torch.mm, operands, object())
    timer.begin("Default")
    timer.mean_ms(3)
    assert len(timer.graphs) == 5
    timer.mean_ms(10)
    assert len(timer.graphs) == 17
    timer.mean_ms(100)
    assert len(timer.graphs) == 119
    timer.mean_ms(100)
    assert len(timer.graphs) == 128


def test_candidates_name_what_tuning_would_measure() -> None:
    key = key_of((torch.ones(3, 4), torch.ones(4, 5)))
    assert key is not None
    names = _C.candidates(CPU, *key)
    assert names[0] == "Default"
    assert len(set(names)) == len(names)
    assert _C.results(CPU) == []
    measured = [m[0] for m in _C.tune(CPU, *key, False).measurements]
    assert sorted(names) == sorted(measured)
    _C.set_setting("KERNELS", "Gemm_OneDnn")
    assert set(_C.candidates(CPU, *key)) <= {"Default", "Gemm_OneDnn"}
    with pytest.raises(ValueError, match="is not a problem"):
        _C.candidates(CPU, "nonsense", "nn_1_2_3")
