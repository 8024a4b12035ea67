"""That the kernel which runs is the one that was chosen, forced or written down.

Kernels of another extension, wrong on purpose, show it: one fills its output with 42 or 43,
one fails, one stops when it has written a part. (Where the latter two are chosen is in
test_failed_runs.py.)
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from conftest import RunPython
from tunedops import _C

A, B = torch.ones(3, 4), torch.ones(4, 5)
OPERANDS = """
A, B = torch.ones(3, 4), torch.ones(4, 5)
FOUR = torch.full((3, 5), 4.0)
def value(tensor): return tensor.unique().tolist()
"""


@pytest.fixture
def row() -> Callable[[str], str]:
    """The row of A @ B with a solution."""
    op, params = _C.key_of(A, B) or ("", "")
    return lambda solution: f"{op},{params},{solution}"


def test_a_forced_solution_runs(run_python: RunPython, extra_kernels: str) -> None:
    run_python(
        """
        from tunedops import force
        with force("Gemm_Constant_value_42"):
            assert value(tunedops.mm(A, B)) == [42]
            assert value(tunedops.linear(A, B.t().contiguous())) == [42]
            assert value(torch.mm(A, B)) == [42], "routed"
            assert value(A.double() @ B.double()) == [4], "it takes no doubles"
            with force("Gemm_Constant_value_43"):
                assert value(tunedops.mm(A, B)) == [43]
                with force("Default"):
                    assert value(tunedops.mm(A, B)) == [4]
                assert value(tunedops.mm(A, B)) == [43]
                try:
                    with force("Default"):
                        raise KeyError
                except KeyError:
                    pass
                assert value(tunedops.mm(A, B)) == [43]
            assert value(tunedops.mm(A, B)) == [42]
            tunedops.enable()
            assert value(tunedops.mm(A, B)) == [42]
            tunedops.enable(False)
            assert value(tunedops.mm(A, B)) == [42]
        assert value(tunedops.mm(A, B)) == [4]
        assert tunedops.get_results() == ()
        """,
        prelude=extra_kernels + OPERANDS,
    )


def test_a_kernel_is_forced_by_its_name_alone(run_python: RunPython, extra_kernels: str) -> None:
    run_python(
        """
        with tunedops.force("Gemm_Constant"):
            assert value(tunedops.mm(A, B)) == [42], "its best guess"
        """,
        prelude=extra_kernels + OPERANDS,
    )


def test_unknown_solutions_are_not_forced() -> None:
    import tunedops

    for name in ("Gemm_Nobody", "", "default", "Defaults", "Gemm_OneDnn_Tile_1"):
        with pytest.raises(ValueError, match="force: there is no solution"):
            with tunedops.force(name):
                pass


def test_force_governs_the_backward_pass_and_no_other_thread(
    run_python: RunPython, extra_kernels: str
) -> None:
    run_python(
        """
        from threading import Thread
        from tunedops import force
        x = A.clone().requires_grad_()
        loss = tunedops.mm(x, B).sum()
        with force("Gemm_Constant_value_42"):
            loss.backward()
        assert value(x.grad) == [42]
        seen = []
        with force("Gemm_Constant_value_42"):
            thread = Thread(target=lambda: seen.append(tunedops.mm(A, B)))
            thread.start()
            thread.join()
        assert value(seen[0]) == [4]
        """,
        prelude=extra_kernels + OPERANDS,
    )


def test_enabled_0_wins_over_force(run_python: RunPython, extra_kernels: str) -> None:
    run_python(
        """
        with tunedops.force("Gemm_Constant_value_42"):
            assert value(tunedops.mm(A, B)) == [4]
        assert not _C.routing_is_installed()
        """,
        prelude=extra_kernels + OPERANDS,
        TUNEDOPS_ENABLED="0",
    )


@pytest.mark.parametrize("tuning", ["0", "1"])
def test_a_stored_solution_runs_and_an_edit_takes_effect(
    run_python: RunPython,
    extra_kernels: str,
    write_results: Callable[..., str],
    row: Callable[[str], str],
    tuning: str,
) -> None:
    text = write_results(row("Gemm_Constant_value_42"))
    run_python(
        """
        from pathlib import Path
        path = Path("results.csv")
        tunedops.set_filename(path)
        assert value(tunedops.mm(A, B)) == [4], "still off"
        tunedops.enable()
        for product in (tunedops.mm, torch.mm, torch.matmul):
            assert value(product(A, B)) == [42]
        assert value(tunedops.mm(A, B, out=torch.zeros(3, 5))) == [42]
        text = path.read_text()
        path.write_text(text.replace("value_42", "value_43"))
        assert value(tunedops.mm(A, B)) == [42], "not read again at every product"
        assert tunedops.read_file()
        assert value(tunedops.mm(A, B)) == [43]
        path.write_text(text.replace("Gemm_Constant_value_42", "Default"))
        assert tunedops.read_file()
        assert torch.equal(tunedops.mm(A, B), FOUR)
        assert [r.solution for r in tunedops.get_results()] == ["Default"]
        path.write_text(text)
        assert tunedops.read_file()
        assert value(tunedops.mm(A, B)) == [42]
        tunedops.enable(False)
        assert value(tunedops.mm(A, B)) == [4]
        """,
        prelude=extra_kernels + OPERANDS,
        TUNEDOPS_TUNING=tuning,
    )
    assert text.endswith("Gemm_Constant_value_42\n")


def test_wrong_kernels_never_win(run_python: RunPython, extra_kernels: str) -> None:
    run_python(
        """
        tunedops.enable()
        for rows in (1, 4, 64):
            a, b = torch.randn(rows, 300), torch.randn(300, 200)
            torch.testing.assert_close(tunedops.mm(a, b).double(), a.double() @ b.double(),
                                       rtol=1e-4, atol=1e-4)
            out = torch.randn(rows, 200)
            expected = out.double() * 0.5 + a.double() @ b.double()
            out.addmm_(a, b, beta=0.5)
            torch.testing.assert_close(out.double(), expected, rtol=1e-4, atol=1e-4)
        products = [r for r in tunedops.get_results() if "float" in r.op]
        assert len(products) == 6, "a product and a sum of each size"
        for op, params, *_ in products:
            outcome = _C.tune(CPU, op, params, False)
            refused = {m[0]: m[3] for m in outcome.measurements}
            assert all(refused[f"Gemm_Constant_value_{v}"] for v in (42, 43)), refused
            assert refused["Gemm_Failing"] == "it fails on purpose", refused
            assert refused["Gemm_Interrupted"] == "it stops halfway on purpose", refused
            assert outcome.solution not in refused or not refused[outcome.solution]
        """,
        prelude=extra_kernels + OPERANDS,
    )


def test_kernels_filter(run_python: RunPython, extra_kernels: str) -> None:
    run_python(
        """
        tunedops.enable()
        tunedops.mm(torch.randn(2, 8), torch.randn(8, 8))
        (result,) = tunedops.get_results()
        outcome = _C.tune(CPU, result.op, result.params, False)
        names = [m[0] for m in outcome.measurements]
        assert names[0] == "Default", names
        assert set(names[1:]) == {"Gemm_Constant_value_42", "Gemm_Constant_value_43"}, names
        """,
        prelude=extra_kernels + OPERANDS,
        TUNEDOPS_KERNELS="Gemm_Constant",
    )


def test_on_miss_heuristic_takes_a_best_guess(run_python: RunPython, extra_kernels: str) -> None:
    run_python(
        """
        tunedops.enable()
        assert value(tunedops.mm(A, B)) == [42]
        assert value(tunedops.mm(A.double(), B.double())) == [4]
        assert tunedops.get_results() == ()
        """,
        prelude=extra_kernels + OPERANDS,
        TUNEDOPS_TUNING="0",
        TUNEDOPS_ON_MISS="heuristic",
        TUNEDOPS_KERNELS="Gemm_Constant",
    )
