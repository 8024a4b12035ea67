"""The out forms: where the result goes, and what happens when it cannot.

torch is the yardstick throughout: the same out, the same answer or the same complaint.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import pytest
import torch
import tunedops
from conftest import CPU, keys
from expected_values import TORCH_OPS, assert_close, product
from sample_inputs import OPS, make
from torch import Tensor
from tunedops import _C

# A forced solution may not be able to run after all; that must show in values only.
pytestmark = pytest.mark.filterwarnings("ignore:.*Default ran instead")

F32 = torch.float32
WITH_OUT = ["mm", "addmm", "bmm", "baddbmm"]
ops = pytest.mark.parametrize("op", WITH_OUT)


def call(op: str) -> tuple[list[Tensor], dict[str, Any], Tensor]:
    """Operands, scalars and the expected result of a small product."""
    batch = (3,) if "bmm" in op else ()
    a, b = make(*batch, 5, 7, dtype=F32), make(*batch, 7, 6, dtype=F32)
    if op in ("mm", "bmm"):
        return [a, b], {}, product(a.double(), b.double())
    addend = make(*batch, 5, 6, dtype=F32)
    expected = 0.5 * addend.double() + 2 * product(a.double(), b.double())
    return [addend, a, b], {"beta": 0.5, "alpha": 2}, expected


def new_layout(name: str, shape: torch.Size) -> Tensor:
    """An out of a layout, full of NaN, as are its surroundings."""
    *batch, rows, columns = shape
    if name == "contiguous":
        return torch.full(shape, torch.nan)
    if name == "column_major":
        return torch.full((*batch, columns, rows), torch.nan).mT
    if name == "sliced":
        return torch.full((*batch, rows + 2, columns + 3), torch.nan)[..., 1:-1, 2:-1]
    if name == "column_major_slice":
        whole = torch.full((*batch, columns + 3, rows + 2), torch.nan)
        return whole[..., 2:-1, 1:-1].mT
    if name == "steps":
        return torch.full((*batch, rows, 2 * columns), torch.nan)[..., ::2]
    assert name == "negated"
    return torch._neg_view(torch.full(shape, torch.nan))


LAYOUTS = ["contiguous", "column_major", "sliced", "column_major_slice", "steps", "negated"]


def ways(op: str, args: list[Tensor], kwargs: dict[str, Any]) -> list[tuple[str, Any]]:
    """Off, tuned, and each kernel by force, as scopes."""

    def tuned() -> AbstractContextManager[None]:
        tunedops.enable()
        return nullcontext()

    forced = set(_C.kernel_names(CPU))
    for key in keys():
        forced |= {m[0] for m in _C.tune(CPU, *key, False).measurements}
    scopes: list[tuple[str, Any]] = [("off", nullcontext), ("tuned", tuned)]
    return scopes + [(name, lambda name=name: tunedops.force(name)) for name in sorted(forced)]


@ops
@pytest.mark.parametrize("layout", LAYOUTS)
def test_out_is_written_where_it_lies(op: str, layout: str) -> None:
    args, kwargs, expected = call(op)
    for _ in range(2):  # the second time there are results, so more is forced
        for name, scope in ways(op, args, kwargs):
            out = new_layout(layout, expected.shape)
            strides, memory = out.stride(), out._base if out._base is not None else out
            with scope():
                returned = OPS[op](*args, **kwargs, out=out)
            assert returned is out, name
            assert out.stride() == strides, name
            assert_close(out, expected, F32, 7, name)
            outside = memory.isnan().sum().item()
            assert outside == memory.numel() - out.numel(), name


@ops
@pytest.mark.usefixtures("tuning")
def test_empty_out_is_resized(op: str) -> None:
    args, kwargs, expected = call(op)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_close(OPS[op](*args, **kwargs, out=torch.empty(0)), expected, F32, 7)


@ops
@pytest.mark.usefixtures("tuning")
def test_out_of_another_size_is_resized_with_torchs_warning(
    op: str, capfd: pytest.CaptureFixture[str]
) -> None:
    args, kwargs, expected = call(op)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        out = OPS[op](*args, **kwargs, out=torch.zeros(2, 2))
    assert_close(out, expected, F32, 7)
    # torch.ops has torch's warnings on standard error instead of as Python's.
    said = capfd.readouterr().err + "".join(str(w.message) for w in caught)
    assert said.count("output with one or more elements was resized") == 1


@ops
@pytest.mark.usefixtures("tuning")
def test_out_that_is_an_input(op: str) -> None:
    batch = (2,) if "bmm" in op else ()
    operands = [make(*batch, 6, 6, dtype=F32) for _ in range(3)]
    args = operands[:2] if op in ("mm", "bmm") else operands
    for position in range(len(args)):
        theirs, ours = ([x.clone() for x in args] for _ in range(2))
        with tunedops.force("Default"):
            TORCH_OPS[op](*theirs, out=theirs[position])
        OPS[op](*ours, out=ours[position])
        torch.testing.assert_close(ours, theirs, msg=f"out is argument {position}")


@pytest.mark.usefixtures("tuning")
def test_out_that_overlaps_an_input() -> None:
    for offset in (0, 3):
        memory = torch.randn(2, 6, 8)
        for position in (0, 1):
            results = []
            for op, scope in ((torch.mm, tunedops.force("Default")), (tunedops.mm, nullcontext())):
                buffer = memory.clone().view(-1)
                a, b = buffer[:36].view(6, 6), buffer[48:84].view(6, 6)
                start = offset + 48 * position
                with scope:
                    op(a, b, out=buffer[start : start + 36].view(6, 6))
                results.append(buffer)
            torch.testing.assert_close(*results)


@pytest.mark.usefixtures("tuning")
def test_in_place_sum_is_tuned_on_copies() -> None:
    args, kwargs, expected = call("addmm")
    out = args[0].clone()
    tunedops.addmm(out, *args[1:], **kwargs, out=out)
    assert_close(out, expected, F32, 7)
    assert keys()[0][1].endswith("_alpha_any_beta_any_threads_2")


BAD_OUTS: dict[str, Callable[[torch.Size], Tensor]] = {
    "other_dtype": lambda shape: torch.empty(shape, dtype=torch.float64),
    "expanded": lambda shape: torch.empty((*shape[:-1], 1)).expand(shape),
    "requires_grad": lambda shape: torch.empty(shape, requires_grad=True),
}


@ops
@pytest.mark.parametrize("bad", BAD_OUTS)
@pytest.mark.parametrize("enabled", [False, True])
def test_outs_that_torch_rejects(op: str, bad: str, enabled: bool) -> None:
    if (op, bad) == ("bmm", "expanded"):
        pytest.skip("torch.bmm writes several values to one place")
    args, kwargs, expected = call(op)
    tunedops.enable(enabled)
    with pytest.raises(RuntimeError) as theirs:
        TORCH_OPS[op](*args, **kwargs, out=BAD_OUTS[bad](expected.shape))
    with pytest.raises(RuntimeError) as ours:
        OPS[op](*args, **kwargs, out=BAD_OUTS[bad](expected.shape))
    assert str(ours.value) == str(theirs.value)
    assert keys() == []


@ops
def test_out_with_inputs_that_require_grad_is_rejected(op: str) -> None:
    args, kwargs, expected = call(op)
    args[0].requires_grad_()
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        OPS[op](*args, **kwargs, out=torch.empty(expected.shape))
    with torch.no_grad():
        out = OPS[op](*args, **kwargs, out=torch.empty(expected.shape))
    assert_close(out, expected, F32, 7)


@pytest.mark.usefixtures("tuning")
def test_column_major_out_is_a_problem_of_its_own() -> None:
    args, _, expected = call("mm")
    tunedops.mm(*args, out=new_layout("contiguous", expected.shape))
    tunedops.mm(*args, out=new_layout("column_major", expected.shape))
    # Row-major: out^T = b^T a^T. Column-major: the product itself, of transposed operands.
    assert keys() == [
        ("GemmTunableOp_float_NN", "nn_6_5_7_ld_6_7_6_threads_2"),
        ("GemmTunableOp_float_TT", "tt_5_6_7_ld_7_6_5_threads_2"),
    ]


@ops
def test_a_shared_buffer_is_not_written_through_a_lazy_copy(op: str) -> None:
    args, scalars, expected = call(op)
    with tunedops.force("Gemm_CpuSkinny_vectors_4_prefetch_0_threads_1"):
        for _ in range(3):  # the later ones are known calls
            base = torch.zeros(expected.shape)
            out = base._lazy_clone()
            TORCH_OPS[op](*args, **scalars, out=out)
            assert_close(out, expected, F32, 7)
            assert base.count_nonzero() == 0


@pytest.mark.parametrize(
    "solution", ["Gemm_OneDnn", "Gemm_CpuSkinny_vectors_4_prefetch_0_threads_1"]
)
def test_an_output_without_memory_is_torchs_error(solution: str) -> None:
    a, b = make(2, 64, dtype=F32), make(64, 96, dtype=F32)
    out = torch.ones(2, 96)
    with tunedops.force(solution):
        torch.mm(a, b, out=out)
        out.untyped_storage().resize_(0)
        with pytest.raises(RuntimeError, match="not allocated"):
            torch.mm(a, b, out=out)
