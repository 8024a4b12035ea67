"""What a call does when the chosen plan fails: torch's kernel computes the product.

Except where a plan that wrote a part may have changed what torch's kernel would add to: there
nobody knows the sum any more, and the user has to hear that.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from conftest import RunPython
from tunedops import _C

PRODUCTS = """
import warnings

nan = float("nan")
A, B = torch.ones(3, 4), torch.ones(4, 5)
BATCHES = torch.ones(2, 3, 4), torch.ones(2, 4, 5)
def filled(value, *shape): return torch.full(shape or (3, 5), float(value))

# Their outputs hold nothing that is needed; and what all their elements are.
SEPARATE = {
    "mm": (lambda: tunedops.mm(A, B), 4),
    "mm routed": (lambda: torch.mm(A, B), 4),
    "mm out": (lambda: torch.mm(A, B, out=filled(nan)), 4),
    "tunedops.mm out": (lambda: tunedops.mm(A, B, out=filled(nan)), 4),
    "linear": (lambda: tunedops.linear(A, B.t().contiguous()), 4),
    "bias": (lambda: torch.addmm(filled(1, 5), A, B), 5),
    "addmm": (lambda: tunedops.addmm(filled(1), A, B), 5),
    "addmm out": (lambda: torch.addmm(filled(1), A, B, out=filled(nan)), 5),
    "addmm_ beta 0": (lambda: filled(nan).addmm_(A, B, beta=0), 4),
    "mv": (lambda: torch.mv(A, filled(1, 4)), 4),
    "bmm": (lambda: tunedops.bmm(*BATCHES), 4),
    "bmm out": (lambda: torch.bmm(*BATCHES, out=filled(nan, 2, 3, 5)), 4),
    "baddbmm": (lambda: torch.baddbmm(filled(1, 2, 3, 5), *BATCHES), 5),
    "baddbmm out": (
        lambda: torch.baddbmm(filled(1, 2, 3, 5), *BATCHES, out=filled(nan, 2, 3, 5)), 5),
    "baddbmm_ beta 0": (lambda: filled(nan, 2, 3, 5).baddbmm_(*BATCHES, beta=0), 4),
}

