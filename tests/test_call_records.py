"""`op.last_call`: what the last completed call was (T1 to T8), and what it costs at the least (T10
to T13)."""

from __future__ import annotations

import gc
import itertools
import threading
import weakref
from typing import Any

import pytest
import torch
import tunedops
from conftest import RunPython
from torch import Tensor, randn
from torch._subclasses import FakeTensorMode
from tunedops import _C, SignatureCall
from tunedops.ops import AddmmOp, LinearOp, MmOp
from tunedops.roofline import product_flops, roof_of_product, traffic_bytes
from tunedops.signature_call import TensorFacts


def traffic_of(call: SignatureCall) -> dict[str, tuple[int, int]]:
    return {t.tensor: (t.reads, t.writes) for t in call.traffic}


def test_the_last_completed_call_is_kept_and_a_failed_one_is_none() -> None:
    """T1."""
    op = MmOp()
    with pytest.raises(RuntimeError, match="mm: last_call: no call of this op has ended yet"):
        _ = op.last_call
    a, b = randn(4, 8), randn(8, 6)
    op(a, b)
    first = op.last_call
    with pytest.raises(RuntimeError, match="mat"):
        op(a, a)
    assert op.last_call == first
    op(a[:2], b)
    assert op.last_call.indices["M"] == 2
    assert first.indices["M"] == 4, "a record does not change"
    with pytest.raises(AttributeError):
        first.op = "bmm"  # type: ignore[misc]


def test_objects_keep_their_own_and_raw_ops_none() -> None:
    one, other = MmOp(), MmOp()
    one(randn(4, 8), randn(8, 6))
    other(randn(2, 8), randn(8, 6))
    torch.ops.tunedops.mm(randn(7, 8), randn(8, 6))
    assert (one.last_call.indices["M"], other.last_call.indices["M"]) == (4, 2)


def test_what_a_compiler_traces_is_not_noted_and_meta_tensors_are() -> None:
    """T1."""
    op = MmOp()
    a, b = randn(4, 8), randn(8, 6)
    compiled = torch.compile(lambda x, y: op(x, y), backend="eager", fullgraph=True)
    compiled(a, b)
    with pytest.raises(RuntimeError, match="no call"):
        _ = op.last_call
    op(a.to("meta"), b.to("meta"))
    assert op.last_call.device == torch.device("meta")
    assert op.last_call.solution is None
    with FakeTensorMode() as mode:
        op(mode.from_tensor(a), mode.from_tensor(b))
    assert op.last_call.device == torch.device("cpu")


def test_tensors_that_stand_for_others_are_not_noted() -> None:
    """Those of torch.func, whose product is another one."""
    op, layer = MmOp(), LinearOp()
    a, b = randn(3, 4, 8), randn(8, 6)
    torch.testing.assert_close(torch.vmap(lambda x: op(x, b))(a), a @ b)
    torch.vmap(lambda x: layer(x, b.t()))(a)
    torch.func.grad(lambda x: op(x, b).sum())(a[0])
    torch.vmap(torch.func.grad(lambda x: op(x, b).sum()))(a)
    torch.func.functionalize(lambda x: op(x, b))(a[0])
    with pytest.raises(RuntimeError, match="no call"):
        _ = layer.last_call


@pytest.mark.parametrize("way", ["fast", "grad", "out"])
def test_every_way_in_is_noted_alike(way: str) -> None:
    """T2, T5, T7: whether the dispatcher was needed or not."""
    a, b = randn(4, 8, requires_grad=way == "grad"), randn(8, 6)
    op = MmOp()
    op(a, b, out=torch.empty(4, 6) if way == "out" else None)
    call = op.last_call
    assert call.op == "mm"
    assert dict(call.indices) == {"M": 4, "N": 6, "K": 8, "T": torch.float32}
    assert dict(call.tensors) == {
        "input": TensorFacts((4, 8), torch.float32),
        "mat2": TensorFacts((8, 6), torch.float32),
        "output": TensorFacts((4, 6), torch.float32),
    }
    assert dict(call.strides) == {"input": (8, 1), "mat2": (6, 1), "output": (6, 1)}
    assert call.device == torch.device("cpu")
    assert (call.written, call.has_out) == ((), way == "out")


