"""Scalars, empty products and arguments that do not fit, as torch has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import tunedops
from conftest import keys
from expected_values import TORCH_OPS, assert_close, product
from sample_inputs import OPS, make
from torch import Tensor, empty, randn, zeros

F32 = torch.float32
NAN = float("nan")
enabled = pytest.mark.parametrize("enabled", [False, True])
SUMS = ["addmm", "baddbmm"]


def sum_operands(op: str, dtype: torch.dtype = F32) -> tuple[Tensor, Tensor, Tensor]:
    batch = (2,) if op == "baddbmm" else ()
    shapes = [(*batch, 4, 5), (*batch, 4, 6), (*batch, 6, 5)]
    first, second, third = (make(*shape, dtype=dtype) for shape in shapes)
    return first, second, third


# --- Scalars


@enabled
@pytest.mark.parametrize("op", SUMS)
@pytest.mark.parametrize("beta", [0, 1, 0.0, -0.5, 3, True])
@pytest.mark.parametrize("alpha", [0, 1, 0.0, 1.0, 0.25, -2, False])
def test_scalars(op: str, beta: float, alpha: float, enabled: bool) -> None:
    tunedops.enable(enabled)
    addend, a, b = sum_operands(op)
    expected = beta * addend.double() + alpha * product(a.double(), b.double())
    for _ in range(2):
        assert_close(OPS[op](addend, a, b, beta=beta, alpha=alpha), expected, F32, 6)


@enabled
@pytest.mark.parametrize("op", SUMS)
def test_scalars_of_one_class_share_a_problem_but_not_a_value(op: str, enabled: bool) -> None:
    tunedops.enable(enabled)
    addend, a, b = sum_operands(op)
    for beta, alpha in ((0.5, 2.0), (-3.0, 0.125), (7, 5)):
        expected = beta * addend.double() + alpha * product(a.double(), b.double())
        assert_close(OPS[op](addend, a, b, beta=beta, alpha=alpha), expected, F32, 6)
    assert len(keys()) == (1 if enabled else 0)


@enabled
@pytest.mark.parametrize("op", SUMS)
def test_beta_0_does_not_read_self(op: str, enabled: bool) -> None:
    tunedops.enable(enabled)
    addend, a, b = sum_operands(op)
    addend.fill_(NAN)
    for alpha in (1, 2.5):
        expected = alpha * product(a.double(), b.double())
        result = OPS[op](addend, a, b, beta=0, alpha=alpha)
        assert_close(result, expected, F32, 6)
        out = torch.full_like(addend, NAN)
        assert_close(OPS[op](out, a, b, beta=0, alpha=alpha, out=out), expected, F32, 6)


@enabled
@pytest.mark.parametrize("op", SUMS)
@pytest.mark.parametrize("scalars", [(1j, 1), (1, 2 - 1j), (0.5 + 1j, 0j), (0j, 1 + 0j)])
def test_complex_scalars(op: str, scalars: tuple[complex, complex], enabled: bool) -> None:
    tunedops.enable(enabled)
    beta, alpha = scalars
    addend, a, b = sum_operands(op, torch.complex64)
    wide = [x.to(torch.complex128) for x in (addend, a, b)]
    expected = beta * wide[0] + alpha * product(*wide[1:])
    assert_close(OPS[op](addend, a, b, beta=beta, alpha=alpha), expected, torch.complex64, 6)


@pytest.mark.parametrize("op", SUMS)
@pytest.mark.usefixtures("tuning")
def test_scalars_that_do_not_fit_the_type_end_as_in_torch(op: str) -> None:
    cases: list[tuple[torch.dtype, complex]] = [(F32, 1j), (torch.int64, 0.5), (torch.int64, 2)]
    cases += [(F32, 1e39), (F32, -1e300), (F32, 1e-50), (torch.bfloat16, 1e39)]
    for dtype, scalar in cases:
        args = [x.mul(4).to(dtype) for x in sum_operands(op)]
        for kwargs in ({"beta": scalar}, {"alpha": scalar}):
            assert outcome(OPS[op], *args, **kwargs) == outcome(TORCH_OPS[op], *args, **kwargs)


def outcome(op: Callable[..., Tensor], *args: Any, **kwargs: Any) -> Any:
    """Values, or the kind of error."""
    try:
        return op(*args, **kwargs).tolist()
    except Exception as error:
        return type(error)


# --- Empty products

EMPTY = [(0, 3, 4), (3, 0, 4), (3, 4, 0), (0, 0, 0), (1, 0, 1)]


@enabled
@pytest.mark.parametrize("shape", EMPTY, ids=lambda s: "x".join(map(str, s)))
@pytest.mark.parametrize("batch", [0, 2])
def test_empty_products_are_torchs(shape: tuple[int, ...], batch: int, enabled: bool) -> None:
    tunedops.enable(enabled)
    m, k, n = shape
    a, b, c = randn(m, k), randn(k, n), randn(m, n)
    many = [x.expand(batch, *x.shape) for x in (a, b, c)]
    calls: list[tuple[str, list[Tensor], dict[str, Any]]] = [
        ("mm", [a, b], {}),
        ("addmm", [c, a, b], {"beta": 0.5}),
        ("addmm", [torch.full((n,), NAN), a, b], {"beta": 0}),
        ("bmm", many[:2], {}),
        ("baddbmm", [many[2], *many[:2]], {"beta": 0.5}),
        ("baddbmm", [torch.full((1, 1), NAN), *many[:2]], {"beta": 0}),
        ("linear", [a, b.t(), randn(n), "relu"], {}),
        ("linear", [many[0], b.t()], {}),
    ]
    for op, args, kwargs in calls:
        expected = TORCH_OPS[op](*args, **kwargs)
        assert torch.equal(OPS[op](*args, **kwargs), expected), op
        if op != "linear":
            out = torch.full(expected.shape, NAN)
            assert torch.equal(OPS[op](*args, **kwargs, out=out), expected), f"{op} out"


@pytest.mark.usefixtures("tuning")
def test_nothing_to_add_up_leaves_what_is_there() -> None:
    out = randn(3, 4)
    expected = 0.5 * out
    tunedops.addmm(out, empty(3, 0), empty(0, 4), beta=0.5, out=out)
    assert torch.equal(out, expected)
    assert torch.equal(tunedops.linear(empty(2, 0), empty(3, 0)), zeros(2, 3))
    bias = torch.tensor([-1.0, 0.0, 1.0])
    result = tunedops.linear(empty(2, 0), empty(3, 0), bias, "relu")
    assert torch.equal(result, bias.relu().expand(2, 3))
    assert keys() == []


# --- What does not fit

A, B = zeros(3, 4), zeros(4, 5)
C = zeros(2, 3, 4)
# (call, what its message must say)
REJECTED: list[tuple[str, tuple[Any, ...], str]] = [
    ("mm", (A, A), r"mm: self and mat2 must agree in K, got \[3, 4\] and \[3, 4\]"),
    ("mm", (C, B), r"mm: self must have 2 dimensions, got shape \[2, 3, 4\]"),
    ("mm", (A, B[0]), r"mm: mat2 must have 2 dimensions, got shape \[5\]"),
    ("mm", (A, B.double()), r"mm: self and mat2 must have the same dtype, got Float and Double"),
    ("bmm", (A, B), r"bmm: self must have 3 dimensions, got shape \[3, 4\]"),
    ("bmm", (C, zeros(3, 4, 5)), r"bmm: .* same batch size, got \[2, 3, 4\] and \[3, 4, 5\]"),
    ("bmm", (C, C), r"bmm: .* agree in K, got \[2, 3, 4\] and \[2, 3, 4\]"),
    ("addmm", (zeros(2, 5), A, B), r"addmm: self must be expandable .* \[3, 5\], got \[2, 5\]"),
    ("addmm", (zeros(1, 3, 5), A, B), r"addmm: self must be expandable .*, got \[1, 3, 5\]"),
    ("addmm", (zeros(5).half(), A, B), r"addmm: self and mat1 .* dtype, got Half and Float"),
    ("addmm", (zeros(5), A, A), r"addmm: mat1 and mat2 must agree in K"),
    ("baddbmm", (zeros(5), C, B), r"baddbmm: batch2 must have 3 dimensions, got shape \[4, 5\]"),
    ("baddbmm", (zeros(3, 1, 1), C, C.mT), r"baddbmm: self must be expandable .* \[2, 3, 3\]"),
    ("linear", (A, B), r"linear: .* \(in_features\), got \[3, 4\] and \[4, 5\]"),
    ("linear", (A, zeros(5, 4), zeros(4)), r"linear.*bias.* expandable .* \[5\], got \[4\]"),
    ("linear", (A, zeros(5, 4).half()), r"linear: input and weight .*, got Float and Half"),
    ("linear", (A, zeros(5, 4), zeros(5).half()), r"linear: bias and input .* Half and Float"),
    ("linear", (A, A, None, "tanh"), r"activation must be one of none, relu, .* got 'tanh'"),
    ("linear", (zeros(()), A), r"linear: input must have at least 1 dimension"),
]


@enabled
@pytest.mark.parametrize(("op", "args", "message"), REJECTED)
def test_errors_name_what_was_expected_and_what_came(
    op: str, args: tuple[Any, ...], message: str, enabled: bool
) -> None:
    tunedops.enable(enabled)
    with pytest.raises(RuntimeError, match=message):
        OPS[op](*args)
    with pytest.raises(RuntimeError, match=message):
        getattr(torch.ops.tunedops, op)(*args)
    if "activation" not in message:
        with pytest.raises((RuntimeError, IndexError)):
            TORCH_OPS[op](*args)
    assert keys() == []


@pytest.mark.usefixtures("tuning")
def test_routed_products_complain_in_torchs_words() -> None:
    with pytest.raises(RuntimeError, match="mat1 and mat2 shapes cannot be multiplied"):
        torch.mm(A, A)
    with pytest.raises(RuntimeError, match="batch"):
        torch.bmm(C, zeros(3, 4, 5))
    with pytest.raises(RuntimeError, match="expand"):
        torch.addmm(zeros(2, 5), A, B)
    with pytest.raises(RuntimeError, match="same dtype"):
        torch.mm(A, B.double())
    with pytest.raises(RuntimeError):
        zeros(5).addmm_(A, B)  # must not be broadcast in place


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("bad", [1, "a", None, [1.0]])
def test_other_objects_are_rejected(op: str, bad: Any) -> None:
    with pytest.raises((RuntimeError, TypeError)):
        OPS[op](bad, bad, bad)


# --- What torch keeps track of


@enabled
@pytest.mark.parametrize("op", ["mm", "bmm", "addmm", "baddbmm"])
def test_autograd_learns_that_out_was_written(op: str, enabled: bool) -> None:
    tunedops.enable(enabled)
    shape = (2, 4, 4) if op.startswith("b") else (4, 4)
    x, out, weight = randn(shape), randn(shape), randn(shape).requires_grad_()
    loss = (weight * out).sum()  # saves out
    before = out._version
    OPS[op](*([x] * (3 if "add" in op else 2)), out=out)
    assert out._version == before + 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


@pytest.mark.parametrize("kernel", ["Default", "Gemm_OneDnn", "Gemm_CpuSkinny"])
def test_freed_memory_is_torchs_error(kernel: str) -> None:
    x, w, bias = randn(4, 32), randn(8, 32), randn(8)
    bias.untyped_storage().resize_(0)
    with tunedops.force(kernel), pytest.raises(RuntimeError):
        tunedops.linear(x, w, bias)
    x.untyped_storage().resize_(0)
    with tunedops.force(kernel), pytest.raises(RuntimeError):
        torch.mm(x, w.t())


@pytest.mark.usefixtures("tuning")
def test_a_matrix_is_no_addend_of_a_vector_product() -> None:
    with pytest.raises(RuntimeError, match="vector"):
        torch.addmv(zeros(4, 1), randn(4, 8), randn(8))
