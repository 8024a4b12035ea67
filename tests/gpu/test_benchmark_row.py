"""A row of the comparison on a real GPU: graphs, the check, and TunableOp's procedure."""

from __future__ import annotations

import pytest
import torch
import tunedops
from measure_cuda import measure
from rounds import LEAST_ROUNDS
from tunedops.workloads import Workload

pytestmark = pytest.mark.gpu
GPU = ("cuda", 0)


@pytest.mark.parametrize("op", ["mm", "bmm", "linear"])
def test_a_row_holds_what_was_measured(op: str) -> None:
    tunedops.enable()
    tunedops.tuning_enable(False)
    batch = 4 if op == "bmm" else 1
    workload = Workload("some", op, "bfloat16", "nt", batch, 16, 256, 512)
    with torch.no_grad():
        row = measure(workload, GPU, 0.05, with_tunableop=True)
    assert row["rounds"] >= LEAST_ROUNDS
    assert row["solution"] == "(no result)"
    assert str(row["emulated_tunableop_solution"]).startswith(("Default", "Gemm_Cublaslt_"))
    for column in (
        "default_us",
        "tuned_us",
        "ratio",
        "emulated_tunableop_us",
        "emulated_tunableop_ratio",
    ):
        assert row[column] > 0
