"""Gemm_Sm80 and Gemm_Sm90 against float64: every tile, every way operands and outputs can lie.

Where lines begin and end is what most of these sizes are about: lines that begin at no multiples
of 16 bytes are copied from the multiple before on, and Gemm_Sm80 puts their elements together when
it reads them, Gemm_Sm90 on the way (see sm80_raw.h and sm90_shift.cuh).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import NamedTuple

import pytest
import torch
import tunedops
from gpu_products import (
    FORCED_PLANS,
    LAYOUTS,
    Solutions,
    assert_right,
    batch,
    check_all,
    check_repeats,
    forced_plans_run,
    key_of,
    matrix,
    sm80_solutions,
    sm90_solutions,
)

__all__ = ["forced_plans_run"]
pytestmark = FORCED_PLANS

HALVES = (torch.bfloat16, torch.float16)


class TileKernel(NamedTuple):
    name: str
    runs_on: Callable[[int], bool]  # a GPU of this major compute capability
    solutions: Solutions
    # m, n, k. Multiples of tiles and of what is copied at once, their neighbours, and less
    # than one of each.
    sizes: list[tuple[int, int, int]]
    places: tuple[str, ...]  # of operands that differ to the kernel, see `place`
    end_places: tuple[str, ...]  # for every length of a side
    batch_columns: int  # odd where matrices of a batch may be anywhere


KERNELS = [
    TileKernel(
        name="Gemm_Sm80",
        runs_on=lambda major: major >= 8,
        solutions=sm80_solutions,
        sizes=[
            (256, 256, 256),
            (257, 129, 255),
            (64, 512, 1024),
            (333, 377, 129),
            (100, 264, 8),
            (7, 5, 3),
            (130, 3, 70),
            (5, 300, 191),
        ],
        places=("16", "8", "4", "2"),
        end_places=("16", "8", "4", "2"),
        batch_columns=137,
    ),
    TileKernel(
        name="Gemm_Sm90",
        runs_on=lambda major: major == 9,
        solutions=sm90_solutions,
        sizes=[
            (256, 256, 256),
            (257, 129, 255),
            (64, 512, 1024),
            (333, 777, 129),
            (1000, 1001, 65),
            (100, 264, 8),
            (7, 5, 3),
            (130, 3, 70),
            (5, 300, 191),
        ],
        places=("packed", "offset", "padded", "odd"),
        end_places=("packed",),
        batch_columns=136,
    ),
]

each_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)


@pytest.fixture(autouse=True)
def _runs_here(kernel: TileKernel) -> None:
    if not torch.cuda.is_available() or not kernel.runs_on(torch.cuda.get_device_capability()[0]):
        pytest.skip(f"no GPU for {kernel.name}")


@pytest.mark.parametrize(
    ("kernel", "size"),
    [
        pytest.param(kernel, size, id=f"{kernel.name}-{'x'.join(map(str, size))}")
        for kernel in KERNELS
        for size in kernel.sizes
    ],
)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", HALVES)
def test_every_tile(
    kernel: TileKernel, dtype: torch.dtype, layout: str, size: tuple[int, int, int]
) -> None:
    m, n, k = size
    first = LAYOUTS.index(layout) + kernel.sizes.index(size)
    for i in range(2):
        a = matrix(m, k, dtype, layout[0], kernel.places[(first + i) % 4])
        b = matrix(k, n, dtype, layout[1], kernel.places[(first // 2 + 3 * i) % 4])
        check_all(a, b, kernel.solutions)


@each_kernel
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_pair_of_places(kernel: TileKernel, layout: str) -> None:
    for a_place, b_place in itertools.product(kernel.places, repeat=2):
        a = matrix(200, 333, torch.bfloat16, layout[0], a_place)
        b = matrix(333, 136, torch.bfloat16, layout[1], b_place)
        check_all(a, b, kernel.solutions)


@pytest.mark.parametrize(
    ("kernel", "place"),
    [
        pytest.param(kernel, place, id=f"{kernel.name}-{place}")
        for kernel in KERNELS
        for place in kernel.end_places
    ],
)
@pytest.mark.parametrize("k", [*range(1, 19), 31, 32, 33, 63, 64, 65, 96, 127, 128, 129])
def test_every_end_of_k(kernel: TileKernel, k: int, place: str) -> None:
    for layout in LAYOUTS:
        a = matrix(70, k, torch.bfloat16, layout[0], place)
        check_all(a, matrix(k, 67, torch.bfloat16, layout[1], place), kernel.solutions)


@each_kernel
@pytest.mark.parametrize("side", [*range(1, 18), 63, 64, 65, 127, 129, 255, 257])
def test_every_end_of_a_side(kernel: TileKernel, side: int) -> None:
    place = kernel.end_places[side % len(kernel.end_places)]
    for layout, (m, n) in itertools.product(LAYOUTS, [(129, side), (side, 129)]):
        a = matrix(m, 96, torch.bfloat16, layout[0], place)
        check_all(a, matrix(96, n, torch.bfloat16, layout[1], place), kernel.solutions)


@each_kernel
@pytest.mark.parametrize("where", ["packed", "offset", "padded", "odd"])
@pytest.mark.parametrize("dtype", HALVES)
def test_outputs_that_lie_anywhere(kernel: TileKernel, dtype: torch.dtype, where: str) -> None:
    a, b = matrix(200, 136, dtype), matrix(136, 331, dtype, "t")
    expected = a.double() @ b.double()
    out = matrix(200, 331, dtype, "n", where)
    around = out.as_strided((200, out.stride(0)), (out.stride(0), 1))
    for solution in kernel.solutions(key_of(a, b), 136):
        with tunedops.force(solution):
            torch.mm(a, b, out=out)
        assert_right(out, expected, 136, (solution, where))
        assert around[:-1, 331:].isnan().all(), solution


@each_kernel
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", HALVES)
def test_batches(kernel: TileKernel, dtype: torch.dtype, layout: str) -> None:
    for k in (128, 137):
        x = batch(88, k, dtype, layout[0])
        w = batch(k, kernel.batch_columns, dtype, layout[1])
        check_all(x, w, kernel.solutions)
        check_all(x[:1].expand_as(x), w, kernel.solutions)
        check_all(x, w[:1].expand_as(w), kernel.solutions)
        check_all(x[::2], w[1:], kernel.solutions)


@each_kernel
def test_float_outputs(kernel: TileKernel) -> None:
    for columns in (136, 137):
        x, w = matrix(200, 264, torch.bfloat16), matrix(264, columns, torch.bfloat16, "t")
        expected = x.double() @ w.double()
        for solution in kernel.solutions(key_of(x, w), 264):
            with tunedops.force(solution):
                result = torch.mm(x, w, out_dtype=torch.float32)
            assert_right(result, expected, 264, solution)


@each_kernel
def test_the_same_bits_in_every_run(kernel: TileKernel) -> None:
    for layout, (m, k, n) in itertools.product(LAYOUTS, [(200, 4096, 130), (72, 2047, 300)]):
        a, b = matrix(m, k, torch.bfloat16, layout[0]), matrix(k, n, torch.bfloat16, layout[1])
        check_repeats(a, b, kernel.solutions)


@each_kernel
def test_more_tiles_than_multiprocessors(kernel: TileKernel) -> None:
    a, b = matrix(2048, 120, torch.bfloat16), matrix(120, 5003, torch.bfloat16, "t")
    check_all(a, b, kernel.solutions)
    a, b = matrix(3001, 72, torch.bfloat16, "t"), matrix(72, 2100, torch.bfloat16)
    check_all(a, b, kernel.solutions)
