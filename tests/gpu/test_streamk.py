"""Gemm_Sm90 where blocks share the steps of tiles that would leave some of them idle.

More tiles than streams and fewer, so that a stream has parts of several tiles and a tile parts of
several streams, and whole tiles follow (tile_streams.h).
"""

from __future__ import annotations

import pytest
import torch
import tunedops
from gpu_products import (
    FORCED_PLANS,
    LAYOUTS,
    NEEDS_HOPPER,
    assert_right,
    check_all,
    check_repeats,
    forced_plans_run,
    key_of,
    matrix,
    randn,
    sm90_stream_solutions,
)

__all__ = ["forced_plans_run"]
pytestmark = [*FORCED_PLANS, NEEDS_HOPPER]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize(
    ("m", "n", "k"), [(1000, 776, 1504), (999, 777, 1501), (2056, 1544, 200), (100, 70, 5000)]
)
def test_every_tile(m: int, n: int, k: int, layout: str, dtype: torch.dtype) -> None:
    check_all(matrix(m, k, dtype, layout[0]), matrix(k, n, dtype, layout[1]), sm90_stream_solutions)


def test_with_bias_activation_and_scale() -> None:
    x, weight, bias = randn(1000, 640), randn(1001, 640), randn(1001)
    exact = (x.double() @ weight.double().t() + bias.double()).relu()
    scaled, added = 0.5 * (x.double() @ weight.double().t()), randn(1000, 1001)
    for solution in sm90_stream_solutions(key_of(x, weight.t()), 640):
        with tunedops.force(solution):
            result = tunedops.linear(x, weight, bias, activation="relu")
            assert_right(result, exact, 641, solution)
            result = tunedops.addmm(x.new_empty(1001), x, weight.t(), beta=0, alpha=0.5)
            assert_right(result, scaled, 640, solution)
            result = tunedops.addmm(added, x, weight.t(), alpha=0.5)
            assert_right(result, scaled + added.double(), 641, solution)


def test_batches_of_matrices() -> None:
    check_all(randn(5, 700, 520), randn(5, 520, 328), sm90_stream_solutions)


def test_the_same_bits_in_every_run() -> None:
    check_repeats(randn(1000, 1501), randn(1501, 777), sm90_stream_solutions)


def test_runs_follow_each_other_on_several_streams() -> None:
    x, weight = randn(1000, 640), randn(1001, 640)
    expected = x.double() @ weight.double().t()
    solution = sm90_stream_solutions(key_of(x, weight.t()), 640)[0]
    streams = [torch.cuda.Stream() for _ in range(3)]
    torch.cuda.synchronize()
    results = []
    with tunedops.force(solution):
        for _ in range(20):
            for stream in streams:
                with torch.cuda.stream(stream):
                    results.append(tunedops.mm(x, weight.t()))
    torch.cuda.synchronize()
    for result in results:
        assert_right(result, expected, 640, solution)
