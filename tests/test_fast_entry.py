"""Who may skip torch's dispatcher: plain tensors that nobody else wants to see."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import pytest
import torch
import torch.autograd.forward_ad as forward_ad
import tunedops
from conftest import keys
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from tunedops import _C

A, B, C = torch.randn(3, 4), torch.randn(4, 5), torch.randn(5)
# Entry, operands and what else it takes.
ENTRIES: dict[str, Callable[[Tensor, Tensor, Tensor], Any]] = {
    "mm": lambda a, b, c: _C.mm(a, b),
    "bmm": lambda a, b, c: _C.bmm(a[None], b[None]),
    "addmm": lambda a, b, c: _C.addmm(c, a, b, 1, 0.5),
    "baddbmm": lambda a, b, c: _C.baddbmm(c, a[None], b[None], 1.0, 1),
    "linear": lambda a, b, c: _C.linear(a, b.t(), c, "none"),
}
SLOW: dict[str, Callable[[Tensor, Tensor, Tensor], Tensor]] = {
    "mm": lambda a, b, c: torch.ops.tunedops.mm(a, b),
    "bmm": lambda a, b, c: torch.ops.tunedops.bmm(a[None], b[None]),
    "addmm": lambda a, b, c: torch.ops.tunedops.addmm(c, a, b, beta=1, alpha=0.5),
    "baddbmm": lambda a, b, c: torch.ops.tunedops.baddbmm(c, a[None], b[None]),
    "linear": lambda a, b, c: torch.ops.tunedops.linear(a, b.t(), c),
}
entries = pytest.mark.parametrize("entry", ENTRIES)


@entries
@pytest.mark.parametrize("enabled", [False, True])
@pytest.mark.parametrize("scope", [nullcontext, torch.no_grad, torch.inference_mode])
def test_plain_tensors_take_it(
    entry: str, enabled: bool, scope: Callable[[], AbstractContextManager[Any]]
) -> None:
    tunedops.enable(enabled)
    with scope():
        fast, slow = ENTRIES[entry](A, B, C), SLOW[entry](A, B, C)
    assert fast is not NotImplemented
    assert torch.equal(fast, slow)
    assert fast.is_inference() == slow.is_inference()
    assert len(keys()) == (1 if enabled else 0)


@entries
def test_tensors_that_require_grad_take_it_only_without_grad_mode(entry: str) -> None:
    for position in range(3):
        if entry in ("mm", "bmm") and position == 2:
            continue
        args = [A.clone(), B.clone(), C.clone()]
        args[position].requires_grad_()
        assert ENTRIES[entry](*args) is NotImplemented
        with torch.no_grad():
            assert ENTRIES[entry](*args) is not NotImplemented


class Subclass(torch.Tensor):
    pass


class FunctionMode(TorchFunctionMode):
    def __torch_function__(self, f: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return f(*args, **(kwargs or {}))


class DispatchMode(TorchDispatchMode):
    def __torch_dispatch__(self, f: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return f(*args, **(kwargs or {}))


@contextmanager
def record_function_callback() -> Iterator[None]:
    with torch.autograd.profiler.profile():
        yield


SCOPES: dict[str, Callable[[], AbstractContextManager[Any]]] = {
    "function_mode": FunctionMode,
    "dispatch_mode": DispatchMode,
    "fake_mode": lambda: FakeTensorMode(allow_non_fake_inputs=True),
    "device_mode": lambda: torch.device("cpu"),
    "autocast": lambda: torch.autocast("cpu", dtype=torch.bfloat16),
    "profiler": record_function_callback,
}


@entries
@pytest.mark.parametrize("scope", SCOPES)
def test_modes_see_the_op(entry: str, scope: str) -> None:
    with SCOPES[scope]():
        assert ENTRIES[entry](A, B, C) is NotImplemented
    assert ENTRIES[entry](A, B, C) is not NotImplemented


def fake(x: Tensor) -> Tensor:
    with FakeTensorMode():
        return torch.empty(x.shape)


TENSORS: dict[str, Callable[[Tensor], Any]] = {
    "subclass": lambda x: x.as_subclass(Subclass),
    "meta": lambda x: x.to("meta"),
    "fake": fake,
    "negated": torch._neg_view,
    "int": lambda x: 1,
    "none": lambda x: None,
    "list": lambda x: x.tolist(),
    "numpy": lambda x: x.numpy(),
}


@pytest.mark.parametrize("position", [0, 1])
@pytest.mark.parametrize("kind", TENSORS)
def test_other_operands_go_the_long_way(kind: str, position: int) -> None:
    args: list[Any] = [A, B]
    args[position] = TENSORS[kind](args[position])
    assert _C.mm(*args) is NotImplemented
    assert _C.addmm(C, *args, 1, 1) is NotImplemented
    args[position] = TENSORS[kind]([A, B.t().contiguous()][position])
    assert _C.linear(args[0], B.t() if position == 0 else args[1], C, "none") is NotImplemented


@pytest.mark.parametrize("layout", ["sparse", "csr", "mkldnn"])
def test_other_layouts_go_the_long_way(layout: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # CSR is in beta
        other = {
            "sparse": A.to_sparse,
            "csr": A.to_sparse_csr,
            "mkldnn": A.to_mkldnn,
        }[layout]()
    assert _C.mm(other, B) is NotImplemented


def test_operands_on_two_devices_go_the_long_way() -> None:
    if not torch.cuda.is_available():
        pytest.skip("no GPU")
    assert isinstance(_C.mm(A.cuda(), B.cuda()), Tensor)
    assert _C.mm(A.cuda(), B) is NotImplemented
    assert _C.mm(A, B.cuda()) is NotImplemented


@entries
def test_tensors_of_transforms_go_the_long_way(entry: str) -> None:
    seen: list[Any] = []

    def f(a: Tensor) -> Tensor:
        seen.append(ENTRIES[entry](a, B, C))
        return a.sum()

    torch.vmap(f)(A[None])
    torch.func.grad(f)(A)
    torch.func.jvp(f, (A,), (A,))
    torch.func.functionalize(f)(A)
    with forward_ad.dual_level():
        f(forward_ad.make_dual(A, A))
    assert [x is NotImplemented for x in seen] == [True] * 5


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_jit_trace_sees_the_op() -> None:
    traced = torch.jit.trace(lambda a, b: tunedops.mm(a, b), (A, B), check_trace=False)
    assert "tunedops::mm" in str(traced.graph)
    assert torch.equal(traced(2 * A, B), 2 * tunedops.mm(A, B))


@pytest.mark.parametrize("scalar", [1j, None, "1", 2**80, torch.tensor(1.0)])
def test_scalars_that_are_no_plain_numbers(scalar: Any) -> None:
    assert _C.addmm(C, A, B, scalar, 1) is NotImplemented
    assert _C.addmm(C, A, B, 1, scalar) is NotImplemented


def test_wrong_numbers_of_arguments() -> None:
    assert _C.mm(A) is NotImplemented
    assert _C.mm(A, B, B) is NotImplemented
    assert _C.addmm(C, A, B) is NotImplemented
    assert _C.linear(A, B.t()) is NotImplemented
    assert _C.linear(A, B.t(), C, b"none") is NotImplemented
    assert _C.linear(A, B.t(), 1, "none") is NotImplemented


def test_a_frozen_parameter_is_a_plain_tensor() -> None:
    weight = torch.nn.Parameter(B, requires_grad=False)
    assert type(_C.mm(A, weight)) is Tensor


def test_subclasses_keep_their_type() -> None:
    assert type(tunedops.mm(A.as_subclass(Subclass), B)) is type(
        torch.mm(A.as_subclass(Subclass), B)
    )


def test_profiler_sees_every_op() -> None:
    with torch.profiler.profile() as profile:
        tunedops.mm(A, B)
        tunedops.addmm(C, A, B)
        tunedops.bmm(A[None], B[None])
        tunedops.baddbmm(C, A[None], B[None])
        tunedops.linear(A, B.t())
    names = {event.name for event in profile.events()}
    assert {f"tunedops::{entry}" for entry in ENTRIES} <= names


def test_conjugates_are_part_of_the_problem(tuning: None) -> None:
    a, b = torch.randn(3, 4, dtype=torch.complex64), torch.randn(4, 5, dtype=torch.complex64)
    result = _C.mm(a.conj(), b)
    torch.testing.assert_close(result, torch.mm(a.conj().resolve_conj(), b))
    assert ("GemmTunableOp_c10::complex<float>_NN", "nn_5_3_4_ld_5_4_5_conj_01_threads_2") in keys()
