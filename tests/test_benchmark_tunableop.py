"""The procedure by which TunableOp chooses, with times that are known beforehand."""

from __future__ import annotations

import fake_cuda
import pytest
import torch
from conftest import CPU
from sides import key_of
from tunableop import EagerTimer, choose, competitors
from tunedops import _C


class FakeTimer:
    """Times a solution as told, and remembers what was asked."""

    def __init__(self, **milliseconds: float):
        self.milliseconds = milliseconds
        self.asked: list[tuple[str, int]] = []

    def mean_ms(self, solution: str, calls: int) -> float:
        self.asked.append((solution, calls))
        if solution not in self.milliseconds:
            raise RuntimeError("not supported")
        return self.milliseconds[solution]

    def choose(self) -> str:
        return choose(list(self.milliseconds), self.mean_ms)


def test_competitors_are_torchs_kernel_and_eight_proposals() -> None:
    proposals = [f"Gemm_Cublaslt_id_{i}" for i in range(10)]
    names = competitors(["Gemm_Ours", *proposals, "Gemm_CublasltPadded_id_1", "Default"])
    assert names == ["Default", *proposals[:8]]


def test_the_calls_are_three_then_ten_then_what_fits() -> None:
    timer = FakeTimer(Default=1.0, a=0.9)
    assert timer.choose() == "a"
    assert timer.asked == [
        *[("Default", 3), ("Default", 10), ("Default", 30)],
        *[("a", 3), ("a", 10), ("a", 33)],
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
    assert sum(solution == "a" for solution, _ in timer.asked) == groups


def test_a_tie_stays_with_the_first_and_any_gain_wins() -> None:
    assert FakeTimer(Default=1.0, a=1.0).choose() == "Default"
    assert FakeTimer(Default=1.0, a=0.999, b=0.999).choose() == "a"


def test_one_that_cannot_run_is_passed_over() -> None:
    timer = FakeTimer(Default=1.0, b=0.5)
    assert choose(["Default", "a", "b"], timer.mean_ms) == "b"
    assert timer.asked.count(("a", 3)) == 1
    assert choose(["a"], timer.mean_ms) == "Default"


def test_calls_rotate_under_the_forced_solution(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_cuda.install(monkeypatch)
    operands = [(torch.full((2, 2), float(i)), torch.eye(2)) for i in range(3)]
    seen: list[float] = []
    overlays: set[bool] = set()

    def call(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        seen.append(float(a[0, 0]))
        overlay = _C.exchange_overlay(0)
        _C.exchange_overlay(overlay)
        overlays.add(overlay != 0)
        return a @ b

    timer = EagerTimer(call, operands)
    assert timer.mean_ms("Default", 4) > 0
    assert seen == [0, 1, 2, 0, 1, 2], "two untimed calls, then four"
    assert overlays == {True}
    assert _C.exchange_overlay(0) == 0


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
