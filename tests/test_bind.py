"""A bound call has the key that the run of it has, whatever describes its operands."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import tunedops
from recorded_keys import Key, recorded
from sample_inputs import DTYPES, OPS, Sample, matrices, samples
from torch import Tensor, randn, zeros
from torch._subclasses.fake_tensor import FakeTensorMode
from tunedops import NotTunableError, TensorSpec

# torch says so whenever its switches for oneDNN are used.
pytestmark = pytest.mark.filterwarnings("ignore:TF32 acceleration on top of oneDNN")


def bound_key(op: str, *args: object, **kwargs: object) -> list[Key]:
    """What binding says, in the form of what a run records."""
    try:
        return [OPS[op].bind(*args, **kwargs).key]
    except NotTunableError:
        return []


def as_meta(tensor: Tensor) -> Tensor:
    """The same layout without memory; resolved where torch would copy it before a product."""
    spec = TensorSpec.of(tensor)
    meta = torch.empty_strided(spec.shape, spec.strides, dtype=spec.dtype, device="meta")
    return meta.conj() if spec.is_conjugated else meta


def check(sample: Sample, folder: Path) -> None:
    wanted = recorded(folder, sample.run)
    assert len(wanted) <= 1
    assert bound_key(sample.op, *sample.args, **sample.kwargs) == wanted, sample
    for describe in (as_meta, TensorSpec.of):
        args = [describe(x) for x in sample.args]
        kwargs = {k: describe(v) if isinstance(v, Tensor) else v for k, v in sample.kwargs.items()}
        assert bound_key(sample.op, *args, **kwargs) == wanted, f"{sample} {describe}"


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("op", OPS)
def test_every_layout(op: str, dtype: torch.dtype, tmp_path: Path) -> None:
    for sample in samples(op, dtype):
        check(sample, tmp_path)


@pytest.mark.parametrize("scalars", [(1, 0), (1, 1), (0.5, 1), (0, 1), (1, 0.0), (-2, 3.5)])
def test_scalars(scalars: tuple[float, float], tmp_path: Path) -> None:
    alpha, beta = scalars
    a, b = randn(4, 64), randn(64, 32)
    batches = (a.expand(3, 4, 64), b.expand(3, 64, 32))
    for addend in (randn(32), randn(4, 32), randn(4, 1), torch.tensor(2.0)):
        kwargs = {"alpha": alpha, "beta": beta}
        check(Sample("addmm", "", (addend, a, b), kwargs), tmp_path)
        check(Sample("baddbmm", "", (addend, *batches), kwargs), tmp_path)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_outputs(dtype: torch.dtype, tmp_path: Path) -> None:
    a, b = randn(6, 33).to(dtype), randn(33, 20).to(dtype)
    addend = randn(6, 20).to(dtype)
    outputs = {
        name: x
        for name, x in matrices(6, 20, dtype).items()
        if not name.startswith(("expanded", "overlapping", "negated"))
    }
    for name, out in outputs.items():
        for op, args in (("mm", (a, b)), ("addmm", (addend, a, b)), ("addmm", (out, a, b))):
            call = Sample(op, name, args, {"out": out})
            wanted = recorded(tmp_path, call.run)
            assert bound_key(op, *args, out=out) == wanted, call
            specs = {id(x): TensorSpec.of(x) for x in (*args, out)}
            described = [specs[id(x)] for x in args]
            assert bound_key(op, *described, out=specs[id(out)]) == wanted, call


def test_outputs_that_torch_has_to_deal_with(tmp_path: Path) -> None:
    square = randn(8, 8)
    flat = randn(3, 8, 8)
    calls: list[tuple[str, tuple[Tensor, ...], Tensor]] = [
        ("mm", (square, square), square),  # it overlaps an operand
        ("mm", (square, randn(8, 8)), square.t()),
        ("addmm", (square[0], randn(8, 8), randn(8, 8)), square),
        ("addmm", (square[:, :1], randn(8, 8), randn(8, 8)), square),
        ("mm", (randn(8, 8), randn(8, 8)), zeros(16, 16)[::2, ::2]),
        ("bmm", (flat, randn(3, 8, 8)), flat),
        ("mm", (randn(8, 8), randn(8, 8)), torch.empty(0)),
    ]
    for op, args, out in calls:
        run = Sample(op, "", args, {"out": out})

        def refused(run: Sample = run) -> None:
            with contextlib.suppress(RuntimeError):  # torch's own check of overlaps
                run.run()

        assert bound_key(op, *args, out=out) == recorded(tmp_path, refused) == [], run


def test_flags_and_threads_count_as_they_are_now(tmp_path: Path) -> None:
    a, b = randn(4, 64), randn(64, 32)

    def keys() -> list[Key]:
        key = tunedops.mm.bind(a, b).key
        assert recorded(tmp_path, lambda: tunedops.mm(a, b)) == [key]
        return [key]

    found = keys()
    torch.use_deterministic_algorithms(True)
    found += keys()
    torch.use_deterministic_algorithms(False)
    torch.backends.mkldnn.matmul.fp32_precision = "bf16"
    found += keys()
    torch.backends.mkldnn.matmul.fp32_precision = "none"
    torch.set_num_threads(1)
    found += keys()
    torch.set_num_threads(2)
    with torch.backends.mkldnn.flags(enabled=False):
        found += keys()
    assert len(set(found)) == 5


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16], ids=str)
def test_under_autocast(dtype: torch.dtype, tmp_path: Path) -> None:
    x, w = randn(6, 64).to(dtype), randn(32, 64).to(dtype)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        for args in ((x, w), (x[:, ::2], w[:, ::2]), (x.t().contiguous().t(), w)):
            wanted = recorded(tmp_path, lambda args=args: tunedops.linear(*args))
            assert bound_key("linear", *args) == wanted
            assert bound_key("linear", *map(as_meta, args)) == wanted


def test_fake_tensors_and_mixtures() -> None:
    x, w, bias = randn(6, 64), randn(32, 64), randn(32)
    wanted = tunedops.linear.bind(x, w, bias)
    with FakeTensorMode() as mode:
        fakes = [mode.from_tensor(t) for t in (x, w, bias)]
        assert tunedops.linear.bind(*fakes) == wanted
    assert tunedops.linear.bind(x, as_meta(w), TensorSpec.of(bias)) == wanted
    assert tunedops.linear.bind(fakes[0], torch.nn.Parameter(w), bias) == wanted


def test_symbols_are_refused_until_they_have_values() -> None:
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    mode = FakeTensorMode(shape_env=ShapeEnv())
    fake = mode.from_tensor(randn(6, 64))
    with pytest.raises(ValueError, match="shape must be numbers, got the symbol"):
        tunedops.mm.bind(fake, randn(64, 3))


@pytest.mark.parametrize("device", ["cuda", "cuda:3"])
def test_for_a_gpu_that_is_not_here(device: str) -> None:
    x, w = randn(6, 64), randn(32, 64)
    bound = tunedops.linear.bind(x, w, randn(32), "gelu", device=device)
    assert bound.device == torch.device("cuda:0" if device == "cuda" else device)
    assert bound.key == ("GemmAndBiasTunableOp_float_TN", "tn_32_6_64_ld_64_64_32_epi_gelu")
    half = TensorSpec((6, 64), torch.float16, device=device, alignment=2)
    bound = tunedops.mm.bind(half, TensorSpec((64, 8), torch.float16, device=device))
    assert bound.key == ("GemmTunableOp_Half_NN", "nn_8_6_64_ld_8_64_8_align_16_2_16")
    odd = torch.empty(6 * 64 + 1, dtype=torch.float16)[1:].view(6, 64)
    assert tunedops.mm.bind(odd, zeros(64, 8).half(), device=device).key == bound.key


def test_fake_tensors_of_a_gpu_that_is_not_here() -> None:
    with FakeTensorMode():
        a, b = torch.empty(4, 64, device="cuda"), torch.empty(64, 32, device="cuda")
        bound = tunedops.mm.bind(a, b)
    assert bound == tunedops.mm.bind(randn(4, 64), randn(64, 32), device="cuda:0")


def test_flags_of_a_gpu_count_without_one() -> None:
    a, b = randn(4, 64), randn(64, 32)
    before = torch.backends.cuda.matmul.fp32_precision
    torch.backends.cuda.matmul.fp32_precision = "tf32"
    try:
        assert tunedops.mm.bind(a, b, device="cuda").key[0] == "GemmTunableOp_tf32_NN"
        assert tunedops.mm.bind(a, b).key[0] == "GemmTunableOp_float_NN"
    finally:
        torch.backends.cuda.matmul.fp32_precision = before


def test_meta_tensors_are_on_the_default_device() -> None:
    meta = [as_meta(randn(4, 64)), as_meta(randn(64, 32))]
    assert tunedops.mm.bind(*meta).device == torch.device("cpu")
    with torch.device("meta"):
        assert tunedops.mm.bind(*meta).device == torch.device("cpu")
    on_gpu = TensorSpec((64, 32), torch.float32, device="cuda:1")
    assert tunedops.mm.bind(meta[0], on_gpu).device == torch.device("cuda:1")


def words_of(call: Callable[[], object]) -> tuple[type, str]:
    with pytest.raises(RuntimeError) as caught:
        call()
    return caught.type, str(caught.value).partition("\n")[0]


ERRORS: dict[str, tuple[str, tuple[Tensor, ...], dict[str, object]]] = {
    "k": ("mm", (zeros(2, 3), zeros(4, 5)), {}),
    "dims": ("mm", (zeros(2), zeros(4, 5)), {}),
    "dtype": ("mm", (zeros(2, 3), zeros(3, 5).double()), {}),
    "batch": ("bmm", (zeros(2, 3, 4), zeros(3, 4, 5)), {}),
    "addend": ("addmm", (zeros(7), zeros(2, 3), zeros(3, 5)), {}),
    "addend_3d": ("baddbmm", (zeros(7), zeros(2, 3, 4), zeros(2, 4, 5)), {}),
    "addend_dtype": ("addmm", (zeros(5).double(), zeros(2, 3), zeros(3, 5)), {}),
    "features": ("linear", (zeros(2, 3), zeros(5, 4)), {}),
    "bias": ("linear", (zeros(2, 3), zeros(5, 3), zeros(4)), {}),
    "activation": ("linear", (zeros(2, 3), zeros(5, 3)), {"activation": "tanh"}),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_are_those_of_a_run(name: str) -> None:
    op, args, kwargs = ERRORS[name]
    wanted = words_of(lambda: OPS[op](*args, **kwargs))
    assert words_of(lambda: OPS[op].bind(*args, **kwargs)) == wanted
    described = [as_meta(x) for x in args]
    assert words_of(lambda: OPS[op].bind(*described, **kwargs)) == wanted


def test_torch_says_in_its_own_words_what_it_refuses() -> None:
    with pytest.raises(RuntimeError, match="Expected out tensor to have dtype"):
        tunedops.mm.bind(zeros(2, 3), zeros(3, 5), out=zeros(2, 5).int())


def test_errors_of_binding_alone() -> None:
    a, b = randn(4, 64), randn(64, 32)
    with pytest.raises(TypeError, match=r"mat2 must be a .*Tensor or a TensorSpec, got int"):
        tunedops.mm.bind(a, 3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="addmm: beta must be a number, got str"):
        tunedops.addmm.bind(b[0], a, b, beta="1")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="device must be cpu, cuda or meta, got 'mps'"):
        tunedops.mm.bind(a, b, device="mps")
    with pytest.raises(ValueError, match="device must be cpu or cuda, got 'meta'"):
        tunedops.mm.bind(a, b, device="meta")
    with pytest.raises(RuntimeError, match="must be on the same device, got cpu and cuda:0"):
        tunedops.mm.bind(a, TensorSpec((64, 32), torch.float32, device="cuda"))
    for what, args in {
        "no kernel multiplies elements of that dtype": (a.int(), b.int()),
        "an operand is empty": (a[:0], b),
        "mat2 has the layout torch.sparse_coo": (a, b.to_sparse()),
        "an operand is not aligned to its own elements": (
            TensorSpec((4, 64), torch.float32, device="cuda", alignment=2),
            TensorSpec((64, 32), torch.float32, device="cuda"),
        ),
    }.items():
        with pytest.raises(NotTunableError, match=f"only torch's own kernel can.*: {what}"):
            tunedops.mm.bind(*args)  # type: ignore[arg-type]


def test_nothing_is_allocated_and_nothing_runs(tmp_path: Path) -> None:
    huge = TensorSpec((1 << 20, 1 << 18), torch.float32)
    keys = recorded(tmp_path, lambda: tunedops.mm.bind(huge, TensorSpec((1 << 18, 64), huge.dtype)))
    assert keys == []
    steps = TensorSpec((2, 1 << 18, 1 << 10), torch.float32, (1, 1 << 12, 2))
    tunedops.linear.bind(steps, TensorSpec((4, 1 << 10), torch.float32))