def test_indices_of_every_op() -> None:
    """T2: rows of any rank are one length, batches have one."""
    lengths = {"M": 4, "N": 6, "K": 8, "T": torch.float32}
    batch = {"B": 3, **lengths}
    a, b, c = randn(4, 8), randn(8, 6), randn(4, 6)
    tunedops.bmm(randn(3, 4, 8), randn(3, 8, 6))
    assert dict(tunedops.bmm.last_call.indices) == batch
    tunedops.addmm(c, a, b)
    assert dict(tunedops.addmm.last_call.indices) == lengths
    tunedops.baddbmm(c, randn(3, 4, 8), randn(3, 8, 6))
    assert dict(tunedops.baddbmm.last_call.indices) == batch
    tunedops.linear(randn(2, 2, 8), randn(6, 8))
    assert dict(tunedops.linear.last_call.indices) == lengths
    assert tunedops.linear.last_call.tensors["input"].shape == (2, 2, 8)


def test_the_branch_that_was_taken() -> None:
    """T3: layouts, a bias or an addend, an activation, and whether it was in place."""
    a, b, c = randn(4, 8), randn(8, 6), randn(4, 6)
    keys = {}
    for left, right in itertools.product("nt", repeat=2):
        x = a if left == "n" else a.t().contiguous().t()
        y = b if right == "n" else b.t().contiguous().t()
        tunedops.mm(x, y)
        keys[left + right] = tunedops.mm.last_call.branch_key
    assert keys == {layout: (layout,) for layout in ("nn", "nt", "tn", "tt")}
    tunedops.linear(a, b.t().contiguous(), randn(6), "gelu")
    assert tunedops.linear.last_call.branch_key == ("nt", "bias", "gelu")
    tunedops.linear(a, b.t())
    assert tunedops.linear.last_call.branch_key == ("nn",)
    tunedops.addmm(randn(6), a, b)
    assert tunedops.addmm.last_call.branch_key == ("nn", "bias")
    tunedops.addmm(c, a, b, out=c)
    assert tunedops.addmm.last_call.branch_key == ("nn", "addend", "in_place")


def test_reads_and_writes() -> None:
    """T6, T7: what is not read is not charged, and an output that is an input only once."""
    a, b, c = randn(4, 8), randn(8, 6), randn(4, 6)
    op = AddmmOp()
    plain = {"mat1": (1, 0), "mat2": (1, 0)}
    cases: tuple[tuple[dict[str, Any], dict[str, tuple[int, int]]], ...] = (
        ({}, {"input": (1, 0), "output": (0, 1)}),
        ({"beta": 0}, {"input": (0, 0), "output": (0, 1)}),
        ({"out": c}, {"input": (1, 1), "output": (0, 0)}),
        ({"out": c, "beta": 0}, {"input": (0, 1), "output": (0, 0)}),
        ({"out": torch.empty(4, 6)}, {"input": (1, 0), "output": (0, 1)}),
    )
    for keywords, expected in cases:
        op(c, a, b, **keywords)
        assert traffic_of(op.last_call) == plain | expected
        assert op.last_call.written == (("input",) if keywords.get("out") is c else ())
        assert op.last_call.has_out == ("out" in keywords)


def test_no_memory_is_kept_and_there_is_no_metadata() -> None:
    """T8: a product has none; its operands go when the program lets go of them."""
    a, b = randn(4, 8), randn(8, 6)
    gone = weakref.ref(a)
    tunedops.mm(a, b)
    del a
    gc.collect()
    assert gone() is None
    call = tunedops.mm.last_call
    assert dict(call.metadata) == {}
    with pytest.raises(KeyError):
        call.metadata_values("offsets")


def test_metadata_is_read_when_it_is_asked_for() -> None:
    """T8: the tensor itself, with what it holds by then."""
    tunedops.mm(randn(4, 8), randn(8, 6))
    call = tunedops.mm.last_call
    offsets = torch.tensor([0, 3, 4])
    facts = {name: getattr(call, name) for name in SignatureCall.__dataclass_fields__}
    record = SignatureCall(**facts | {"metadata": {"offsets": offsets, "none": offsets.to("meta")}})
    assert record.metadata_values("offsets") == [0, 3, 4]
    offsets[1] = 2
    assert record.metadata_values("offsets") == [0, 2, 4]
    with pytest.raises(RuntimeError, match="none is a meta tensor, which has no values"):
        record.metadata_values("none")


