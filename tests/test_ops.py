"""The values of every op, whichever kernel computes them.

Runs over all that is registered: a new kernel is tested here without a line for it.
"""

from __future__ import annotations

import pytest
import torch
import tunedops
from conftest import CPU, keys
from expected_values import TORCH_OPS
from sample_inputs import DTYPES, OPS, Sample, make, samples
from tunedops import _C

# A forced solution may not be able to run after all; that must show in values only.
pytestmark = pytest.mark.filterwarnings("ignore:.*Default ran instead")

dtypes = pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: str(d).removeprefix("torch."))
ops = pytest.mark.parametrize("op", OPS)


def solutions(key: tuple[str, str]) -> list[str]:
    """All that could compute a problem: every config of every kernel."""
    outcome = _C.tune(CPU, *key, False)
    assert outcome.failure == ""
    return [solution for solution, *_ in outcome.measurements]


def run_all_ways(sample: Sample) -> set[str]:
    """Runs a call as tuned, then by each solution. Returns what was forced."""
    tunedops.clear()
    sample.check(sample.run(), "tuned")
    forced = {solution for key in keys() for solution in solutions(key)}
    for solution in sorted(forced):
        with tunedops.force(solution):
            sample.check(sample.run(), solution)
    return forced


@ops
@dtypes
def test_values_with_everything_off(op: str, dtype: torch.dtype) -> None:
    for sample in samples(op, dtype):
        result = sample.run()
        sample.check(result)
        assert torch.equal(result, sample.torch()), sample
    assert keys() == []


@ops
@dtypes
@pytest.mark.usefixtures("tuning")
def test_values_of_all_solutions(op: str, dtype: torch.dtype) -> None:
    forced = set[str]()
    for sample in samples(op, dtype):
        forced |= run_all_ways(sample)
    assert "Default" in forced


@pytest.mark.parametrize("name", _C.kernel_names(CPU))
@ops
def test_each_kernel_can_be_forced_by_its_name(name: str, op: str) -> None:
    sample = samples(op, torch.float32)[0]
    with tunedops.force(name):
        sample.check(sample.run(), name)


@pytest.mark.smoke
@ops
@pytest.mark.usefixtures("tuning")
def test_tuned_product_is_right(op: str) -> None:
    sample = samples(op, torch.float32)[0]
    sample.check(sample.run(), "tuned now")
    assert len(keys()) == 1
    sample.check(sample.run(), "stored")
    assert len(keys()) == 1


@ops
@dtypes
@pytest.mark.usefixtures("tuning")
def test_output_is_like_torchs(op: str, dtype: torch.dtype) -> None:
    for sample in samples(op, dtype):
        ours, torchs = sample.run(), sample.torch()
        assert ours.shape == torchs.shape, sample
        assert ours.is_contiguous(), sample
        assert not ours.is_conj(), sample
        assert not ours.is_neg(), sample
        assert not ours.requires_grad, sample


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.usefixtures("tuning")
def test_deep_products(dtype: torch.dtype) -> None:
    # Deep enough for blocks along K, and for sums that lose digits if kept narrow.
    for rows in (1, 4, 16):
        args = (make(rows, 2053, dtype=dtype), make(2053, 70, dtype=dtype))
        assert len(run_all_ways(Sample("mm", "deep", args))) > 1
        args = (args[0], args[1].t().contiguous())
        assert len(run_all_ways(Sample("linear", "deep", args))) > 1


@pytest.mark.usefixtures("tuning")
def test_shapes_and_types_in_one_process_do_not_get_mixed_up() -> None:
    mixed = [s for dtype in DTYPES for s in samples("mm", dtype)[::5]]
    for sample in mixed + mixed[::-1]:
        sample.check(sample.run())


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("op", OPS)
@pytest.mark.usefixtures("tuning")
def test_special_values_reach_exactly_what_torch_says(op: str, value: float) -> None:
    for sample in [s for s in samples(op, torch.float32) if s.layout == "plain"] or [
        samples(op, torch.float32)[0]
    ]:
        sample.args[0].view(-1)[0] = value
        run_all_ways(sample)


@pytest.mark.usefixtures("tuning")
def test_special_values_reach_through_a_weight() -> None:
    x, w = make(3, 8, dtype=torch.float32), make(5, 8, dtype=torch.float32)
    w[2, 3] = float("nan")
    x[:, 3] = 0  # 0 * nan is nan, also for kernels that could skip zeros
    for activation in ("none", "relu", "gelu", "gelu_tanh"):
        run_all_ways(Sample("linear", "nan", (x, w), {"activation": activation}))


@pytest.mark.usefixtures("tuning")
def test_infinities_that_cancel_are_nan() -> None:
    a = torch.tensor([[float("inf"), float("-inf"), 1.0]])
    assert tunedops.mm(a, torch.ones(3, 2)).isnan().all()


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.uint8])
@pytest.mark.usefixtures("tuning")
def test_integers_are_torchs_business(dtype: torch.dtype) -> None:
    a = torch.arange(12).view(3, 4).to(dtype)
    assert torch.equal(tunedops.mm(a, a.t()), torch.mm(a, a.t()))
    assert torch.equal(tunedops.linear(a, a), TORCH_OPS["linear"](a, a))
    batch = a.view(2, 2, 3)
    assert torch.equal(tunedops.bmm(batch, batch.mT), torch.bmm(batch, batch.mT))
    bias = torch.ones(3, dtype=dtype)
    expected = torch.addmm(bias, a, a.t(), beta=2, alpha=3)
    assert torch.equal(tunedops.addmm(bias, a, a.t(), beta=2, alpha=3), expected)
    assert keys() == []


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("transposed", ["nn", "nt", "tn"])
@pytest.mark.parametrize("shape", [(3, 300, 257), (16, 513, 100), (130, 259, 65), (300, 20, 131)])
@pytest.mark.usefixtures("tuning")
def test_sizes_that_straddle_the_tiles_of_kernels(
    shape: tuple[int, int, int], transposed: str, dtype: torch.dtype
) -> None:
    m, n, k = shape
    a = make(k, m, dtype=dtype).t() if transposed[0] == "t" else make(m, k, dtype=dtype)
    b = make(n, k, dtype=dtype).t() if transposed[1] == "t" else make(k, n, dtype=dtype)
    assert len(run_all_ways(Sample("mm", transposed, (a, b)))) >= 2
