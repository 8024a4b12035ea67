"""What torch does to functions of tensors, done to ours: derivatives, vmap, autocast."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.autograd.forward_ad as forward_ad
import tunedops
from conftest import keys
from expected_values import TORCH_OPS
from sample_inputs import OPS
from torch import Tensor, func
from torch.testing import assert_close
from torch.utils.checkpoint import checkpoint
from tunedops import _C

F64 = torch.float64


def new(*shape: int, requires_grad: bool = False) -> Tensor:
    return torch.randn(shape, dtype=F64).requires_grad_(requires_grad)


def calls(table: dict[str, Callable[..., Tensor]]) -> dict[str, Callable[..., Tensor]]:
    """Each op as a function of three tensors [3, 4], [4, 5] and [5]."""
    return {
        "mm": lambda a, b, c: table["mm"](a, b) * c,
        "addmm": lambda a, b, c: table["addmm"](c, a, b, beta=0.5, alpha=2),
        "bmm": lambda a, b, c: table["bmm"](a[None], b[None])[0] * c,
        "baddbmm": lambda a, b, c: table["baddbmm"](c, a[None], b[None], beta=-1)[0],
        "linear": lambda a, b, c: table["linear"](a, b.t(), c, "gelu"),
    }


OURS, THEIRS = calls(OPS), calls(TORCH_OPS)
ops = pytest.mark.parametrize("op", OURS)


@pytest.fixture(params=[False, True], ids=["off", "tuning"], autouse=True)
def switch(request: pytest.FixtureRequest) -> None:
    """Every transform with and without tuning: both ways take other code."""
    tunedops.enable(request.param)


def operands(requires_grad: bool = False) -> tuple[Tensor, Tensor, Tensor]:
    return (
        new(3, 4, requires_grad=requires_grad),
        new(4, 5, requires_grad=requires_grad),
        new(5, requires_grad=requires_grad),
    )


@ops
def test_gradients(op: str) -> None:
    inputs = operands(requires_grad=True)
    assert torch.autograd.gradcheck(
        OURS[op], inputs, check_forward_ad=True, check_batched_grad=True
    )
    assert torch.autograd.gradgradcheck(OURS[op], inputs)


@ops
def test_vmap(op: str) -> None:
    inputs = tuple(torch.stack([x, x * 2, x - 1]) for x in operands())
    for in_dims in ((0, 0, 0), (0, None, None), (None, 0, None), (None, None, 0)):
        args = [x if d == 0 else x[0] for x, d in zip(inputs, in_dims, strict=True)]
        ours, theirs = (torch.vmap(f, in_dims)(*args) for f in (OURS[op], THEIRS[op]))
        assert_close(ours, theirs)
    nested = [x.expand(2, *x.shape) for x in inputs]
    ours, theirs = (torch.vmap(torch.vmap(f))(*nested) for f in (OURS[op], THEIRS[op]))
    assert_close(ours, theirs)


@ops
def test_function_transforms(op: str) -> None:
    inputs, tangents = operands(), operands()

    def both(transform: Callable[[Callable[..., Tensor]], object]) -> None:
        assert_close(transform(OURS[op]), transform(THEIRS[op]))

    both(lambda f: func.jvp(f, inputs, tangents))
    both(lambda f: func.vjp(f, *inputs)[1](torch.ones(3, 5, dtype=F64)))
    both(lambda f: func.jacrev(f, (0, 1, 2))(*inputs))
    both(lambda f: func.jacfwd(f, (0, 1, 2))(*inputs))
    both(lambda f: func.grad(lambda *x: f(*x).square().sum(), (0, 1, 2))(*inputs))
    both(lambda f: func.hessian(lambda x: f(x, *inputs[1:]).pow(3).sum())(inputs[0]))
    both(lambda f: torch.vmap(func.grad(lambda x: f(x[None], *inputs[1:]).sum()))(inputs[0]))


@ops
def test_forward_mode(op: str) -> None:
    for position in range(3):
        inputs = list(operands())
        with forward_ad.dual_level():
            inputs[position] = forward_ad.make_dual(inputs[position], operands()[position])
            ours = forward_ad.unpack_dual(OURS[op](*inputs)).tangent
            theirs = forward_ad.unpack_dual(THEIRS[op](*inputs)).tangent
        assert ours is not None
        assert_close(ours, theirs)


@ops
def test_double_backward_and_checkpoint(op: str) -> None:
    inputs = operands(requires_grad=True)
    penalties = []
    for f in (OURS[op], THEIRS[op], lambda *x: checkpoint(OURS[op], *x, use_reentrant=False)):
        loss = f(*inputs).square().sum()
        gradients = torch.autograd.grad(loss, inputs, create_graph=True)
        penalty = sum(g.square().sum() for g in gradients)
        penalties.append(torch.autograd.grad(penalty, inputs))
    assert_close(penalties[0], penalties[1])
    assert_close(penalties[2], penalties[1])


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@ops
def test_autocast(op: str, dtype: torch.dtype) -> None:
    inputs = [x.float() for x in operands()]
    name = op if op != "linear" else "linear with an activation"
    with torch.autocast("cpu", dtype=dtype):
        ours, theirs = OURS[op](*inputs), THEIRS[op](*inputs)
    assert ours.dtype == theirs.dtype, name
    assert_close(ours, theirs, rtol=0.05, atol=0.05)
    with torch.autocast("cpu", enabled=False):
        assert OURS[op](*inputs).dtype == torch.float32
    leaves = [x.requires_grad_() for x in inputs]
    with torch.autocast("cpu", dtype=dtype):
        OURS[op](*leaves).float().sum().backward()
    assert {x.grad.dtype for x in leaves if x.grad is not None} == {torch.float32}


def test_autocast_casts_a_weight_once() -> None:
    weight = torch.randn(5, 4, requires_grad=True)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        total = sum(tunedops.linear(torch.randn(3, 4), weight).sum() for _ in range(3))
    graph, casts = [total.grad_fn], set()
    while graph:
        node = graph.pop()
        casts |= {node} if "ToCopy" in node.name() else set()
        graph += [parent for parent, _ in node.next_functions if parent is not None]
    assert len(casts) == 1


@ops
def test_modes_without_gradients(op: str) -> None:
    inputs = operands(requires_grad=True)
    assert OURS[op](*inputs).requires_grad
    with torch.no_grad():
        assert not OURS[op](*inputs).requires_grad
    with torch.inference_mode():
        result = OURS[op](*inputs)
        assert result.is_inference()
        assert not result.requires_grad
        assert_close(result, THEIRS[op](*inputs))
    assert not OURS[op](*operands()).requires_grad
    assert not OURS[op](*operands()).is_inference()


def test_results_do_not_share_memory_with_operands() -> None:
    a, b, c = operands()
    before = [x.clone() for x in (a, b, c)]
    for op in OURS.values():
        op(a, b, c).zero_()
        assert_close([a, b, c], before)


def test_products_of_training_are_tuned_problems_too() -> None:
    x = torch.randn(6, 4, requires_grad=True)
    weight = torch.randn(5, 4, requires_grad=True)
    gradient = torch.randn(6, 5)
    tunedops.linear(x, weight).backward(gradient)
    assert_close(x.grad, gradient @ weight.detach())
    assert_close(weight.grad, gradient.t() @ x.detach())
    if tunedops.is_enabled():
        wanted = {
            _C.key_of(x, weight.t()),
            _C.key_of(gradient, weight),
            _C.key_of(gradient.t(), x),
        }
        assert wanted <= set(keys())
    else:
        assert keys() == []
