"""The search beyond what kernels propose, over a kernel of another extension.

`Gemm_Varied` has 50 values, proposes 0 and 10, and is fastest with 37. It fills its output
with the value, so these tests leave out the numerical check where it is to win.
"""

from __future__ import annotations

from conftest import CPU, RunPython
from tunedops import _C

# Enough time for most of the space. Default has to take longer than filling an output.
LIMITS = {
    "TUNEDOPS_KERNELS": "Gemm_Varied",
    "TUNEDOPS_NUMERICAL_CHECK": "0",
    "TUNEDOPS_MAX_TUNING_BUDGET_MS": "20000",
    "TUNEDOPS_MAX_TUNING_DURATION_MS": "30",
    "TUNEDOPS_MAX_TUNING_ITERATIONS": "20",
}
PRODUCT = """
A, B = torch.randn(128, 512), torch.randn(512, 512)
KEY = _C.key_of(A, B)
# A reading that is disturbed may cost the fastest its place, but not its neighbours too.
FAST = [f"Gemm_Varied_value_{value}" for value in (36, 37, 38)]
PROPOSED = ["Default", "Gemm_Varied_value_0", "Gemm_Varied_value_10"]
def tune():
    return _C.tune(CPU, *KEY, False)
"""


def test_a_search_finds_what_no_kernel_proposed(run_python: RunPython, extra_kernels: str) -> None:
    run_python(
        """
        assert _C.candidates(CPU, *KEY) == PROPOSED
        found = tune()
        assert not found.failure
        assert 0 < found.searched <= 48, "the proposals are known"
        assert found.solution in FAST, (found.solution, found.measurements)
        assert found.time_ms < found.default_ms
        tunedops.enable()
        (value,) = tunedops.mm(A, B).unique().tolist()
        assert found.solution == f"Gemm_Varied_value_{value:.0f}", "it is what runs"
        """,
        prelude=extra_kernels + PRODUCT,
        **LIMITS,
    )


def test_a_row_with_what_was_found_is_used(run_python: RunPython, extra_kernels: str) -> None:
    code = """
        tunedops.enable()
        (value,) = tunedops.mm(A, B).unique().tolist()
        (result,) = tunedops.get_results()
        assert result.solution == f"Gemm_Varied_value_{value:.0f}" in FAST, result
        assert _C.check_file(CPU, "tunedops_results_cpu.csv") == []
    """
    run_python(code, prelude=extra_kernels + PRODUCT, **LIMITS)
    run_python(code, prelude=extra_kernels + PRODUCT, **LIMITS, TUNEDOPS_TUNING="0")


def test_the_setting_says_how_much_is_tried(run_python: RunPython, extra_kernels: str) -> None:
    run_python(
        """
        _C.set_setting("SEARCH", "proposals")
        found = tune()
        assert found.searched == 0 and found.solution in PROPOSED, found.solution
        _C.set_setting("SEARCH", "exhaustive")
        found = tune()
        assert found.searched == 48, "all but the proposals"
        assert found.solution in FAST, found.solution
        """,
        prelude=extra_kernels + PRODUCT,
        **LIMITS,
    )


def test_a_budget_bounds_all_but_an_exhaustive_search(
    run_python: RunPython, extra_kernels: str
) -> None:
    run_python(
        """
        assert tune().searched == 0
        _C.set_setting("SEARCH", "exhaustive")
        assert tune().searched == 48
        """,
        prelude=extra_kernels + PRODUCT,
        **LIMITS | {"TUNEDOPS_MAX_TUNING_BUDGET_MS": "1"},
    )


def test_what_a_search_finds_is_checked(run_python: RunPython, extra_kernels: str) -> None:
    run_python(
        """
        for search in ("guided", "exhaustive"):
            _C.set_setting("SEARCH", search)
            found = tune()
            assert found.searched > 0
            assert found.solution == "Default", found.measurements
        """,
        prelude=extra_kernels + PRODUCT,
        **LIMITS | {"TUNEDOPS_NUMERICAL_CHECK": "1"},
    )


def test_kernels_without_a_space_are_not_searched() -> None:
    key = ("GemmTunableOp_float_NN", "nn_32_4_64_ld_32_64_32_threads_2")
    _C.set_setting("SEARCH", "exhaustive")
    found = _C.tune(CPU, *key, False)
    assert (found.failure, found.searched) == ("", 0)
