"""The database of this GPU, if there is one: its rows can run, and products take them untuned."""

from __future__ import annotations

import pytest
import torch
import tunedops
from tunedops import _C, BoundArguments

pytestmark = pytest.mark.gpu


def rows_of_this_gpu() -> list[tuple[BoundArguments, str]]:
    device = _C.validators(("cuda", 0))["DEVICE"]
    found: list[tuple[BoundArguments, str]] = []
    for path in sorted(tunedops.get_databases().glob("*/*.csv")):
        validators, rows, _ = _C.parse_results(path.read_text())
        if validators["DEVICE"] == device:
            found += [(BoundArguments.from_key(*row[:2], "cuda:0"), row[2]) for row in rows]
    return found


ROWS = rows_of_this_gpu()

needs_one = pytest.mark.skipif(not ROWS, reason="no database is of this GPU")


@needs_one
def test_every_row_can_be_used(stored_only: None) -> None:
    _C.set_setting("DATABASE_DIR", str(tunedops.get_databases()))
    refused = {}
    for bound, solution in ROWS:
        told = tunedops.explanation(bound)
        if (told.decided_by, told.solution) != ("database", solution):
            refused[bound.key] = str(told)
    assert not refused


@needs_one
def test_products_take_them_though_tuning_is_on(tuning: None) -> None:
    _C.set_setting("DATABASE_DIR", str(tunedops.get_databases()))
    known = {bound.key: solution for bound, solution in ROWS}
    x = torch.randn(1, 4096, device="cuda", dtype=torch.bfloat16)
    w = torch.randn(6144, 4096, device="cuda", dtype=torch.bfloat16)
    tunedops.enable(False)
    expected = (x.double() @ w.double().t()).float()
    tunedops.enable()
    assert known[tunedops.mm.bind(x, w.t()).key] != "Default"
    torch.testing.assert_close((x @ w.t()).float(), expected, rtol=0.01, atol=1)
    assert tunedops.get_results("cuda") == (), "nothing was tuned"
