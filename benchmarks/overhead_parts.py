"""What is compared with what, for each question about the cost of a call.

The first cell of a group is what a program without tunedops runs.
"""

from __future__ import annotations

from collections.abc import Sequence

from overhead_plan import (
    ABSENT,
    BIAS,
    CPP,
    ENABLED,
    IMPORTED,
    PYTHON,
    Cell,
    Group,
    Product,
    Side,
)

TORCH_CALLS = ("torch.mm", "F.linear", f"F.linear{BIAS}")
OUR_CALLS = (
    "torch.ops.tunedops.mm",
    "tunedops.mm",
    "tunedops.linear",
    f"tunedops.linear{BIAS}",
)
KERNELS = {
    "cpu": ("Default", "Gemm_CpuSkinny", "Gemm_CpuTiled"),
    "cuda": ("Default", "Gemm_Cublaslt", "Gemm_Skinny"),
}
DECODE = (Product("bfloat16", 16, 64, 64), Product("bfloat16", 1, 4096, 4096))
TINY = (4, 4, 4)
TYPES = ("float32", "bfloat16")
SMALL = tuple(Product(dtype, 16, 16, 16) for dtype in TYPES)
RESULTS = 10_000
THREADS = (1, 2, 4, 8)


def eager_calls(device: str, products: Sequence[Product] = DECODE) -> list[Group]:
    """Every way to ask for a product, with each kind of plan: a group for each product."""
    torchs = [Side(ABSENT), Side(IMPORTED)]
    routed = [Side(ENABLED, kernel) for kernel in KERNELS[device.partition(":")[0]]]
    return [
        [
            Cell(side, call, product)
            for sides, calls in ((torchs, TORCH_CALLS), (routed, TORCH_CALLS + OUR_CALLS))
            for side in sides
            for call in calls
        ]
        for product in products
    ]


def lookups(results: int = RESULTS, types: Sequence[str] = TYPES) -> list[Group]:
    """A product that takes torch's kernel in the end, with one and with many results.

    Groups differ in type, in the loop, and in whether one product is repeated or all of them
    are called in turn.
    """
    groups = []
    for dtype in types:
        product = Product(dtype, *TINY, variants=results)
        torchs = [Side(state, variants=results, group=dtype) for state in (ABSENT, IMPORTED)]
        one, many = (Side(ENABLED, "Default", count, dtype) for count in (1, results))
        for loop, call in ((CPP, "at::mm"), (PYTHON, "torch.mm")):
            for cycles in (False, True):
                enabled = [many] if cycles else [one, many]
                cells = [Cell(side, call, product, loop, cycles) for side in torchs + enabled]
                if loop == PYTHON:
                    cells += [Cell(s, "tunedops.mm", product, loop, cycles) for s in enabled]
                groups.append(cells)
    return groups


def threads(results: int = RESULTS, counts: Sequence[int] = THREADS) -> list[Group]:
    """The same product on several threads at once: a group for each number of them."""
    product = Product("float32", *TINY, variants=results)
    sides = [Side(ABSENT, variants=results)]
    for kernel in ("Default", "Gemm_CpuSkinny"):
        sides += [Side(ENABLED, kernel, variants) for variants in (1, results)]
    return [
        [Cell(side, "at::mm", product, CPP, threads=count) for side in sides] for count in counts
    ]
