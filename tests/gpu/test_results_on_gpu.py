"""A GPU's results file: what another process makes of it, and what of it is refused.

A row that cannot be used means Default: the very bits of torch's own product, and one
warning that names the line.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import tunedops
from conftest import RunPython, messages
from gpu_products import GPU, assert_right, randn
from tunedops import _C

pytestmark = pytest.mark.gpu

PRODUCTS = """
def products(torch, tunedops):
    torch.manual_seed(5)
    def new(*shape):
        return torch.randn(shape).bfloat16().cuda()
    x, w, bias = new(8, 2048), new(512, 2048), new(512)
    yield tunedops.mm(x, w.t())
    yield torch.mm(new(200, 512), new(512, 304))
    yield tunedops.linear(new(3, 5, 2048), w, bias, "gelu_tanh")
    yield torch.nn.functional.linear(x, w, bias)
    yield tunedops.bmm(new(4, 16, 256), new(4, 256, 64))
    yield torch.mm(x.float(), w.float().t())
    yield w.new_ones(8, 512).addmm_(x, w.t(), beta=0.5)
"""


@pytest.fixture
def write_row(results_path: Path) -> Callable[[tuple[str, str], str], str]:
    """Writes a file with one row, and returns how a warning names it."""

    def write(key: tuple[str, str], solution: str) -> str:
        lines = [f"Validator,{name},{value}" for name, value in _C.validators(GPU).items()]
        lines.append(",".join([*key, solution]))
        results_path.write_text("".join(f"{line}\n" for line in lines))
        tunedops.clear()  # what it read of an earlier file of that name
        tunedops.set_filename(results_path)
        return f"{results_path}:{len(lines)}: solution '{solution}'"

    return write


def key_of(a: torch.Tensor, b: torch.Tensor) -> tuple[str, str]:
    key = _C.key_of(a, b)
    assert key is not None
    return key


def test_another_process_takes_the_same_solutions(
    run_python: RunPython, tmp_path: Path, results_path: Path
) -> None:
    _C.set_setting("SEARCH", "guided")
    _C.set_setting("MAX_TUNING_BUDGET_MS", "1000")
    tunedops.enable()
    scope: dict[str, Callable] = {}
    exec(PRODUCTS, scope)
    list(scope["products"](torch, tunedops))
    values = [y.cpu() for y in scope["products"](torch, tunedops)]
    rows = [(r.op, r.params, r.solution) for r in tunedops.get_results("cuda")]
    assert len(rows) == 7
    # Sums that blocks add in the order in which they finish differ in their last bits.
    exact = not any(re.search(r"_red_[1357]_", solution) for _, _, solution in rows)
    torch.save(values, tmp_path / "values.pt")
    text = results_path.read_text()
    run_python(
        PRODUCTS
        + f"""
import warnings
warnings.filterwarnings("error", message="tunedops")
tunedops.set_filename("results.csv")
tunedops.enable()
tunedops.tuning_enable(False)
_C.set_setting("ON_MISS", "error")
for expected, y in zip(torch.load("values.pt"), products(torch, tunedops), strict=True):
    if {exact}:
        assert torch.equal(y.cpu(), expected), (y.cpu() - expected).abs().max()
    torch.testing.assert_close(y.cpu(), expected, rtol=2e-2, atol=1)
rows = {rows!r}
assert [(r.op, r.params, r.solution) for r in tunedops.get_results("cuda")] == rows
for op, params, solution in rows:
    assert _C.stored(("cuda", 0), op, params)[2] == solution
