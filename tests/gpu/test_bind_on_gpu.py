"""What is bound for a GPU without using it is what runs there, and what its profile names."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import tunedops
from recorded_keys import Key, recorded
from sample_inputs import OPS, Sample, samples
from torch import Tensor, randn
from torch.profiler import ProfilerActivity, profile
from tunedops import NotTunableError
from tunedops.traces import read_trace

pytestmark = pytest.mark.gpu

DTYPES = (torch.bfloat16, torch.float16, torch.float32, torch.complex64)


def on_gpu(tensor: Tensor) -> Tensor:
    """The same layout in memory of a GPU, at the same distance from an aligned address."""
    if tensor.is_neg() or tensor.is_conj():
        return tensor.cuda()
    size = tensor.untyped_storage().nbytes() // tensor.itemsize
    memory = torch.randn(size, device="cuda").to(tensor.dtype)
    return memory.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())


def bound_key(op: str, *args: object, **kwargs: object) -> list[Key]:
    try:
        return [OPS[op].bind(*args, **kwargs).key]
    except NotTunableError:
        return []


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("op", OPS)
def test_every_layout(op: str, dtype: torch.dtype, tmp_path: Path) -> None:
    for sample in samples(op, dtype):
        args = tuple(on_gpu(x) for x in sample.args)
        kwargs = {k: on_gpu(v) if isinstance(v, Tensor) else v for k, v in sample.kwargs.items()}
        wanted = recorded(tmp_path, Sample(op, sample.layout, args, kwargs).run, tag="0")
        assert bound_key(op, *args, **kwargs) == wanted, sample
        if not any("neg" in sample.layout or x.is_conj() for x in sample.args):
            assert bound_key(op, *sample.args, **sample.kwargs, device="cuda:0") == wanted, sample


def test_a_profile_names_problems_and_times_kernels(tmp_path: Path) -> None:
    x, w = randn(64, 256, device="cuda").bfloat16(), randn(512, 256, device="cuda").bfloat16()
    x.requires_grad_()
    w.requires_grad_()

    def step() -> None:
        y = torch.nn.functional.linear(x, w)
        y.backward(torch.ones_like(y))
        torch.cuda.synchronize()

    wanted = recorded(tmp_path, step, tag="0")
    bound = tunedops.linear.bind(x, w)
    assert {bound.key, *(each.key for each in bound.vjp())} == set(wanted)
    path = tmp_path / "trace.json"
    for is_named in (True, False):
        tunedops.enable()
        if not is_named:
            tunedops.remove_routing()
        activities = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
        with profile(activities=activities, record_shapes=True) as profiler:
            step()
        profiler.export_chrome_trace(str(path))
        report = read_trace(path)
        assert sorted(problem.bound.key for problem in report.problems) == sorted(wanted)
        assert all(problem.is_exact == is_named for problem in report.problems)
        assert all(str(problem.bound.device) == "cuda:0" for problem in report.problems)
        assert 0 < sum(problem.share for problem in report.problems) < 1
        assert all(problem.time_us > 0 for problem in report.problems)
    tunedops.enable()