def test_what_ran_and_who_chose_it(stored_only: None) -> None:
    a, b = randn(12, 20), randn(20, 28)
    op = MmOp()
    op(a, b)
    assert (op.last_call.solution, op.last_call.tier) == ("Default", "a miss")
    with tunedops.force("Gemm_OneDnn"):
        op(a, b)
    assert (op.last_call.solution, op.last_call.tier) == ("Gemm_OneDnn", "overlay")
    op(a, b)
    assert op.last_call.tier == "a miss"
    tunedops.enable(False)
    op(a, b)
    assert (op.last_call.solution, op.last_call.tier) == (None, None)


def test_what_ran_of_every_op(run_python: RunPython, extra_kernels: str) -> None:
    """Told by kernels that leave their mark."""
    run_python(
        """
        a, b, c = torch.randn(5, 7), torch.randn(7, 3), torch.randn(3)
        x = torch.randn(5, 7, requires_grad=True)
        calls = {
            tunedops.mm: ((a, b), (x, b)),
            tunedops.linear: ((a, b.t(), c), (a, b.t()), (x, b.t(), c), (a[None], b.t())),
            tunedops.addmm: ((c, a, b), (c, x, b)),
        }
        with tunedops.force("Gemm_Constant_value_42"):
            for op, arguments in calls.items():
                for each in arguments:
                    for _ in range(2):
                        out = op(*each)
                        assert out.unique().tolist() == [42], (op, out)
                        call = op.last_call
                        ran = (call.solution, call.tier)
                        assert ran == ("Gemm_Constant_value_42", "overlay"), (op, call)
        """,
        prelude=extra_kernels,
    )


