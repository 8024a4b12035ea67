"""The databases that ship with the package hold what their devices can use."""

from __future__ import annotations

from pathlib import Path

import pytest
import tunedops
from tunedops import _C, BoundArguments

FILES = sorted(tunedops.get_databases().glob("*/*.csv"))
WORKLOADS = ("gpu", "llama3_8b", "gpt2_124m", "resnet50_im2col")


def test_there_is_one_of_the_h200() -> None:
    assert "nvidia_h200/workloads.csv" in {f"{p.parent.name}/{p.name}" for p in FILES}


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_row_is_a_problem_that_was_timed(path: Path) -> None:
    validators, rows, complaints = _C.parse_results(path.read_text())
    assert complaints == []
    assert rows
    here = dict(tunedops.get_validators("cpu"))
    assert validators["TUNEDOPS_KERNELS"] == here["TUNEDOPS_KERNELS"], "tune it again"
    device = "cuda:0" if "CUBLAS_VERSION" in validators else "cpu"
    for row in map(tunedops.Result, *zip(*rows, strict=True)):
        BoundArguments.from_key(row.op, row.params, device)
        assert row.time_ms is not None
        assert row.default_ms is not None
        assert row.time_ms <= row.default_ms
        assert not row.was_disturbed
