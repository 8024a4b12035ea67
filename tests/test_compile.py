"""The ops in compiled and exported programs: one graph, any shapes, the same values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch._inductor.config
import tunedops
from conftest import keys
from expected_values import TORCH_OPS, linear
from sample_inputs import OPS
from torch import Tensor, nn
from torch._dynamo.testing import CompileCounterWithBackend
from torch.testing import assert_close

A, B, C = torch.randn(3, 4), torch.randn(4, 5), torch.randn(5)
ARGS: dict[str, tuple[Any, ...]] = {
    "mm": (A, B),
    "addmm": (C, A, B),
    "bmm": (A[None], B[None]),
    "baddbmm": (C, A[None], B[None]),
    "linear": (A, B.t().contiguous(), C, "relu"),
}
ops = pytest.mark.parametrize("op", ARGS)
backends = pytest.mark.parametrize("backend", ["eager", "aot_eager"])


@pytest.fixture(autouse=True)
def fresh_dynamo() -> None:
    torch._dynamo.reset()


@ops
@backends
@pytest.mark.parametrize("enabled", [False, True], ids=["off", "tuning"])
def test_one_graph(op: str, backend: str, enabled: bool) -> None:
    tunedops.enable(enabled)
    expected = TORCH_OPS[op](*ARGS[op])
    for function in (OPS[op], getattr(torch.ops.tunedops, op)):

        def program(*args: Any, function: Callable[..., Tensor] = function) -> Tensor:
            return function(*args) + 1

        compiled = torch.compile(program, fullgraph=True, backend=backend)
        assert_close(compiled(*ARGS[op]), expected + 1)


@ops
def test_the_graph_holds_our_op(op: str) -> None:
    graphs: list[torch.fx.GraphModule] = []

    def backend(graph: torch.fx.GraphModule, _: list[Tensor]) -> Callable[..., Any]:
        graphs.append(graph)
        return graph.forward

    torch.compile(lambda *args: OPS[op](*args), fullgraph=True, backend=backend)(*ARGS[op])
    (graph,) = graphs
    assert f"torch.ops.tunedops.{op}.default" in graph.code


@backends
def test_keywords_and_scalars(backend: str) -> None:
    def program(c: Tensor, a: Tensor, b: Tensor) -> Tensor:
        x = tunedops.addmm(c, a, b, beta=0.5, alpha=2)
        return tunedops.linear(x, b, bias=None, activation="gelu_tanh")

    compiled = torch.compile(program, fullgraph=True, backend=backend)
    expected = linear(torch.addmm(C, A, B, beta=0.5, alpha=2), B, None, "gelu_tanh")
    assert_close(compiled(C, A, B), expected)


@ops
def test_training_graph(op: str) -> None:
    def program(*args: Any) -> Tensor:
        return OPS[op](*args).square().sum()

    gradients = []
    for function in (
        torch.compile(program, fullgraph=True, backend="aot_eager"),
        lambda *args: TORCH_OPS[op](*args).square().sum(),
    ):
        leaves = [x.clone().requires_grad_() if isinstance(x, Tensor) else x for x in ARGS[op]]
        function(*leaves).backward()
        gradients.append([x.grad for x in leaves if isinstance(x, Tensor)])
    assert_close(*gradients)


@pytest.mark.parametrize("dynamic", [True, None], ids=["dynamic", "automatic"])
@backends
def test_changing_shapes_compile_once_more_at_most(dynamic: bool | None, backend: str) -> None:
    counter = CompileCounterWithBackend(backend)

    def program(x: Tensor, w: Tensor) -> Tensor:
        return tunedops.mm(tunedops.linear(x, w, None, "relu"), w)

    compiled = torch.compile(program, fullgraph=True, backend=counter, dynamic=dynamic)
    w = torch.randn(6, 4)
    for rows in (3, 5, 7, 11):
        x = torch.randn(rows, 4)
        assert_close(compiled(x, w), (x @ w.t()).relu() @ w)
    assert counter.frame_count <= (1 if dynamic else 2)


@ops
def test_marked_dimensions_stay_dynamic(op: str) -> None:
    counter = CompileCounterWithBackend("aot_eager")
    compiled = torch.compile(lambda *a: OPS[op](*a), fullgraph=True, backend=counter)
    for rows in (3, 8):
        args = [x.clone() if isinstance(x, Tensor) else x for x in ARGS[op]]
        position = 1 if "add" in op else 0
        shape = list(args[position].shape)
        shape[-2] = rows
        args[position] = torch.randn(shape)
        torch._dynamo.mark_dynamic(args[position], len(shape) - 2)
        assert_close(compiled(*args), TORCH_OPS[op](*args))
    assert counter.frame_count == 1


@backends
def test_out_and_in_place(backend: str) -> None:
    def program(a: Tensor, b: Tensor, out: Tensor) -> Tensor:
        tunedops.mm(a, b, out=out)
        tunedops.addmm(out, a, b, beta=0.5, out=out)
        return out * 2

    out = torch.zeros(3, 5)
    result = torch.compile(program, fullgraph=True, backend=backend)(A, B, out)
    assert_close(out, 1.5 * (A @ B))
    assert_close(result, 3 * (A @ B))


@pytest.mark.usefixtures("tuning")
def test_compiled_products_are_tuned_when_run_and_not_when_traced() -> None:
    traced_keys: list[Any] = []

    def backend(graph: torch.fx.GraphModule, _: list[Tensor]) -> Callable[..., Any]:
        traced_keys.extend(keys())
        return graph.forward

    compiled = torch.compile(lambda a, b: tunedops.mm(a, b), fullgraph=True, backend=backend)
    compiled(A, B)
    assert traced_keys == []
    assert len(keys()) == 1


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(5, 4))
        self.bias = nn.Parameter(torch.randn(5))

    def forward(self, x: Tensor) -> Tensor:
        hidden = tunedops.linear(x, self.weight, self.bias, "gelu")
        scores = tunedops.bmm(hidden, hidden.mT)
        return tunedops.baddbmm(hidden, scores, hidden, beta=0.5)


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("grad", [True, False])
def test_export(strict: bool, grad: bool) -> None:
    model, x = Model().requires_grad_(grad), torch.randn(2, 3, 4)
    rows = torch.export.Dim("rows", min=2, max=64)
    program = torch.export.export(model, (x,), dynamic_shapes=({1: rows},), strict=strict)
    for n in (3, 6):
        y = torch.randn(2, n, 4)
        assert_close(program.module()(y), model(y))
        assert_close(program.run_decompositions().module()(y), model(y))


def test_exported_program_can_be_saved(tmp_path: Any) -> None:
    model, x = Model().requires_grad_(False), torch.randn(2, 3, 4)
    torch.export.save(torch.export.export(model, (x,)), tmp_path / "model.pt2")
    loaded = torch.export.load(tmp_path / "model.pt2")
    assert "tunedops" in loaded.graph_module.code
    assert_close(loaded.module()(x), model(x))


@pytest.mark.slow
@pytest.mark.usefixtures("tuning")
@torch._inductor.config.patch(force_disable_caches=True)
def test_inductor() -> None:
    model, x = Model(), torch.randn(2, 3, 4)
    compiled = torch.compile(model, fullgraph=True, backend="inductor")
    with torch.no_grad():
        assert_close(compiled(x), model(x))
    compiled(x).sum().backward()
    gradient = model.weight.grad
    model.weight.grad = None
    model(x).sum().backward()
    assert_close(gradient, model.weight.grad)
    out = torch.zeros(3, 5)
    torch.compile(lambda a, b, o: tunedops.mm(a, b, out=o), fullgraph=True)(A, B, out)
    assert_close(out, A @ B)
