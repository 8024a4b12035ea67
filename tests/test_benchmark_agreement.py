"""What the comparison takes for the product, and what it does not."""

from __future__ import annotations

import math

import measure_cpu
import pytest
import torch
from agreement import WrongResult, complaint
from sides import Operands
from torch import Tensor
from tunedops.workloads import Workload

ROWS, COLUMNS = 1024, 4096
TYPES = [torch.bfloat16, torch.float16, torch.float32]


def operands_of(dtype: torch.dtype, k: int, rows: int = 256, columns: int = 512) -> Operands:
    return torch.randn(rows, k).to(dtype), torch.randn(k, columns).to(dtype)


def exact(operands: Operands) -> Tensor:
    return operands[0].double() @ operands[1].double()


def summed_in_parts(operands: Operands, parts: int, dtype: torch.dtype) -> Tensor:
    """The product as `parts` sums along k, each rounded to `dtype` and added up in it."""
    mat1, mat2 = operands
    total: Tensor | None = None
    for a, b in zip(mat1.chunk(parts, 1), mat2.chunk(parts, 0), strict=True):
        part = (a.double() @ b.double()).to(dtype)
        total = part if total is None else total + part
    assert total is not None
    return total.to(mat1.dtype)


@pytest.fixture(scope="module")
def large() -> tuple[Operands, Tensor]:
    """A product in bfloat16, and its output rounded once."""
    torch.manual_seed(0)
    operands = operands_of(torch.bfloat16, 64, ROWS, COLUMNS)
    return operands, exact(operands).bfloat16()


def test_one_corner_is_enough_to_be_wrong(large: tuple[Operands, Tensor]) -> None:
    operands, product = large
    wrong = product.clone()
    wrong[-1, -1] += 10 * product.float().square().mean().sqrt()
    assert "an element is off by" in (complaint(wrong, product, operands) or "")


def test_a_piece_of_the_last_row_that_was_not_written(large: tuple[Operands, Tensor]) -> None:
    operands, product = large
    wrong = product.clone()
    wrong[-1, -200:] = 0
    assert "an element is off by" in (complaint(wrong, product, operands) or "")


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("place", [(0, 0), (-1, -1), (100, 7)])
def test_one_element_off_by_half_the_root_mean_square(
    dtype: torch.dtype, place: tuple[int, int]
) -> None:
    operands = operands_of(dtype, 300)
    product = exact(operands).to(dtype)
    wrong = product.clone()
    wrong[place] += math.sqrt(300) / 2
    assert complaint(wrong, product, operands) is not None


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_one_value_that_is_no_number(large: tuple[Operands, Tensor], value: float) -> None:
    operands, product = large
    wrong = product.clone()
    wrong[5, 5] = value
    assert complaint(wrong, product, operands) is not None


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("k", [1, 13, 479, 8192])
@pytest.mark.parametrize("seed", range(3))
def test_another_order_of_the_additions_agrees(dtype: torch.dtype, k: int, seed: int) -> None:
    torch.manual_seed(seed)
    operands = operands_of(dtype, k)
    once, torchs = exact(operands).to(dtype), torch.mm(*operands)
    others = [once, torchs]
    others += [summed_in_parts(operands, parts, torch.float32) for parts in (2, 64) if k > parts]
    for other in others:
        assert complaint(other, once, operands) is None
        assert complaint(other, torchs, operands) is None


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("parts", [2, 4, 8, 16, 32])
@pytest.mark.parametrize("seed", range(3))
def test_partial_sums_in_the_outputs_type_agree(dtype: torch.dtype, parts: int, seed: int) -> None:
    torch.manual_seed(seed)
    operands = operands_of(dtype, 4096)
    product = exact(operands).to(dtype)
    assert complaint(summed_in_parts(operands, parts, dtype), product, operands) is None
    assert complaint(product, summed_in_parts(operands, parts, dtype), operands) is None


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex64, torch.complex128], ids=str)
def test_other_types_agree_with_themselves(dtype: torch.dtype) -> None:
    operands = (torch.randn(32, 100, dtype=dtype), torch.randn(100, 48, dtype=dtype))
    product = torch.mm(*operands)
    assert complaint(product.clone(), product, operands) is None
    wrong = product.clone()
    wrong[-1, -1] = 0
    assert complaint(wrong, product, operands) is not None


def test_a_layer_and_a_batch() -> None:
    bias = torch.randn(512).bfloat16()
    operands = (*operands_of(torch.bfloat16, 64), bias)
    product = (exact(operands[:2]) + bias.double()).bfloat16()
    assert complaint(torch.addmm(bias, *operands[:2]), product, operands) is None
    batch = (torch.randn(16, 32, 64), torch.randn(16, 64, 48))
    output = torch.bmm(*batch)
    wrong = output.clone()
    wrong[7] = output[8]
    assert complaint(output, output, batch) is None
    assert complaint(wrong, output, batch) is not None


def test_a_kernel_that_is_wrong_is_not_timed_on_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = lambda a, b: torch.mm(a, b) * 1.001  # noqa: E731
    monkeypatch.setattr(measure_cpu, "calls_of", lambda workload: (torch.mm, wrong))
    workload = Workload("s", "mm", "float32", "nn", 1, 32, 48, 64)
    with pytest.raises(WrongResult, match=" is wrong: relative error"):
        measure_cpu.measure(workload, 0)
    with pytest.raises(WrongResult, match="Gemm_CpuSkinny is wrong: relative error"):
        measure_cpu.time_solutions(workload, ["Default", "Gemm_CpuSkinny"], 0)