assert not any(r.tuned_here for r in tunedops.get_results("cuda"))
"""
    )
    assert results_path.read_text() == text


def test_a_row_says_how_it_was_timed() -> None:
    key = key_of(randn(8, 512), randn(512, 256))
    for replay, timing in (("0", "events"), ("1", "graphs")):
        _C.set_setting("GRAPH_REPLAY", replay)
        outcome = _C.tune(GPU, *key, False)
        assert outcome.failure == ""
        (result,) = tunedops.get_results("cuda")
        assert (result.timing, result.samples) == (timing, outcome.samples)
        assert result.spread is not None
        assert result.margin == 0.01
        assert result.date is not None


NUMBERS = "stages_35_splitk_2_red_{}_swizzle_0_custom_0_inner_0_cluster_0"
UNUSABLE = [
    "Gemm_Cublaslt_id_66_tile_9999_" + NUMBERS.format(0),
    "Gemm_Cublaslt_id_99999_tile_20_" + NUMBERS.format(0),
    "Gemm_Cublaslt_id_66",
    "Gemm_Skinny_rows_48_warps_1x8_splitk_1_cluster_1",
    "Gemm_Skinny_rows_16_warps_1x64_splitk_1_cluster_1",
    "Gemm_Skinny_rows_16_warps_1x4_splitk_16_cluster_16",
    "Gemm_Skinny_rows_16_warps_1x4_splitk_64_cluster_1",
    "Gemm_Cublas_tile_1",
    "Gemm_Nobody",
]


@pytest.mark.parametrize("solution", UNUSABLE)
def test_a_solution_that_cannot_run_means_default(
    write_row: Callable[[tuple[str, str], str], str], results_path: Path, solution: str
) -> None:
    x, w = randn(16, 256), randn(128, 256)
    expected = torch.mm(x, w.t())
    place = write_row(key_of(x, w.t()), solution)
    text = results_path.read_text()
    tunedops.enable()

    def products() -> None:
        for _ in range(3):
            assert torch.equal(tunedops.mm(x, w.t()), expected)
            assert torch.equal(torch.mm(x, w.t()), expected)

    (message,) = messages(products)
    assert place in message
    assert "means Default" in message
    assert results_path.read_text() == text, "never tuned over"


def test_a_kernel_that_does_not_support_the_problem_means_default(
    write_row: Callable[[tuple[str, str], str], str],
) -> None:
    x, w = randn(33, 256), randn(128, 256)
    expected = torch.mm(x, w.t())
    place = write_row(key_of(x, w.t()), "Gemm_Skinny_rows_16_warps_1x4_splitk_1_cluster_1")
    tunedops.enable()
    results = []
    (message,) = messages(lambda: results.append(tunedops.mm(x, w.t())))
    assert torch.equal(results[0], expected)
    assert place in message
    assert "neither m nor n is in 1 to 32" in message


@pytest.mark.parametrize("other", [torch.float64, torch.float32])
def test_an_algorithm_of_another_problem_computes_this_one_or_is_refused(
    write_row: Callable[[tuple[str, str], str], str], other: torch.dtype
) -> None:
    x, w = randn(100, 264), randn(136, 264)
    plain, exact = torch.mm(x, w.t()), x.double() @ w.double().t()
    theirs = _C.candidates(GPU, *key_of(x.to(other), w.to(other).t()))
    theirs = [s for s in theirs if s.startswith("Gemm_Cublaslt_")]
    if not theirs:
        pytest.skip("cuBLASLt proposes nothing")
    tunedops.enable()
    tunedops.tuning_enable(False)
    for solution in theirs[:4]:
        place = write_row(key_of(x, w.t()), solution)
        results: list[torch.Tensor] = []
        said = messages(lambda found=results: found.append(tunedops.mm(x, w.t())))
        if said:
            assert len(said) == 1
            assert place in said[0]
            assert torch.equal(results[0], plain)
        assert_right(results[0], exact, 264, solution)


def test_reductions_obey_the_flags_of_the_key(
    write_row: Callable[[tuple[str, str], str], str],
) -> None:
    x, w = randn(16, 4096), randn(128, 4096)

    def said_of(reduction: int) -> str:
        solution = "Gemm_Cublaslt_id_66_tile_20_" + NUMBERS.format(reduction)
        expected = torch.mm(x, w.t())
        place = write_row(key_of(x, w.t()), solution)
        tunedops.enable()
        results: list[torch.Tensor] = []
        said = messages(lambda: results.append(tunedops.mm(x, w.t())))
        tunedops.enable(False)
        assert_right(results[0], x.double() @ w.double().t(), 4096)
        said = [message for message in said if place in message]
        if said:
            assert torch.equal(results[0], expected)
        return " ".join(said)

    matmul = torch.backends.cuda.matmul
    assert "reduction is" not in said_of(4)
    assert "reduction is" not in said_of(1)
    try:
        matmul.allow_bf16_reduced_precision_reduction = False
        assert key_of(x, w.t())[1].endswith("_fullprec")
        assert "its reduction is of lower precision" in said_of(4)
        assert "reduction is" not in said_of(1)
    finally:
        matmul.allow_bf16_reduced_precision_reduction = True
    try:
        torch.use_deterministic_algorithms(True, warn_only=True)
        assert key_of(x, w.t())[1].endswith("_det")
        assert "its reduction is not deterministic" in said_of(1)
        assert "reduction is" not in said_of(4)
    finally:
        torch.use_deterministic_algorithms(False)


def refused(
    write_row: Callable[[tuple[str, str], str], str],
    x: torch.Tensor,
    w: torch.Tensor,
    solution: str,
) -> str:
    """Why a row written by hand is not obeyed; the product is torch's own then."""
    expected = torch.mm(x, w.t())
    place = write_row(key_of(x, w.t()), solution)
    tunedops.enable()
    results: list[torch.Tensor] = []
    (message,) = messages(lambda: results.append(tunedops.mm(x, w.t())))
    assert place in message
    assert torch.equal(results[0], expected)
    return message


