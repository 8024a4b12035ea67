"""The search beyond what kernels propose, over a kernel of another extension.

`Gemm_Varied` has 50 values, proposes 0 and 10, and is fastest with 37. It fills its output
with the value, so these tests leave out the numerical check where it is to win.
"""

from __future__ import annotations

import json
import re

import pytest
import tunedops
from conftest import CPU, RunPython
from tunedops import _C
from tunedops.search import SEARCHES, searching

# Enough time for most of the space. Default has to take longer than filling an output.
LIMITS = {
    "TUNEDOPS_KERNELS": "Gemm_Varied",
    "TUNEDOPS_NUMERICAL_CHECK": "0",
    "TUNEDOPS_MAX_TUNING_BUDGET_MS": "20000",
    "TUNEDOPS_MAX_TUNING_DURATION_MS": "30",
    "TUNEDOPS_MAX_TUNING_ITERATIONS": "20",
}
# Gemm_CpuSkinny has more configs for it than it proposes.
SKINNY = ("GemmTunableOp_float_TN", "tn_64_4_64_ld_64_64_64_threads_2")

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
    _C.set_setting("SEARCH", "exhaustive")
    _C.set_setting("KERNELS", "Gemm_OneDnn")
    found = _C.tune(CPU, *SKINNY, False)
    assert (found.failure, found.searched) == ("", 0)


def test_a_kernel_of_ours_is_searched() -> None:
    _C.set_setting("SEARCH", "exhaustive")
    found = _C.tune(CPU, *SKINNY, False)
    assert found.searched > 0
    assert not found.failure


# ---- for one call


def test_the_words_are_those_of_the_setting() -> None:
    for search in SEARCHES:
        _C.set_setting("SEARCH", search)
    with pytest.raises(ValueError, match=f"must be {SEARCHES[0]}, {SEARCHES[1]} or {SEARCHES[2]}"):
        _C.set_setting("SEARCH", "all")


def test_it_is_put_back() -> None:
    _C.set_setting("SEARCH", "proposals")
    with searching(None):
        assert _C.setting("SEARCH") == "proposals"

    def fail() -> None:
        with searching("exhaustive"):
            assert _C.setting("SEARCH") == "exhaustive"
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert _C.setting("SEARCH") == "proposals"


def test_the_environment_wins_with_a_warning(run_python: RunPython) -> None:
    done = run_python(
        """
        from tunedops.search import searching
        for _ in range(2):
            with searching("exhaustive"):
                assert _C.setting("SEARCH") == "proposals"
        with searching("proposals"):
            pass
        """,
        TUNEDOPS_SEARCH="proposals",
    )
    assert done.stderr.count("Warning") == 1
    assert "TUNEDOPS_SEARCH=proposals is set in the environment and wins" in done.stderr


def test_lists_are_tuned_with_the_search_asked_for(
    run_python: RunPython, extra_kernels: str
) -> None:
    run_python(
        """
        from pathlib import Path
        Path("list.csv").write_text(",".join(KEY) + "\\n")
        def found(**options):
            tunedops.clear()
            tunedops.set_filename(f"{len(os.listdir())}.csv")
            tunedops.tune_gemm_in_file("list.csv", **options)
            (result,) = tunedops.get_results()
            return result.solution
        assert found(search="proposals") in PROPOSED
        assert found(search="exhaustive") in FAST
        assert _C.setting("SEARCH") == "guided"
        assert found() in FAST, "as the setting says"
        """,
        prelude=extra_kernels + PRODUCT,
        **LIMITS,
    )


@pytest.mark.parametrize("search", ["all", "", "Guided", "or"])
def test_other_words_are_errors_before_anything_is_done(search: str) -> None:
    expected = f"search must be proposals, guided or exhaustive, got '{search}'$"
    with pytest.raises(ValueError, match=f"^tune_gemm_in_file: {expected}"):
        tunedops.tune_gemm_in_file("no file", search=search)
    with pytest.raises(ValueError, match=f"^mgpu_tune_gemm_in_file: {expected}"):
        tunedops.mgpu_tune_gemm_in_file("no file", 1000, search=search)
    assert _C.setting("SEARCH") == "guided"


def test_the_command_says_how_far_it_searched(run_python: RunPython, extra_kernels: str) -> None:
    code = """
        from tunedops.cli.main import main
        with open("list.csv", "w") as file:
            file.write(",".join(KEY) + "\\n")
        sys.exit(main(["tune", "list.csv", "--retune", *json.loads(os.environ["WORDS"])]))
    """

    def printed(*words: str) -> str:
        prelude = extra_kernels + PRODUCT
        return run_python(code, prelude=prelude, **LIMITS, WORDS=json.dumps(words)).stdout

    sentence = "searched {0} configs beyond what kernels propose: {0} for a product in the median, "
    sentence = f"\n{sentence}{{0}} at most\n"
    assert sentence.format(48) in printed("--search", "exhaustive")
    assert re.search(sentence.format(r"\d+"), printed())
    assert "searched" not in printed("--search", "proposals")