# Those that add to ones in place, the value of their elements, and words of their keys.
IN_PLACE = {
    "addmm_": (lambda x: x.addmm_(A, B), (3, 5), 5, "GemmTunableOp_float_NN,", "_beta_one_"),
    "addmm_ beta": (
        lambda x: x.addmm_(A, B, beta=0.5), (3, 5), 4.5, "GemmTunableOp_float_NN,", "_beta_any_"),
    "addmm_ copied": (
        lambda x: x.addmm_(filled(1, 3, 8)[:, ::2], B),
        (3, 5), 5, "GemmTunableOp_float_NN,", "_beta_one_"),
    "addmm out": (
        lambda x: torch.addmm(x, A, B, out=x),
        (3, 5), 5, "GemmTunableOp_float_NN,", "_beta_one_"),
    "tunedops.addmm out": (
        lambda x: tunedops.addmm(x, A, B, out=x),
        (3, 5), 5, "GemmTunableOp_float_NN,", "_beta_one_"),
    "addmv_": (
        lambda x: x.addmv_(A, filled(1, 4)), (3,), 5, "GemmTunableOp_float_", "_beta_one_"),
    "baddbmm_": (
        lambda x: x.baddbmm_(*BATCHES),
        (2, 3, 5), 5, "GemmStridedBatchedTunableOp_float_NN,", "_beta_one_"),
    "baddbmm out": (
        lambda x: torch.baddbmm(x, *BATCHES, out=x),
        (2, 3, 5), 5, "GemmStridedBatchedTunableOp_float_NN,", "_beta_one_"),
}
CALLS = 3  # of which all but the first are known
"""
REASONS = {
    "Gemm_Failing": "it fails on purpose",
    "Gemm_Interrupted": "it stops halfway on purpose",
}


@pytest.fixture
def rows() -> Callable[[str], list[str]]:
    """The rows of A @ B, and of it added to what the output holds, with a solution."""
    op, params = _C.key_of(torch.ones(3, 4), torch.ones(4, 5)) or ("", "")
    sum_params = params.replace("_threads", "_beta_one_threads")
    return lambda solution: [f"{op},{each},{solution}" for each in (params, sum_params)]


@pytest.mark.parametrize("solution", REASONS)
def test_a_failure_means_default_and_one_warning(
    run_python: RunPython,
    extra_kernels: str,
    write_results: Callable[..., str],
    rows: Callable[[str], list[str]],
    solution: str,
) -> None:
    write_results(*rows(solution))
    done = run_python(
        f"""
        tunedops.set_filename("results.csv")
        tunedops.enable()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for _ in range(CALLS):
                assert torch.equal(tunedops.mm(A, B), filled(4))
                assert torch.equal(torch.mm(A, B, out=filled(nan)), filled(4))
                assert torch.equal(filled(nan).addmm_(A, B, beta=0), filled(4))
        (message,) = {{str(w.message) for w in caught}}
        assert len(caught) == 1, caught
        assert "could not run ({REASONS[solution]}); Default ran instead" in message
        assert [r.solution for r in tunedops.get_results()] == ["{solution}"] * 2
        """,
        prelude=extra_kernels + PRODUCTS,
        TUNEDOPS_TUNING="0",
    )
    assert done.stderr == ""


@pytest.mark.parametrize("solution", REASONS)
def test_default_computes_what_it_knows_the_operands_of(
    run_python: RunPython, extra_kernels: str, solution: str
) -> None:
    run_python(
        f"""
        with tunedops.force("{solution}"), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for name, (call, value) in SEPARATE.items():
                before = len(caught)
                for _ in range(CALLS):
                    assert call().unique().tolist() == [value], name
        said = [str(w.message) for w in caught]
        assert len(said) == len(set(said)) > 4, said
        for message in said:
            assert "could not run ({REASONS[solution]}); Default ran instead" in message
        """,
        prelude=extra_kernels + PRODUCTS,
    )


def test_a_sum_in_place_is_right_if_nothing_was_written(
    run_python: RunPython, extra_kernels: str
) -> None:
    run_python(
        """
        with tunedops.force("Gemm_Failing"), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for name, (call, shape, value, *words) in IN_PLACE.items():
                for _ in range(CALLS):
                    total = filled(1, *shape)
                    assert call(total) is total
                    assert total.unique().tolist() == [value], name
                said = [str(w.message) for w in caught]
                assert any(all(word in each for word in words) for each in said), (name, said)
        """,
        prelude=extra_kernels + PRODUCTS,
    )


def test_a_sum_in_place_that_may_be_half_written_is_an_error(
    run_python: RunPython, extra_kernels: str
) -> None:
    done = run_python(
        """
        for name, (call, shape, value, *words) in IN_PLACE.items():
            with tunedops.force("Gemm_Interrupted"):
                for _ in range(CALLS):
                    total = filled(1, *shape)
                    try:
                        call(total)
                    except RuntimeError as error:
                        said = str(error)
                    else:
                        raise AssertionError(f"{name}: {total}")
                    assert total.view(-1)[:2].tolist() == [7, 1], "as the plan left it"
                    for word in (*words, "(it stops halfway on purpose)"):
                        assert word in said, (name, word, said)
            total = filled(1, *shape)
            call(total)
            assert total.unique().tolist() == [value], "computed again, by another kernel"
        """,
        prelude=extra_kernels + PRODUCTS,
    )
    assert done.stderr == ""


def test_the_error_says_what_to_do(
    run_python: RunPython,
    extra_kernels: str,
    write_results: Callable[..., str],
    rows: Callable[[str], list[str]],
) -> None:
    written = rows("Gemm_Interrupted")
    write_results(*written)
    key = written[1].rpartition(",")[0]
    run_python(
        f"""
        tunedops.set_filename("results.csv")
        tunedops.enable()
        for _ in range(CALLS):
            try:
                filled(1).addmm_(A, B)
            except RuntimeError as error:
                assert str(error) == (
                    "tunedops: the chosen solution of '{key}' failed (it stops halfway on "
                    "purpose) and may have written a part of the output, which held what the "
                    "product is added to; compute it again from the former contents of the output"
                ), error
            else:
                raise AssertionError
        """,
        prelude=extra_kernels + PRODUCTS,
        TUNEDOPS_TUNING="0",
    )
