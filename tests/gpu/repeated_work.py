"""A product that is run again and again, on any stream or from a graph, and counts mistakes."""

from __future__ import annotations

import torch
import tunedops
from gpu_products import assert_right, has_clusters, randn
from tunedops import _C

K = 4096
THROUGH_MEMORY = "Gemm_Skinny_rows_16_warps_1x4_splitk_16_cluster_1"
IN_CLUSTERS = "Gemm_Skinny_rows_16_warps_1x4_splitk_8_cluster_8"


def solutions() -> list[str]:
    """With workspace and counters, with workspace alone, with neither."""
    return [THROUGH_MEMORY, "Gemm_Cublas"] + ([IN_CLUSTERS] if has_clusters() else [])


def split_by_cublaslt(rows: int = 8, columns: int = 512) -> list[str]:
    """An algorithm that computes parts in one launch and adds them up in another, if any."""
    key = _C.key_of(randn(rows, K), randn(columns, K).t())
    assert key is not None
    names = [n for n in _C.candidates(("cuda", 0), *key) if n.startswith("Gemm_Cublaslt")]
    return [name for name in names if "_splitk_1_" not in name][:1]


class Work:
    """A product with operands of its own, and a count of elements that came out otherwise."""

    def __init__(self, solution: str, rows: int = 8, columns: int = 512) -> None:
        self.solution = solution
        self.x, self.w = randn(rows, K), randn(columns, K)
        self.runs = torch.zeros((), dtype=torch.int64, device="cuda")
        self.wrong = self.runs.clone()
        with tunedops.force(solution):
            self.expected = tunedops.mm(self.x, self.w.t())
        self.run()  # so that everything is loaded before a capture
        self.runs.zero_()
        self.wrong.zero_()
        assert_right(self.expected, self.x.double() @ self.w.double().t(), K, solution)

    def run(self) -> None:
        with tunedops.force(self.solution):
            y = tunedops.mm(self.x, self.w.t())
        self.wrong += (y != self.expected).sum()
        self.runs += 1

    def check(self, runs: int) -> None:
        assert (self.runs.item(), self.wrong.item()) == (runs, 0), self.solution
