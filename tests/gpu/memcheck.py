"""Every compiled variant of our kernels once, for a sanitizer to watch: `make gpu-memcheck`.

Not a test of pytest's, since a sanitizer slows every kernel down a hundred times: operands
are small, made and checked on the host, and each lies in an allocation of exactly its size
(PYTORCH_NO_CUDA_MEMORY_CACHING=1), so that an access beyond it is seen.
"""

from __future__ import annotations

import itertools
import os
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

os.environ.setdefault("PYTORCH_NO_CUDA_MEMORY_CACHING", "1")

import torch
import tunedops
from gpu_products import (
    sm80_solutions,
    sm90_aside_solutions,
    sm90_solutions,
    sm90_stream_solutions,
)
from torch import Tensor
from tunedops import _C

DTYPES = (torch.bfloat16, torch.float16, torch.float32)
# The wide side is no multiple of a tile, k of no stage. Both are of 16 bytes.
WIDE, K = 72, 264
NARROW = (5, 12, 27)  # computed by 8, 16 and 32 columns


def on_device(values: Tensor, offset: int) -> Tensor:
    """A copy that ends where its memory does; `offset` elements behind its beginning."""
    memory = torch.empty(values.numel() + offset, dtype=values.dtype, device="cuda")
    view = memory[offset:].view(values.shape)
    view.copy_(values)
    return view


def variants() -> Iterator[tuple[torch.dtype, bool, bool, bool, int, int]]:
    """Type, whether k is contiguous in the weights, which of both are unaligned, columns, rows."""
    flags = itertools.product((True, False), (False, True), (False, True))
    for dtype, (k_is_contiguous, *offsets), narrow in itertools.product(DTYPES, flags, NARROW):
        if not k_is_contiguous:
            rows = [32 if dtype == torch.float32 else 64]
        else:
            rows = [16] if any(offsets) else [16, 32]
        for row in rows:
            yield dtype, k_is_contiguous, *offsets, narrow, row


def splits() -> list[str]:
    found = ["splitk_1_cluster_1", "splitk_2_cluster_1", "splitk_3_cluster_1"]
    if torch.cuda.get_device_capability()[0] >= 9:
        found += ["splitk_2_cluster_2", "splitk_3_cluster_3"]
    return found


def is_wrong(result: Tensor, expected: Tensor) -> bool:
    error = (result.cpu().double() - expected).abs().max().item()
    bound = 0.5 if result.itemsize == 2 else 1e-3
    return not error <= bound


def skinny_runs() -> Iterator[bool]:
    """Runs Gemm_Skinny in all its variants; whether each was wrong."""
    runs = 0
    for dtype, k_is_contiguous, wide_off, narrow_off, narrow, rows in variants():
        weights, x = torch.randn(WIDE, K).to(dtype), torch.randn(narrow, K).to(dtype)
        expected = x.double() @ weights.double().t()
        given_x = on_device(x, int(narrow_off))
        if k_is_contiguous:
            given = on_device(weights, int(wide_off)).t()
        else:
            given = on_device(weights.t().contiguous(), int(wide_off))
        for split in splits():
            # Either side may be the wide one; they take turns.
            solution = f"Gemm_Skinny_rows_{rows}_warps_1x4_{split}"
            # So do the two types of output that operands of 16 bits have.
            out_dtype = torch.float32 if runs // 2 % 2 else dtype
            with tunedops.force(solution):
                if runs % 2:
                    y = torch.mm(given.t(), given_x.t(), out_dtype=out_dtype).t()
                else:
                    y = torch.mm(given_x, given, out_dtype=out_dtype)
            runs += 1
            if is_wrong(y, expected):
                print(f"wrong: {solution} {dtype} {k_is_contiguous} {wide_off} {narrow_off}")
            yield is_wrong(y, expected)


