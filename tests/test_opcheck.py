"""torch's own examination of our ops: schema, fakes, autograd, tracing."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import tunedops
from torch import Tensor, randn


def call(op: str, overload: str, requires_grad: bool) -> tuple[list[Any], dict[str, Any]]:
    batch = (2,) if "bmm" in op else ()

    def new(*shape: int) -> Tensor:
        return randn(*batch, *shape).requires_grad_(requires_grad)

    a, b = new(3, 4), new(5, 4).mT.detach().requires_grad_(requires_grad)
    kwargs: dict[str, Any] = {}
    args: list[Any] = [a, b]
    if "add" in op:
        args = [randn(5).requires_grad_(requires_grad), a, b]
        kwargs = {"beta": 0.5, "alpha": 2}
    if op == "linear":
        args = [a, new(5, 4), randn(5).requires_grad_(requires_grad), "gelu"]
    if overload == "out":
        kwargs["out"] = torch.zeros(*batch, 3, 5)
    return args, kwargs


OVERLOADS = [
    (op, overload)
    for op in ("mm", "addmm", "bmm", "baddbmm", "linear")
    for overload in getattr(torch.ops.tunedops, op).overloads()
]


def test_all_overloads_are_known() -> None:
    assert len(OVERLOADS) == 9
    ours = {
        schema.name.removeprefix("tunedops::")
        for schema in torch._C._jit_get_all_schemas()
        if schema.name.startswith("tunedops::")
    }
    assert ours == {op for op, _ in OVERLOADS}


@pytest.mark.parametrize("enabled", [False, True], ids=["off", "tuning"])
@pytest.mark.parametrize("requires_grad", [False, True], ids=["plain", "grad"])
@pytest.mark.parametrize(("op", "overload"), OVERLOADS)
def test_opcheck(op: str, overload: str, requires_grad: bool, enabled: bool) -> None:
    if overload == "out" and requires_grad:
        pytest.skip("out forms do not differentiate")
    args, kwargs = call(op, overload, requires_grad)
    tunedops.enable(enabled)
    torch.library.opcheck(getattr(getattr(torch.ops.tunedops, op), overload), args, kwargs)


@pytest.mark.parametrize(
    "x",
    [randn(4), randn(2, 3, 4), randn(3, 2, 4).transpose(0, 1), randn(0, 4), randn(2, 2, 2, 4)],
    ids=lambda x: "x".join(map(str, x.shape)),
)
@pytest.mark.parametrize("bias", [None, randn(5)], ids=["no_bias", "bias"])
def test_opcheck_linear_ranks(x: Tensor, bias: Tensor | None) -> None:
    torch.library.opcheck(torch.ops.tunedops.linear.default, (x, randn(5, 4), bias))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64, torch.complex64])
def test_opcheck_dtypes_and_conjugates(dtype: torch.dtype) -> None:
    a, b = randn(3, 4).to(dtype), randn(4, 5).to(dtype).conj()
    torch.library.opcheck(torch.ops.tunedops.mm.default, (a, b))