TILE_20 = "Gemm_Cublaslt_id_66_tile_20_stages_35_"
REST = "swizzle_0_custom_1_inner_0_cluster_2"


def test_a_row_cannot_ask_for_more_workspace_than_there_is(
    write_row: Callable[[tuple[str, str], str], str],
) -> None:
    x, w = randn(4096, 4096), randn(4096, 4096)
    assert "workspace" in refused(write_row, x, w, f"{TILE_20}splitk_16_red_2_{REST}")


def test_a_row_cannot_read_operands_that_are_not_aligned(
    write_row: Callable[[tuple[str, str], str], str],
) -> None:
    w = randn(128, 256)
    x = randn(1, 16 * 256 + 1)[0, 1:].view(16, 256)
    assert "_align_" in key_of(x, w.t())[1]
    assert "aligned" in refused(write_row, x, w, f"{TILE_20}splitk_1_red_0_{REST}")


def test_validators_name_the_gpu_and_its_libraries() -> None:
    validators = _C.validators(GPU)
    properties = torch.cuda.get_device_properties(0)
    device = f"{properties.major}.{properties.minor}:{properties.name}"
    assert validators["DEVICE"] == f"{device}:{properties.multi_processor_count}"
    assert {"TUNEDOPS_KERNELS", "CUBLAS_VERSION", "CUBLASLT_VERSION"} <= set(validators)


@pytest.mark.parametrize("validator", ["DEVICE", "CUBLAS_VERSION", "CUBLASLT_VERSION"])
def test_a_file_of_another_gpu_is_left_alone(
    write_row: Callable[[tuple[str, str], str], str], results_path: Path, validator: str
) -> None:
    x, w = randn(16, 256), randn(128, 256)
    write_row(key_of(x, w.t()), "Gemm_Nobody")
    here = _C.validators(GPU)[validator]
    text = results_path.read_text().replace(
        f"Validator,{validator},{here}\n", f"Validator,{validator},elsewhere\n"
    )
    results_path.write_text(text)
    tunedops.enable()
    tunedops.tuning_enable(False)
    (message,) = messages(lambda: tunedops.mm(x, w.t()))
    for part in (validator, "'elsewhere'", f"'{here}'", str(results_path)):
        assert part in message
    assert results_path.read_text() == text