def tile_runs() -> Iterator[bool]:
    """The same of the kernels that compute tiles, one solution for each that is compiled."""
    layouts = itertools.product((False, True), (False, True))
    for dtype, (a_turned, b_turned), odd in itertools.product(DTYPES[:2], layouts, (0, 1)):
        m, n, k = 136 + odd, 200 + odd, 264 - odd
        x, w = torch.randn(m, k).to(dtype), torch.randn(k, n).to(dtype)
        expected = x.double() @ w.double()
        given_x = on_device(x.t().contiguous(), odd).t() if a_turned else on_device(x, odd)
        given_w = on_device(w.t().contiguous(), odd).t() if b_turned else on_device(w, odd)
        key = _C.key_of(given_x, given_w)
        assert key is not None
        solutions = {}
        for solution in sm90_solutions(key, k) + sm80_solutions(key, k):
            compiled = re.sub(r"_(cluster|stages|splitk)_[0-9x]+", "", solution)
            solutions[compiled] = solution
        for solution in solutions.values():
            with tunedops.force(solution):
                y = torch.mm(given_x, given_w)
            if is_wrong(y, expected):
                print(f"wrong: {solution} {key}")
            yield is_wrong(y, expected)


def aside_runs() -> Iterator[bool]:
    """Gemm_Sm90 with several tiles a block, of which all but the last are written aside."""
    for dtype, odd in itertools.product(DTYPES[:2], (0, 1)):
        x, w = torch.randn(9001, 40 - odd).to(dtype), torch.randn(40 - odd, 329).to(dtype)
        expected = x.double() @ w.double()
        given_x, given_w = on_device(x, odd), on_device(w, odd)
        key = _C.key_of(given_x, given_w)
        assert key is not None
        for solution in sm90_aside_solutions(key, x.shape[1]):
            with tunedops.force(solution):
                y = torch.mm(given_x, given_w)
            if is_wrong(y, expected):
                print(f"wrong: {solution} {key}")
            yield is_wrong(y, expected)


def packed_runs() -> Iterator[bool]:
    """Gemm_Sm90 with operands that are packed, whose copies have longer lines than they have."""
    config = "_tile_128x128x64_cluster_1x1x1_stages_6_splitk_1_turned_0_packed_1"
    if torch.cuda.get_device_capability()[0] != 9:
        return
    layouts = itertools.product((False, True), (False, True))
    for (a_turned, b_turned), k in itertools.product(layouts, (1001, 500)):
        x, w = torch.randn(501, k).bfloat16(), torch.randn(k, 999).bfloat16()
        expected = x.double() @ w.double()
        given_x = on_device(x.t().contiguous(), 0).t() if a_turned else on_device(x, 0)
        given_w = on_device(w.t().contiguous(), 0).t() if b_turned else on_device(w, 0)
        with tunedops.force(f"Gemm_Sm90{config}"):
            y = torch.mm(given_x, given_w)
        if is_wrong(y / 8, expected / 8):
            print(f"wrong: packed {a_turned} {b_turned} {k}")
        yield is_wrong(y / 8, expected / 8)


def stream_runs() -> Iterator[bool]:
    """Gemm_Sm90 with blocks that share the steps of tiles."""
    for dtype, k in itertools.product(DTYPES[:2], (1000, 1001)):
        x, w = torch.randn(700, k).to(dtype), torch.randn(k, 777).to(dtype)
        expected = x.double() @ w.double()
        given_x, given_w = on_device(x, 0), on_device(w, 0)
        key = _C.key_of(given_x, given_w)
        assert key is not None
        for solution in sm90_stream_solutions(key, k):
            with tunedops.force(solution):
                y = torch.mm(given_x, given_w)
            if is_wrong(y / 8, expected / 8):
                print(f"wrong: {solution} {key}")
            yield is_wrong(y / 8, expected / 8)


def main() -> int:
    begin = time.monotonic()
    log = Path(tempfile.mkdtemp()) / "trace.log"
    _C.set_setting("VERBOSE_FILENAME", str(log))
    _C.set_setting("VERBOSE", "3")
    torch.manual_seed(0)
    wrong = [*skinny_runs(), *tile_runs(), *aside_runs(), *packed_runs(), *stream_runs()]
    refused = log.read_text().count(": forced, Default")
    seconds = time.monotonic() - begin
    print(f"memcheck: {len(wrong)} runs, {sum(wrong)} wrong, {refused} refused ({seconds:.0f} s)")
    return 1 if any(wrong) or refused else 0


if __name__ == "__main__":
    sys.exit(main())
