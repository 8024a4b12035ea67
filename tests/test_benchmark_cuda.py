"""The comparison on a GPU, played on the CPU: what it captures, checks and reports."""

from __future__ import annotations

from types import SimpleNamespace

import agreement
import ceilings
import compare
import fake_cuda
import graph_side
import measure_cuda
import pytest
import record
import torch
import tunedops
from agreement import WrongResult
from ceilings import Ceilings, measure_ceilings
from conftest import CPU
from measure_cuda import measure, run_rounds
from measured_rows import measure_all
from report import print_row
from rounds import LEAST_ROUNDS
from sides import bytes_of, calls_of, forced, key_on, rotation
from tunedops import _C
from tunedops.workloads import Workload

MM = Workload("some", "mm", "float32", "nt", 1, 8, 24, 16)
WORKLOADS = [
    MM,
    Workload("some", "mm", "bfloat16", "tn", 1, 8, 24, 16),
    Workload("some", "bmm", "float32", "nn", 4, 8, 24, 16),
    Workload("some", "linear", "bfloat16", "nt", 1, 8, 24, 16),
]


@pytest.fixture(autouse=True)
def _fakes(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_cuda.install(monkeypatch)
    measure_cuda.measuring_stream.cache_clear()
    monkeypatch.setattr(_C, "cache_bytes", lambda device: fake_cuda.CACHE_BYTES)
    tunedops.enable()
    tunedops.tuning_enable(False)
    torch.set_grad_enabled(False)


@pytest.mark.parametrize("workload", WORKLOADS, ids=str)
def test_a_row_holds_all_columns(workload: Workload) -> None:
    row = measure(workload, CPU, 0.01, with_tunableop=True)
    assert row["rounds"] >= LEAST_ROUNDS
    assert row["solution"] == "(no result)"
    assert row["emulated_tunableop_solution"] == "Default", "there is no cuBLASLt here"
    for column in (
        "default_us",
        "tuned_us",
        "ratio",
        "emulated_tunableop_us",
        "emulated_tunableop_ratio",
    ):
        assert row[column] > 0
    assert row["ratio_p10"] <= row["ratio"] <= row["ratio_p90"]


def test_without_tunableop_there_are_two_sides() -> None:
    row = measure(MM, CPU, 0.01, with_tunableop=False)
    assert not any("tunableop" in column for column in row)


def test_equal_solutions_are_timed_once() -> None:
    row = measure(MM, CPU, 0.01, with_tunableop=True, library={})
    assert row["library_solution"] == row["solution"] == "(no result)"
    assert (row["library_us"], row["library_ratio"]) == (row["tuned_us"], row["ratio"])


def test_another_solution_is_a_side_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    overlays: list[bool] = []

    def tuned(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        overlay = _C.exchange_overlay(0)
        _C.exchange_overlay(overlay)
        overlays.append(overlay != 0)
        return torch.mm(a, b)

    monkeypatch.setattr(measure_cuda, "calls_of", lambda workload: (torch.mm, tuned))
    key = key_on(MM, CPU)
    assert key is not None
    row = measure(MM, CPU, 0.01, with_tunableop=False, library={key: "Gemm_OneDnn"})
    assert row["library_solution"] == "Gemm_OneDnn"
    assert row["library_us"] > 0
    assert row["library_us"] != row["tuned_us"]
    assert overlays == sorted(overlays), "the tuned side first, then the forced one"
    assert set(overlays) == {False, True}


def test_solutions_are_timed_in_the_same_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    rounds = measure_cuda.time_solutions(MM, CPU, ["Default", "Gemm_OneDnn", "Gemm_CpuSkinny"], 0)
    assert len(rounds) >= LEAST_ROUNDS
    assert {len(one) for one in rounds} == {3}
    wrong = lambda a, b: torch.mm(a, b) * 1.001  # noqa: E731
    monkeypatch.setattr(measure_cuda, "calls_of", lambda workload: (torch.mm, wrong))
    with pytest.raises(WrongResult, match="Gemm_OneDnn is wrong: relative error"):
        measure_cuda.time_solutions(MM, CPU, ["Default", "Gemm_OneDnn"], 0)


def test_the_rotation_exceeds_the_cache_and_outputs_rotate_too() -> None:
    operands = rotation(MM, "cpu", fake_cuda.CACHE_BYTES)
    assert len(operands) * bytes_of(MM) > fake_cuda.CACHE_BYTES
    assert bytes_of(MM) == 4 * (8 * 16 + 16 * 24 + 8 * 24)
    side = graph_side.GraphSide(torch.mm, operands, torch.cuda.Stream("cpu"))
    assert len({output.data_ptr() for output in side.outputs}) == len(operands)
    assert side.calls % len(operands) == 0
    assert len(side.graph.ops) == side.calls
    assert side.calls >= graph_side.LEAST_CALLS


def test_a_short_replay_is_made_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_side.GraphSide, "shortest_replay", lambda side: 0.01 * side.calls)
    side = graph_side.GraphSide(torch.mm, rotation(MM, "cpu", 0), torch.cuda.Stream("cpu"))
    assert side.replay_ms >= graph_side.LEAST_REPLAY_MS
    assert side.calls <= 40


def test_each_side_is_replayed_twice_a_round(monkeypatch: pytest.MonkeyPatch) -> None:
    operands = rotation(MM, "cpu", 0)
    sides = [
        graph_side.GraphSide(call, operands, torch.cuda.Stream("cpu")) for call in calls_of(MM)
    ]
    before = [side.graph.replays for side in sides]
    rounds = run_rounds(sides, 0.0)
    assert len(rounds) >= LEAST_ROUNDS
    replays = [side.graph.replays - count for side, count in zip(sides, before, strict=True)]
    leading = sum(replays) - 4 * len(rounds)
    assert 1 <= leading <= len(rounds)
    assert all(replay >= 2 * len(rounds) for replay in replays)


def test_a_wrong_output_is_no_row(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = lambda a, b: torch.mm(a, b) * 1.001  # noqa: E731
    monkeypatch.setattr(measure_cuda, "calls_of", lambda workload: (torch.mm, wrong))
    with pytest.raises(WrongResult, match=r"relative error 1\.00e-03"):
        measure(MM, CPU, 0.01, with_tunableop=False)


@pytest.mark.parametrize("factor", [float("nan"), 1.001, 1 + 1e-9])
def test_what_agrees(factor: float) -> None:
    operands = MM.operands("cpu", random=True)
    product = torch.mm(*operands)
    agrees = agreement.complaint(product * factor, product, operands) is None
    assert agrees == (abs(factor - 1) < 1e-6)


def test_a_run_measures_ceilings_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ceilings, "COPY_BYTES", 1 << 16)
    monkeypatch.setattr(ceilings, "product_size", lambda dtype: 32)
    monkeypatch.setattr(torch.cuda, "set_device", lambda index: None)
    arguments = SimpleNamespace(device=CPU, seconds=0.01, tunableop=True)
    measure_row, about = compare.start_cuda(arguments, [MM], library={})
    assert about["ceilings"]["bytes_per_second"] > 0
    assert about["tunableop"].startswith("TunableOp's procedure, emulated: ")
    assert list(about["ceilings"]["operations_per_second"]) == ["float32"]
    rows, failed = measure_all([MM], measure_row, print_row)
    assert failed == []
    assert rows[0]["floor_us"] > 0
    assert set(rows[0]) == set(record.COLUMNS)


def test_a_forced_solution_leaves_torchs_products_alone() -> None:
    a, b = torch.randn(3, 4), torch.randn(4, 5)
    with forced("Gemm_OneDnn"):
        assert torch.allclose(tunedops.mm(a, b), a @ b)
        overlay = _C.exchange_overlay(0)
        _C.exchange_overlay(overlay)
        assert overlay != 0
    assert _C.exchange_overlay(0) == 0


def test_the_floor_is_the_slower_of_memory_and_arithmetic() -> None:
    few = Ceilings(1e6, {"float32": 1e12})
    assert few.floor_us(MM) == pytest.approx(bytes_of(MM))
    slow = Ceilings(1e15, {"float32": 1e6})
    assert slow.floor_us(MM) == pytest.approx(2 * 8 * 16 * 24)


def test_ceilings_are_measured_for_each_type(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ceilings, "COPY_BYTES", 1 << 16)
    monkeypatch.setattr(ceilings, "product_size", lambda dtype: 32)
    found = measure_ceilings(["float32", "bfloat16", "float32"], torch.device("cpu"))
    assert list(found.operations_per_second) == ["bfloat16", "float32"]
    assert found.bytes_per_second > 0
