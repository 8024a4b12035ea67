"""The backward problems of a bound call are those that a real backward pass records."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import tunedops
from recorded_keys import Key, recorded
from sample_inputs import OPS, Sample, matrices, samples
from torch import Tensor, randn
from torch._subclasses.fake_tensor import FakeTensorMode
from tunedops import BoundArguments, NotTunableError, TensorSpec
from tunedops.aten_calls import bind_call


def backward_keys(folder: Path, sample: Sample) -> list[Key]:
    """What the backward pass of a real call misses, with a contiguous gradient."""
    args = [x.detach().requires_grad_() for x in sample.args]
    kwargs = {
        k: v.detach().requires_grad_() if isinstance(v, Tensor) else v
        for k, v in sample.kwargs.items()
    }
    y = OPS[sample.op](*args, **kwargs)
    gradient = torch.ones_like(y, memory_format=torch.contiguous_format)
    return recorded(folder, lambda: y.backward(gradient))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.complex64], ids=str)
@pytest.mark.parametrize("op", OPS)
def test_every_layout(op: str, dtype: torch.dtype, tmp_path: Path) -> None:
    for sample in samples(op, dtype):
        if "neg" in sample.layout and dtype.is_complex:
            continue  # its gradient is a negated view, which a description cannot be
        try:
            bound = OPS[op].bind(*sample.args, **sample.kwargs)
        except NotTunableError:
            continue
        wanted = backward_keys(tmp_path, sample)
        found = list(dict.fromkeys(each.key for each in bound.vjp()))
        assert sorted(found) == sorted(wanted), sample


def shapes_of(bound: BoundArguments) -> list[tuple[int, ...]]:
    return [each.shape for each in bound.arguments.values() if isinstance(each, TensorSpec)]


def test_gradients_come_in_the_order_of_the_operands() -> None:
    bound = tunedops.linear.bind(randn(6, 64), randn(32, 64), randn(32), "gelu")
    of_input, of_weight = bound.vjp()
    assert shapes_of(of_input) == [(6, 32), (32, 64)]
    assert shapes_of(of_weight) == [(32, 6), (6, 64)]


def test_a_gpu_s_alignments_reach_the_gradients() -> None:
    def half(*shape: int, alignment: int) -> TensorSpec:
        return TensorSpec(shape, torch.float16, device="cuda:1", alignment=alignment)

    bound = tunedops.mm.bind(half(8, 64, alignment=2), half(64, 16, alignment=4))
    of_input, of_mat2 = bound.vjp()
    assert of_input.device == torch.device("cuda:1")
    assert of_input.key == ("GemmTunableOp_Half_TN", "tn_64_8_16_ld_16_16_64_align_4_16_16")
    assert of_mat2.key == ("GemmTunableOp_Half_NT", "nt_16_64_8_ld_16_64_16_align_16_2_16")


def test_flags_and_threads_are_those_of_the_key() -> None:
    torch.use_deterministic_algorithms(True)
    torch.set_num_threads(1)
    bound = tunedops.mm.bind(randn(8, 64), randn(64, 16))
    torch.use_deterministic_algorithms(False)
    torch.set_num_threads(2)
    assert all(each.key[1].endswith("_det_threads_1") for each in bound.vjp())


def test_of_a_key_alone(tmp_path: Path) -> None:
    x, w = randn(6, 64), randn(32, 64)
    for bound in (
        tunedops.linear.bind(x, w, randn(32), "relu"),
        tunedops.linear.bind(x.view(2, 3, 64), w),
        tunedops.addmm.bind(randn(6, 32), x, w.t(), beta=2),
        tunedops.bmm.bind(x.expand(3, 6, 64), w.t().expand(3, 64, 32)),
    ):
        again = BoundArguments.from_key(*bound.key)
        assert [each.key for each in again.vjp()] == [each.key for each in bound.vjp()]


def test_an_output_that_exists_counts_as_a_fresh_one() -> None:
    a, b = randn(6, 64), randn(64, 32)
    with_out = tunedops.mm.bind(a, b, out=torch.empty(6, 40)[:, :32])
    assert with_out.vjp() == tunedops.mm.bind(a, b).vjp()


def test_what_torch_has_no_formula_for() -> None:
    keys = (
        "GemmAndBiasTunableOp_Half_NN,nn_8_4_8_ld_8_8_8_epi_relu_alpha_any",
        "GemmTunableOp_Half_NN,nn_8_4_8_ld_8_8_8_out_float",
    )
    for key in keys:
        with pytest.raises(NotTunableError, match="torch has no formula for its gradient"):
            BoundArguments.from_key(*key.split(","), device="cuda").vjp()


def test_autocast_and_grad_mode_around_it_change_nothing() -> None:
    bound = tunedops.mm.bind(randn(6, 64), randn(64, 32))
    wanted = bound.vjp()
    with torch.no_grad():
        assert bound.vjp() == wanted
    with torch.inference_mode():
        assert bound.vjp() == wanted
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert bound.vjp() == wanted
    with FakeTensorMode():
        assert bound.vjp() == wanted


ATEN: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "mm": torch.mm,
    "matmul": torch.matmul,
    "addmm": lambda a, b: torch.addmm(torch.ones(20), a, b, alpha=2),
    "addmm_": lambda a, b: torch.ones(6, 20).addmm_(a, b, beta=0.5),
    "addmm_out": lambda a, b: torch.addmm(torch.ones(20), a, b, out=torch.empty(6, 24)[:, :20]),
    "bmm": lambda a, b: torch.bmm(a.expand(3, 6, 33), b.expand(3, 33, 20)),
    "baddbmm_": lambda a, b: torch.ones(3, 6, 20).baddbmm_(a.expand(3, 6, 33), b.expand(3, 33, 20)),
    "mv": lambda a, b: torch.mv(a, b[:, 0]),
    "addmv": lambda a, b: torch.addmv(torch.ones(6), a, b[:, 1].contiguous(), beta=2),
    "addmv_": lambda a, b: torch.ones(12)[::2].addmv_(a, b[:, 0]),
    "addmv_out": lambda a, b: torch.addmv(torch.ones(()), a, b[:, 0], out=torch.empty(6)),
    "einsum": lambda a, b: torch.einsum("ij,jk->ik", a, b),
    "linear": lambda a, b: torch.nn.functional.linear(a, b.t(), torch.ones(20)),
    "linear_3d": lambda a, b: torch.nn.functional.linear(a.view(2, 3, 33), b.t()),
    "_addmm_activation": lambda a, b: torch._addmm_activation(torch.ones(20), a, b, use_gelu=True),
    "ours": lambda a, b: torch.ops.tunedops.linear(a, b.t(), torch.ones(20), "relu"),
    "ours_out": lambda a, b: torch.ops.tunedops.mm.out(a, b, out=torch.empty(6, 20)),
}


def test_a_vector_s_gradient_is_another_product(tmp_path: Path) -> None:
    mat, vec = randn(6, 33, requires_grad=True), randn(33, requires_grad=True)
    y = torch.addmv(randn(6), mat, vec, beta=2)
    with Seen() as seen:
        torch.addmv(randn(6), mat.detach(), vec.detach(), beta=2)
    bound = BoundArguments.from_key(*seen.keys[0])
    wanted = recorded(tmp_path, lambda: y.backward(torch.ones(6)))
    (forward,) = seen.bound
    assert [each.key for each in forward.vjp()] == wanted
    assert bound == forward


class Seen(torch.utils._python_dispatch.TorchDispatchMode):
    """Binds what passes, as a recorder of a program would."""

    def __init__(self) -> None:
        super().__init__()
        self.bound: list[BoundArguments] = []

    @property
    def keys(self) -> list[Key]:
        return [each.key for each in self.bound]

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        bound = bind_call(func, args, kwargs or {})
        if bound is not None:
            self.bound.append(bound)
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("name", ATEN)
def test_what_a_recorder_sees_is_what_runs(name: str, tmp_path: Path) -> None:
    left, right = matrices(6, 33, torch.float32), matrices(33, 20, torch.float32)
    for layout in left:
        if "neg" in layout or (name == "linear_3d" and layout != "contiguous"):
            continue

        def run(layout: str = layout) -> None:
            ATEN[name](left[layout], right[layout])

        wanted = recorded(tmp_path, run)
        with Seen() as seen:
            run()
        assert seen.keys == wanted, layout