def test_threads_share_an_object() -> None:
    """Whoever ends last is the last; a record is never a mixture of two."""
    op = LinearOp()
    wrong = []

    def work(n: int) -> None:
        x, w = randn(n, 8), randn(n, 8)
        for _ in range(300):
            op(x, w)
            call = op.last_call
            if call.indices["M"] != call.indices["N"]:
                wrong.append(call)

    threads = [threading.Thread(target=work, args=(n,)) for n in (3, 5, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


# --- What it costs at the least ---------------------------------------------------------


class Counted:
    """A number that counts what is done with it."""

    operations = 0

    def __add__(self, other: Counted) -> Counted:
        Counted.operations += 1
        return self

    __mul__ = __add__


def naive_operations(call: SignatureCall, alpha: float, beta: float, term: bool) -> int:
    """A product as one writes it down, with numbers that count."""
    batch, m, n, k = (call.indices.get(letter, 1) for letter in "BMNK")
    Counted.operations = 0
    one = Counted()
    for _ in itertools.product(range(batch), range(m), range(n)):  # type: ignore[arg-type]
        total = Counted()
        for _ in range(k):  # type: ignore[arg-type]
            total = total + one * one
        if alpha != 1:
            total = total * one
        if term:
            added = one * one if beta != 1 else one
            total = total + added
    return Counted.operations


def test_operations_are_those_of_a_naive_product() -> None:
    """T10: against an independent count."""
    a, b, c, bias = randn(4, 8), randn(8, 6), randn(4, 6), randn(6)
    for alpha, beta, given in itertools.product((1, 0.5), (0, 1, 2.0), (c, bias)):
        tunedops.addmm(given, a, b, alpha=alpha, beta=beta)
        call = tunedops.addmm.last_call
        assert product_flops(call) == naive_operations(call, alpha, beta, beta != 0)
    for op, arguments, term in (
        (tunedops.mm, (a, b), False),
        (tunedops.bmm, (randn(3, 4, 8), randn(3, 8, 6)), False),
        (tunedops.linear, (a, randn(6, 8), bias), True),
        (tunedops.linear, (randn(2, 2, 8), randn(6, 8)), False),
    ):
        op(*arguments)  # type: ignore[operator]
        expected = naive_operations(op.last_call, 1, 1, term)  # type: ignore[attr-defined]
        assert op.eval_roofline()[0] == expected  # type: ignore[attr-defined]
    tunedops.mm(a.cfloat(), b.cfloat())
    assert tunedops.mm.eval_roofline()[0] == 8 * 4 * 6 * 8


def test_bytes_are_what_has_to_move() -> None:
    """T10, T12: what is read once, what is written once, and what shares memory once."""
    a, b, c = randn(4, 8), randn(8, 6), randn(4, 6)
    tunedops.mm(a, b)
    assert traffic_bytes(tunedops.mm.last_call) == (4 * (32 + 48), 4 * 24)
    assert tunedops.mm.eval_roofline()[1] == 4 * (32 + 48 + 24)
    assert tunedops.mm.eval_roofline_read_bytes() == 4 * (32 + 48)
    tunedops.mm(a, a.t())
    assert tunedops.mm.eval_roofline_read_bytes() == 4 * 32, "one matrix"
    tunedops.addmm(c, a, b, out=c)
    assert traffic_bytes(tunedops.addmm.last_call) == (4 * (32 + 48 + 24), 4 * 24)
    tunedops.addmm(randn(6), a, b)
    assert traffic_bytes(tunedops.addmm.last_call)[0] == 4 * (32 + 48 + 6)
    tunedops.addmm(randn(6).expand(4, 6), a, b)
    assert traffic_bytes(tunedops.addmm.last_call)[0] == 4 * (32 + 48 + 6), "expanded, not copied"
    tunedops.addmm(c, a, b, beta=0)
    assert traffic_bytes(tunedops.addmm.last_call)[0] == 4 * (32 + 48)
    stacked = randn(8, 8)
    tunedops.mm(stacked[:4], stacked[4:].t())
    assert tunedops.mm.eval_roofline_read_bytes() == 4 * 64, "two parts of one"


def test_it_is_worked_out_anew_each_time() -> None:
    """T10."""
    op = MmOp()
    op(randn(4, 8), randn(8, 6))
    before = op.eval_roofline()
    op(randn(2, 8), randn(8, 6))
    assert op.eval_roofline() != before
    assert op.roofline_data_terms() == {}, "T13: nothing that values would decide"


@pytest.mark.parametrize(
    ("dtype", "device", "allows_tf32", "unit"),
    [
        (torch.bfloat16, "cuda", False, "tensor_core.bf16"),
        (torch.float16, "cuda", False, "tensor_core.fp16"),
        (torch.float32, "cuda", True, "tensor_core.tf32"),
        (torch.float32, "cuda", False, "cuda_core.fp32"),
        (torch.float64, "cuda", False, "tensor_core.fp64"),
        (torch.float32, "cpu", False, "cpu.fp32"),
        (torch.bfloat16, "cpu", False, "cpu.bf16"),
        (torch.int32, "cuda", False, "cuda_core.fp32"),
    ],
)
def test_the_unit_is_that_of_the_best_implementation(
    dtype: torch.dtype, device: str, allows_tf32: bool, unit: str
) -> None:
    """T11: by type and by what torch allows, whatever kernel ran."""
    tunedops.mm(randn(4, 8), randn(8, 6))
    call = tunedops.mm.last_call
    facts = {name: getattr(call, name) for name in SignatureCall.__dataclass_fields__}
    facts |= {
        "indices": dict(call.indices) | {"T": dtype},
        "device": torch.device(device),
        "allows_tf32": allows_tf32,
    }
    assert roof_of_product(SignatureCall(**facts)) == unit


def test_a_slot_is_what_it_takes() -> None:
    a, b = randn(4, 8), randn(8, 6)
    slot = _C.CallSlot()
    assert slot.facts() is None
    assert isinstance(_C.mm(a, b, slot), Tensor)
    assert slot.facts() is not None
    assert _C.mm(a, b, "slot") is NotImplemented  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"expected a torch\.Tensor or None"):
        slot.note(1, a, None, b, False, 1.0, 1.0)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="seven arguments"):
        slot.note(a, b)  # type: ignore[call-arg]
