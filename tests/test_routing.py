"""aten's own products come to us once we are enabled, and nobody notices."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import tunedops
from conftest import RunPython, keys
from torch import Tensor, nn, randn
from torch.nn import functional
from torch.testing import assert_close

X, W, BIAS = randn(4, 16), randn(16, 8), randn(8)
XB, WB = randn(3, 4, 16), randn(3, 16, 8)
GEMM, BATCHED, AND_BIAS = "GemmTunableOp", "GemmStridedBatchedTunableOp", "GemmAndBiasTunableOp"

# A program's products, and the op of the rows that they make.
PRODUCTS: dict[str, tuple[Callable[[], Tensor], str]] = {
    "mm": (lambda: torch.mm(X, W), GEMM),
    "matmul": (lambda: X @ W, GEMM),
    "matmul_3d": (lambda: XB @ W, GEMM),
    "matmul_batched": (lambda: XB @ WB, BATCHED),
    "matmul_out": (lambda: torch.matmul(X, W, out=torch.empty(4, 8)), GEMM),
    "mm_out": (lambda: torch.mm(X, W, out=torch.empty(4, 8)), GEMM),
    "bmm": (lambda: torch.bmm(XB, WB), BATCHED),
    "bmm_out": (lambda: torch.bmm(XB, WB, out=torch.empty(3, 4, 8)), BATCHED),
    "einsum": (lambda: torch.einsum("bik,bkj->bij", XB, WB), BATCHED),
    "tensordot": (lambda: torch.tensordot(XB, W, 1), GEMM),
    "addmm": (lambda: torch.addmm(BIAS, X, W), AND_BIAS),
    "addmm_scaled": (lambda: torch.addmm(BIAS, X, W, beta=0.5, alpha=2), GEMM),
    "addmm_out": (lambda: torch.addmm(BIAS, X, W, out=torch.empty(4, 8)), AND_BIAS),
    "addmm_": (lambda: torch.ones(4, 8).addmm_(X, W, beta=0.5, alpha=2), GEMM),
    "baddbmm": (lambda: torch.baddbmm(BIAS, XB, WB), BATCHED),
    "baddbmm_out": (lambda: torch.baddbmm(BIAS, XB, WB, out=torch.empty(3, 4, 8)), BATCHED),
    "baddbmm_": (lambda: torch.ones(3, 4, 8).baddbmm_(XB, WB, beta=-1), BATCHED),
    "addbmm": (lambda: torch.addbmm(torch.ones(4, 8), XB, WB), GEMM),
    "mv": (lambda: torch.mv(X, W[:, 0]), GEMM),
    "matmul_vector": (lambda: XB @ W[:, 0], GEMM),
    "addmv": (lambda: torch.addmv(torch.ones(4), X, W[:, 0]), GEMM),
    "addmm_relu": (lambda: torch._addmm_activation(BIAS, X, W), AND_BIAS),
    "addmm_gelu": (lambda: torch._addmm_activation(BIAS, X, W, use_gelu=True), AND_BIAS),
    "linear": (lambda: functional.linear(X, W.t(), BIAS), AND_BIAS),
    "linear_3d": (lambda: functional.linear(XB, W.t(), BIAS), AND_BIAS),
    "linear_3d_no_bias": (lambda: functional.linear(XB, W.t()), GEMM),
    "chain": (lambda: torch.linalg.multi_dot([X, W, W.t()]), GEMM),
    "double": (lambda: X.double() @ W.double(), f"{GEMM}_double"),
    "bfloat16": (lambda: X.bfloat16() @ W.bfloat16(), f"{GEMM}_BFloat16"),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_products_are_routed(name: str) -> None:
    product, op = PRODUCTS[name]
    expected = product()
    tunedops.enable()
    for _ in range(2):
        assert_close(product(), expected)
    assert [key for key in keys() if key[0].startswith(f"{op}_")]
    tunedops.enable(False)
    assert torch.equal(product(), expected), "off again: torch's own bits"


def attention() -> tuple[nn.Module, tuple[Tensor, ...]]:
    x = randn(2, 5, 16)
    return nn.MultiheadAttention(16, 4, batch_first=True), (x, x, x)


MODULES: dict[str, Callable[[], tuple[nn.Module, tuple[Tensor, ...]]]] = {
    "Linear": lambda: (nn.Linear(16, 8), (randn(3, 16),)),
    "MLP": lambda: (
        nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 4)),
        (randn(2, 3, 16),),
    ),
    "Bilinear": lambda: (nn.Bilinear(4, 5, 6), (randn(3, 4), randn(3, 5))),
    "MultiheadAttention": attention,
    "TransformerEncoderLayer": lambda: (
        nn.TransformerEncoderLayer(16, 4, 32, dropout=0.0, batch_first=True),
        (randn(2, 5, 16),),
    ),
    "LSTMCell": lambda: (nn.LSTMCell(16, 8), (randn(3, 16),)),
    "GRU": lambda: (nn.GRU(16, 8), (randn(5, 3, 16),)),
}


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("name", MODULES)
def test_modules_are_routed_forward_and_backward(name: str, training: bool) -> None:
    module, inputs = MODULES[name]()
    module.train(training)

    def run() -> tuple[list[Tensor], int]:
        """Output and gradients, and how many problems the forward pass had."""
        module.zero_grad()
        leaves = [x.clone().requires_grad_(training) for x in inputs]
        with torch.set_grad_enabled(training):
            output = module(*leaves)
        first = output[0] if isinstance(output, tuple) else output
        forward = len(keys())
        if not training:
            return [first], forward
        first.square().sum().backward()
        gradients = [p.grad for p in module.parameters() if p.grad is not None]
        return [first.detach(), *gradients, *(x.grad for x in leaves)], forward

    expected, _ = run()
    assert keys() == []
    tunedops.enable()
    result, forward = run()
    assert_close(result, expected, rtol=1e-4, atol=1e-4)
    assert forward > 0
    assert not training or len(keys()) > forward, "the backward pass has products too"


@pytest.mark.smoke
@pytest.mark.usefixtures("tuning")
def test_in_place_products_are_tuned_on_copies() -> None:
    for out, expected in (
        (torch.ones(4, 8), 0.5 + 2 * (X @ W)),
        (torch.ones(8, 4).t(), 0.5 + 2 * (X @ W)),
        (torch.ones(6, 9)[1:5, 1:], 0.5 + 2 * (X @ W)),
    ):
        out.addmm_(X, W, beta=0.5, alpha=2)
        assert_close(out, expected)
    whole = torch.zeros(6, 9)
    torch.mm(X, W, out=whole[1:5, 1:])
    assert whole[0].count_nonzero() == whole[5].count_nonzero() == 0
    assert whole[:, 0].count_nonzero() == 0


def test_a_process_that_never_enables_has_no_routing(run_python: RunPython) -> None:
    run_python(
        """
        a = torch.randn(3, 4, requires_grad=True)
        b = torch.randn(4, 5)
        assert torch.equal(tunedops.mm(a, b), torch.mm(a, b))
        tunedops.linear(a, b.t()).sum().backward()
        tunedops.get_results()
        tunedops.enable(False)
        tunedops.tuning_enable()
        assert not _C.routing_is_installed()
        kernels = torch._C._dispatch_dump("aten::mm").splitlines()
        assert not any("aten_routing" in line for line in kernels)
        tunedops.enable()
        assert _C.routing_is_installed()
        """
    )


OVERRIDE = """
import torch
library = torch.library.Library("aten", "IMPL")
library.impl("sin", lambda x: x + 1, "CPU")
assert torch.sin(torch.zeros(1)).item() == 1
"""


@pytest.mark.parametrize("way", ["enable", "environment", "force"])
def test_our_override_warns_nobody(run_python: RunPython, way: str) -> None:
    code = {
        "enable": "tunedops.enable()",
        "environment": "assert _C.routing_is_installed()",
        "force": "with tunedops.force('Default'): torch.mm(torch.ones(2, 2), torch.ones(2, 2))",
    }[way]
    environment = {"TUNEDOPS_ENABLED": "1"} if way == "environment" else {}
    done = run_python(
        code + "\ntorch.ones(2, 2) @ torch.ones(2, 2)\n", "-W", "error", **environment
    )
    assert (done.stdout, done.stderr) == ("", "")


@pytest.mark.parametrize("always", [True, False])
def test_another_librarys_override_is_still_warned_about(
    run_python: RunPython, always: bool
) -> None:
    warn_always = f"import torch\ntorch.set_warn_always({always})\n"
    without_us = run_python(warn_always + OVERRIDE, prelude="").stderr
    with_us = run_python(
        warn_always + "import tunedops\ntunedops.enable()\n" + OVERRIDE, prelude=""
    ).stderr
    text = "Overriding a previously registered kernel"
    assert with_us.count(text) == without_us.count(text)
    if always:
        assert with_us.count(text) == 1, "else this test shows nothing"


@pytest.mark.parametrize("always", [True, False])
def test_the_switch_for_warnings_is_left_as_it_was(always: bool) -> None:
    before = torch.is_warn_always_enabled()
    torch.set_warn_always(always)
    tunedops.enable()
    assert torch.is_warn_always_enabled() is always
    torch.set_warn_always(before)


def test_enabling_twice_and_from_several_threads(run_python: RunPython) -> None:
    run_python(
        """
        from threading import Thread
        threads = [Thread(target=tunedops.enable) for _ in range(4)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        tunedops.enable()
        assert torch.equal(torch.ones(2, 2) @ torch.ones(2, 2), torch.full((2, 2), 2.0))
        """,
        "-W",
        "error",
    )


REMOVAL = """
OPS = ["mm", "mm.out", "addmm", "addmm.out", "addmm_", "_addmm_activation",
       "_addmm_activation.out", "addmv", "addmv.out", "addmv_", "bmm", "bmm.out", "baddbmm",
       "baddbmm.out", "baddbmm_"]
def tables():
    return [torch._C._dispatch_dump_table(f"aten::{name}") for name in OPS]
def registrations():
    return [torch._C._dispatch_dump(f"aten::{name}") for name in OPS]
def is_ours(table):
    return "aten_routing" in table
a, b = torch.randn(3, 4), torch.randn(4, 5)
before = tables(), registrations()
assert not any(map(is_ours, before[0]))
"""


def test_removal_leaves_the_dispatcher_as_it_was(run_python: RunPython) -> None:
    run_python(
        REMOVAL
        + """
expected = a @ b
for _ in range(3):
    tunedops.enable()
    assert _C.routing_is_installed()
    assert all(map(is_ours, tables()))
    tunedops.remove_routing()
    assert not _C.routing_is_installed()
    assert (tables(), registrations()) == before
    assert torch.equal(a @ b, expected)
""",
        "-W",
        "error",
    )


def test_removal_wins_over_enabled_for_products_of_torch_only(run_python: RunPython) -> None:
    run_python(
        REMOVAL
        + """
tunedops.enable()
tunedops.remove_routing()
tunedops.remove_routing()
assert tunedops.is_enabled()
torch.mm(a, b)
torch.nn.functional.linear(a, b.t())
a @ b
assert tunedops.get_results() == ()
tunedops.mm(a, b)
torch.ops.tunedops.bmm(a[None], b[None])
x = a.clone().requires_grad_()
tunedops.linear(x, b.t()).sum().backward()
assert torch.equal(x.grad, torch.ones(3, 5) @ b.t())
assert len(tunedops.get_results()) == 2
assert (tables(), registrations()) == before

tunedops.enable()
torch.mm(a[:2], b)
assert len(tunedops.get_results()) == 3
tunedops.remove_routing()
tunedops.enable(False)
assert not _C.routing_is_installed(), "switching off brings nothing back"
with tunedops.force("Default"):
    assert _C.routing_is_installed()
""",
        "-W",
        "error",
    )


def test_removal_without_routing_is_nothing(run_python: RunPython) -> None:
    run_python(REMOVAL + "tunedops.remove_routing()\nassert (tables(), registrations()) == before")


# Whoever replaced a product after us keeps the place.
def test_removal_leaves_another_librarys_override(run_python: RunPython) -> None:
    run_python(
        REMOVAL
        + """
import warnings
warnings.simplefilter("ignore")
tunedops.enable()
library = torch.library.Library("aten", "IMPL")
library.impl("mm", lambda x, y: x.new_full((1,), 7.0), "CPU")
assert torch.mm(a, b).item() == 7
tunedops.remove_routing()
assert torch.mm(a, b).item() == 7
del library
"""
    )
