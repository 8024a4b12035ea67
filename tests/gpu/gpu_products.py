"""Operands on a GPU that lie between NaN, and what their products should be.

Whoever reads beyond an operand, or between its rows, finds NaN in the result. Results are
judged element by element: a norm over all of them would hide one that is wrong.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import torch
import tunedops
from torch import Tensor
from tunedops import _C

GPU = ("cuda", 0)
DTYPES = (torch.bfloat16, torch.float16, torch.float32)
LAYOUTS = ["nn", "nt", "tn", "tt"]  # of both operands, see `matrix`
GUARD = 64  # elements

# Of tests that force plans of ours.
FORCED_PLANS = [
    pytest.mark.gpu,
    pytest.mark.usefixtures("forced_plans_run"),
    pytest.mark.filterwarnings("error:tunedops"),  # a plan that could not run
]

NEEDS_HOPPER = pytest.mark.skipif(
    not torch.cuda.is_available() or torch.cuda.get_device_capability()[0] != 9,
    reason="needs a GPU of compute capability 9.0",
)


def randn(*shape: int, dtype: torch.dtype = torch.bfloat16) -> Tensor:
    return torch.randn(shape, device="cuda").to(dtype)


def place(values: Tensor, where: str = "packed") -> Tensor:
    """The values of a matrix, with NaN around and between its rows.

    `offset`: one element behind an aligned address; `padded`: rows are aligned and apart;
    `odd`: rows are apart and not aligned; `16`, `8`, `4`, `2`: rows are apart and aligned to
    so many bytes and to no more.
    """
    rows, columns = values.shape
    ld = {"padded": (columns // 16 + 2) * 16, "odd": columns + 3}.get(where, columns)
    first = GUARD + (where == "offset")
    if where.isdecimal():
        unit = int(where) // values.itemsize
        is_longest = where == "16"
        ld = (columns // unit + 1) * unit
        ld += 0 if is_longest or ld % (2 * unit) else unit
        first = GUARD + (0 if is_longest else unit)
    size = first + rows * ld + GUARD
    memory = torch.full((size,), math.nan, dtype=values.dtype, device=values.device)
    return memory.as_strided((rows, columns), (ld, 1), first).copy_(values)


def matrix(
    rows: int, columns: int, dtype: torch.dtype, layout: str = "n", where: str = "packed"
) -> Tensor:
    """A random matrix; with layout `t` its columns are contiguous."""
    if layout == "t":
        return place(randn(columns, rows, dtype=dtype), where).t()
    return place(randn(rows, columns, dtype=dtype), where)


def batch(rows: int, columns: int, dtype: torch.dtype, layout: str) -> Tensor:
    """Three random matrices behind each other; with layout `t` their columns are contiguous."""
    if layout == "t":
        return randn(3, columns, rows, dtype=dtype).mT
    return randn(3, rows, columns, dtype=dtype)


def assert_right(result: Tensor, expected: Tensor, depth: int, what: object = "") -> None:
    """Each element like a sum of `depth` products of numbers of about 1, rounded once."""
    assert result.shape == expected.shape, what
    epsilon = torch.finfo(result.dtype).eps
    accumulation = min(epsilon, torch.finfo(torch.float32).eps)
    bound = 4 * epsilon * (expected.abs() + math.sqrt(depth + 1))
    bound += 4 * accumulation * (depth + 16)
    got = result.double()
    same = (got == expected) | (got.isnan() & expected.isnan())
    right = same | (expected.isfinite() & ((got - expected).abs() <= bound))
    if not right.all():
        first = tuple((~right).nonzero()[0].tolist())
        count = int((~right).sum())
        raise AssertionError(
            f"{what}: {count} of {right.numel()} are wrong, the first at {first}: "
            f"{got[first].item()} instead of {expected[first].item()}"
        )


def key_of(a: Tensor, b: Tensor) -> tuple[str, str]:
    key = _C.key_of(a, b)
    assert key is not None
    return key


# Of a kernel, a key and the length of its k.
Solutions = Callable[[tuple[str, str], int], list[str]]


def check_all(a: Tensor, b: Tensor, solutions_of: Solutions) -> None:
    """Every solution of a product, or of a batch of them."""
    key = key_of(a, b)
    product = tunedops.mm if a.dim() == 2 else tunedops.bmm
    expected = a.double() @ b.double()
    solutions = solutions_of(key, a.shape[-1])
    assert solutions, key
    for solution in solutions:
        with tunedops.force(solution):
            result = product(a, b)
        assert_right(result, expected, a.shape[-1], (solution, key))


def check_repeats(a: Tensor, b: Tensor, solutions_of: Solutions) -> None:
    """The same bits of every solution in every run."""
    key = key_of(a, b)
    for solution in solutions_of(key, a.shape[-1]):
        with tunedops.force(solution):
            first = tunedops.mm(a, b)
            bits = first.view(torch.int16 if first.itemsize == 2 else torch.int32)
            different = torch.zeros((), dtype=torch.int64, device="cuda")
            for _ in range(20):
                different += (tunedops.mm(a, b).view(bits.dtype) != bits).sum()
        assert different.item() == 0, (solution, key)


def has_clusters() -> bool:
    return torch.cuda.get_device_capability()[0] >= 9


def is_split_empty(k: int, splits: int) -> bool:
    """Whether the last of so many splits has no k: they are multiples of 128 long."""
    each = 128 * math.ceil(math.ceil(k / splits) / 128)
    return (splits - 1) * each >= k


def skinny_solutions(key: tuple[str, str], k: int) -> list[str]:
    """What Gemm_Skinny offers for a problem, and every kind of split for all its rows."""
    offered = [s for s in _C.candidates(GPU, *key) if s.startswith("Gemm_Skinny_")]
    assert offered, f"Gemm_Skinny offers nothing for {key}"
    found = list(offered)
    # The workspace for 64 splits is more than older GPUs allow.
    most = 64 if has_clusters() else 16
    splits = [s for s in (2, 3, 8, 16, 64) if s <= most and not is_split_empty(k, s)]
    for rows in {re.findall(r"_rows_(\d+)_", s)[0] for s in offered}:
        name = f"Gemm_Skinny_rows_{rows}_warps"
        found += [f"{name}_{w}_splitk_1_cluster_1" for w in ("1x1", "1x4", "2x2")]
        found += [f"{name}_1x4_splitk_{s}_cluster_1" for s in {*splits[:1], *splits[-1:]}]
        if has_clusters():
            found += [f"{name}_1x4_splitk_{s}_cluster_{s}" for s in splits if s <= 8]
    return list(dict.fromkeys(found))


# Rows and columns of a tile.
SM90_TILES = [
    (128, 64),
    (128, 128),
    (128, 192),
    (128, 256),
    (256, 128),
]


class Sm90Operand(NamedTuple):
    """How Gemm_Sm90 sees an operand of a key."""

    is_aligned: bool  # the copy engine brings it as it is
    is_along_k: bool


def sm90_operands(key: tuple[str, str]) -> tuple[Sm90Operand, Sm90Operand]:
    def numbers(field: str, default: str = "") -> list[int]:
        found = re.search(rf"(?:^|_){field}((?:_\d+)+)", key[1])
        return [int(n) for n in (found[1] if found else default).split("_") if n]

    m, n, k = numbers("[nt]{2}")[-3:]
    lda, ldb, _ = numbers("ld")
    align_a, align_b, *_ = numbers("align", "16_16")
    a_is_along_k, b_is_along_k = key[1][0] == "t", key[1][1] == "n"
    a_lines, b_lines = m if a_is_along_k else k, n if b_is_along_k else k
    return (
        Sm90Operand(align_a >= 16 and (lda % 8 == 0 or a_lines == 1), a_is_along_k),
        Sm90Operand(align_b >= 16 and (ldb % 8 == 0 or b_lines == 1), b_is_along_k),
    )


def sm90_stages(
    tile: tuple[int, int], operands: tuple[Sm90Operand, Sm90Operand], aside: bool = False
) -> int:
    """As many as the shared memory of a block holds, 8 at most; `tile` is m by n."""
    strips, results = 8 * 8 * 72 * 4, tile[1] * (2 * tile[0] + 16)
    alignment_and_barriers = 1024 + 16
    free = (227 << 10) - 128 - (results if aside else strips) - alignment_and_barriers
    stage = 0
    for side, operand in zip(tile, operands, strict=True):
        in_pairs = not operand.is_along_k and side // 64 % 2 == 0
        unshifted = 0 if operand.is_aligned else 136 if in_pairs else 144
        stage += side * (128 + unshifted)
    return min(8, free // (stage + 24))


def sm90_solutions(key: tuple[str, str], k: int) -> list[str]:
    """What Gemm_Sm90 offers, and all its tiles, turned and not; clusters and splits take turns.

    Empty if this GPU or the problem is none for it.
    """
    found = [s for s in _C.candidates(GPU, *key) if s.startswith("Gemm_Sm90_")]
    tiles = SM90_TILES if found else []
    operands = sm90_operands(key)
    for packed in (0, 1):
        if packed and all(operand.is_aligned for operand in operands):
            continue
        a, b = (Sm90Operand(bool(packed) or x.is_aligned, x.is_along_k) for x in operands)
        found += sm90_configs(tiles, a, b, k, packed)
    return list(dict.fromkeys(found))


def sm90_configs(
    tiles: list[tuple[int, int]], a: Sm90Operand, b: Sm90Operand, k: int, packed: int
) -> list[str]:
    """Of operands that are aligned or not as the kernel finds them."""
    found = []
    # Blocks of a cluster share what the copy engine brings, or add up their splits.
    clusters = ["1x1x1"] + ["2x1x1"] * b.is_aligned + ["1x2x1"] * a.is_aligned
    for i, (turned, (rows, columns)) in enumerate(itertools.product((0, 1), tiles)):
        m, n = (rows, columns) if turned else (columns, rows)
        stages = sm90_stages((m, n), (a, b))
        for j, cluster in enumerate(clusters):
            splits = [1, 2, 3][(i + j) % 3] if k > 128 else 1
            if splits > 1 and (i + j) % 2:
                splits = 2 + (i + k // 64) % 7 if k > 448 else splits
                cluster = f"1x1x{splits}"
            found.append(
                f"Gemm_Sm90_tile_{m}x{n}x64_cluster_{cluster}_stages_{stages}"
                f"_splitk_{splits}_turned_{turned}_packed_{packed}"
            )
    return found


def sm90_aside_solutions(key: tuple[str, str], k: int) -> list[str]:
    """All tiles of Gemm_Sm90, alone and in clusters, whose results are written aside.

    Of a product whose output the copy engine cannot write. Operands that are not aligned are
    packed. Empty if this GPU or the problem is none for it.
    """
    if not any(s.startswith("Gemm_Sm90_") for s in _C.candidates(GPU, *key)):
        return []
    operands = sm90_operands(key)
    packed = int(not all(operand.is_aligned for operand in operands))
    aligned = (operands[0]._replace(is_aligned=True), operands[1]._replace(is_aligned=True))
    return [
        f"Gemm_Sm90_tile_{columns}x{rows}x64_cluster_{cluster}_stages_"
        f"{sm90_stages((columns, rows), aligned, aside=True)}"
        f"_splitk_1_turned_0_packed_{packed}_aside_1"
        for (rows, columns), cluster in itertools.product(SM90_TILES, ("1x1x1", "2x1x1", "1x2x1"))
    ]


def sm90_stream_solutions(key: tuple[str, str], k: int) -> list[str]:
    """All tiles of Gemm_Sm90, turned and not, alone and in clusters, whose steps blocks share.

    Wherever some tiles are left over from whole rounds. Operands that are not aligned are packed
    or shifted. Empty if this GPU or the problem is none for it.
    """
    if not any(s.startswith("Gemm_Sm90_") for s in _C.candidates(GPU, *key)):
        return []
    given = sm90_operands(key)
    is_aligned = all(operand.is_aligned for operand in given)
    found = []
    for packed in (0,) if is_aligned else (0, 1):
        a, b = (x._replace(is_aligned=bool(packed) or x.is_aligned) for x in given)
        found += sm90_stream_configs(key, k, a, b, packed)
    return found


def sm90_stream_configs(
    key: tuple[str, str], k: int, a: Sm90Operand, b: Sm90Operand, packed: int
) -> list[str]:
    """Of operands that are aligned or not as the kernel finds them."""
    m, n = map(int, key[1].split("_")[1:3])
    k_steps = math.ceil(k / 64)
    batch = int(key[1].partition("_B_")[2].partition("_")[0] or 1)
    clusters = [(1, 1)] + [(2, 1)] * b.is_aligned + [(1, 2)] * a.is_aligned
    found = []
    for turned, (rows, columns), cluster in itertools.product((0, 1), SM90_TILES, clusters):
        tile = (rows, columns) if turned else (columns, rows)
        across = math.ceil(n / (tile[1] * cluster[1]))
        blocks = math.ceil(m / (tile[0] * cluster[0])) * across * batch
        for streams in (26, 62, 132):
            rounds, left = divmod(blocks * cluster[0] * cluster[1], streams)
            # As split_tiles.cpp has it: something is left over, and no more than 64 meet in a tile.
            steps = (left + streams * (rounds > 0)) * k_steps // streams
            if left == 0 or steps == 0 or math.ceil(k_steps / steps) >= 64:
                continue
            found.append(
                f"Gemm_Sm90_tile_{tile[0]}x{tile[1]}x64_cluster_{cluster[0]}x{cluster[1]}x1"
                f"_stages_{sm90_stages(tile, (a, b))}"
                f"_splitk_1_turned_{turned}_packed_{packed}_streamk_{streams}"
            )
    return found


def sm80_solutions(key: tuple[str, str], k: int) -> list[str]:
    """What Gemm_Sm80 offers, and all its tiles, turned and not; stages and splits take turns.

    Empty if the problem is none for it.
    """
    found = [s for s in _C.candidates(GPU, *key) if s.startswith("Gemm_Sm80_")]
    tiles = [(64, 64), (64, 128), (128, 128)] if found else []  # rows, columns
    for i, (turned, tile) in enumerate(itertools.product((0, 1), tiles)):
        m, n = tile if turned else tile[::-1]
        for j, stages in enumerate((2, 3, 6)):
            splits = [1, 2, 3][(i + j) % 3] if k > 128 else 1
            found.append(
                f"Gemm_Sm80_tile_{m}x{n}x32_stages_{stages}_splitk_{splits}_turned_{turned}"
            )
    return list(dict.fromkeys(found))


def own_solutions(key: tuple[str, str], k: int) -> list[str]:
    """What kernels of our own offer, and more of their configs."""
    names = {s.partition("_")[2].partition("_")[0] for s in _C.candidates(GPU, *key)}
    found = sm90_solutions(key, k) + sm80_solutions(key, k)
    return found + (skinny_solutions(key, k) if "Skinny" in names else [])


@pytest.fixture
def forced_plans_run(tmp_path: Path) -> Iterator[None]:
    """Fails the test if a forced solution was refused, since Default would pass for it."""
    log = tmp_path / "trace.log"
    _C.set_setting("VERBOSE_FILENAME", str(log))
    _C.set_setting("VERBOSE", "3")
    yield
    _C.set_setting("VERBOSE", "0")
    text = log.read_text() if log.exists() else ""
    lines = [line for line in text.splitlines() if ": forced, " in line]
    assert lines, "nothing was forced"
    refused = [line for line in lines if not line.endswith("a plan of ours")]
    assert refused == []
