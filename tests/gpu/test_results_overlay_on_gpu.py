"""`with result:` on a GPU, whose backward passes run on a thread of autograd's own."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
import torch
import tunedops
from torch import nn
from tunedops import _C, AutotuningResult, Measured, Measurement

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU"),
]

SOLUTION = "Gemm_Cublas"


def choosing(bounds: tuple[tunedops.BoundArguments, ...], solution: str) -> AutotuningResult:
    return AutotuningResult({b: Measured((Measurement(solution, None),)) for b in bounds})


def test_a_backward_pass_on_autograds_thread(tmp_path: Path) -> None:
    log = tmp_path / "trace.log"
    _C.set_setting("VERBOSE_FILENAME", str(log))
    _C.set_setting("VERBOSE", "3")
    x = torch.randn(64, 96, device="cuda", dtype=torch.bfloat16, requires_grad=True)
    w = torch.randn(96, 128, device="cuda", dtype=torch.bfloat16, requires_grad=True)
    gradients = tunedops.mm.bind(x, w).vjp()
    assert len(gradients) == 2
    threads = set()
    y = x @ w
    y.register_hook(lambda _: threads.add(threading.get_ident()))
    with choosing(gradients, SOLUTION):
        y.backward(torch.ones_like(y))
    assert threading.get_ident() not in threads
    said = [line for line in log.read_text().splitlines() if "from an overlay" in line]
    assert len(said) == 2, "one line for each gradient"
    assert all("a plan of ours" in line for line in said)
    log.write_text("")
    (x @ w).backward(torch.ones_like(y))
    assert "from an overlay" not in log.read_text()


def test_a_block_tuned_saved_and_used(tmp_path: Path) -> None:
    model = nn.Sequential(nn.Linear(257, 511), nn.GELU(), nn.Linear(511, 257))
    model.to("cuda", torch.bfloat16)
    x = torch.randn(300, 257, device="cuda", dtype=torch.bfloat16)

    def step() -> torch.Tensor:
        model.zero_grad()
        loss = model(x).float().square().mean()
        loss.backward()
        return loss.detach()

    expected = step()
    result = tunedops.autotune(step, budget_ms=1000)  # other tests keep the GPU busy
    assert len(result) == 5
    result.dump(tmp_path / "result.json")
    with AutotuningResult.load(tmp_path / "result.json"):
        torch.testing.assert_close(step(), expected, rtol=2e-2, atol=2e-2)
    assert tunedops.get_results("cuda") == ()
