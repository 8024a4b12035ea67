"""`with result:`: what it governs, in which threads, and that nothing of it stays.

A kernel of another extension, which fills its output with its config's value, shows which
solution ran.
"""

from __future__ import annotations

import pytest
from conftest import RunPython

SETUP = """
import threading
from tunedops import AutotuningResult, Measured, Measurement

A, B, C = torch.ones(3, 4), torch.ones(4, 5), torch.ones(5, 6)
def value(tensor): return tensor.unique().tolist()

def result_of(*choices):
    return AutotuningResult({
        tunedops.mm.bind(a, b): Measured((Measurement(f"Gemm_Constant_value_{n}", None),))
        for a, b, n in choices
    })
first, second = result_of((A, B, 42)), result_of((A, B, 43))
"""


def test_it_governs_the_block_and_nothing_stays(run_python: RunPython, extra_kernels: str) -> None:
    """K6: an overlay over what is stored; a miss falls through."""
    run_python(
        """
        with first as entered:
            assert entered is first
            assert value(tunedops.mm(A, B)) == [42]
            assert value(torch.mm(A, B)) == [42], "routed"
            assert value(torch.mm(B, C)) == [5], "of which it says nothing"
        assert value(torch.mm(A, B)) == [4]
        assert tunedops.get_results() == ()
        tunedops.enable(); tunedops.tuning_enable(False)
        assert value(torch.mm(A, B)) == [4]
        with first:
            assert value(torch.mm(A, B)) == [42]
        assert value(torch.mm(A, B)) == [4]
        """,
        prelude=extra_kernels + SETUP,
    )


def test_blocks_nest(run_python: RunPython, extra_kernels: str) -> None:
    """K6 and defect (h): the innermost wins, and one object can be entered twice."""
    run_python(
        """
        other = result_of((B, C, 42))
        with first:
            with second:
                assert value(A @ B) == [43]
                with first, first:
                    assert value(A @ B) == [42]
                assert value(A @ B) == [43]
                with other:
                    assert (value(A @ B), value(B @ C)) == ([43], [42])
                    with tunedops.force("Default"):
                        assert (value(A @ B), value(B @ C)) == ([4], [5])
                        with first:
                            assert (value(A @ B), value(B @ C)) == ([42], [5])
            assert (value(A @ B), value(B @ C)) == ([42], [5])
            try:
                with second:
                    raise KeyError
            except KeyError:
                pass
            assert value(A @ B) == [42]
        assert value(A @ B) == [4]
        """,
        prelude=extra_kernels + SETUP,
    )


def test_threads_have_blocks_of_their_own(run_python: RunPython, extra_kernels: str) -> None:
    run_python(
        """
        seen, gate = {}, threading.Barrier(3)
        def run(name, result):
            gate.wait()
            for _ in range(200):
                if result is None:
                    seen.setdefault(name, set()).add(value(A @ B)[0])
                else:
                    with result:
                        seen.setdefault(name, set()).add(value(A @ B)[0])
        with first:
            threads = [threading.Thread(target=run, args=each) for each in
                       (("first", first), ("second", second), ("none", None))]
            for thread in threads: thread.start()
            for thread in threads: thread.join()
            assert value(A @ B) == [42]
        assert seen == {"first": {42}, "second": {43}, "none": {4}}, seen
        """,
        prelude=extra_kernels + SETUP,
    )


def test_a_backward_pass_is_governed_where_it_is_called(
    run_python: RunPython, extra_kernels: str
) -> None:
    """K6: by the block around `backward()`, and not by the one around the forward pass."""
    run_python(
        """
        x, w = torch.ones(3, 4, requires_grad=True), torch.ones(4, 5, requires_grad=True)
        forward = tunedops.mm.bind(x, w)
        gradients = AutotuningResult({
            bound: Measured((Measurement("Gemm_Constant_value_42", None),))
            for bound in forward.vjp()
        })
        y = x @ w
        with gradients:
            y.backward(torch.ones(3, 5))
        assert (value(x.grad), value(w.grad)) == ([42], [42])
        x.grad = w.grad = None
        with gradients:
            y = x @ w
            assert value(y.detach()) == [4], "it says nothing of the forward problem"
        y.backward(torch.ones(3, 5))
        assert (value(x.grad), value(w.grad)) == ([5], [3])
        """,
        prelude=extra_kernels + SETUP,
    )


def test_autograds_own_threads_are_governed_too(run_python: RunPython, extra_kernels: str) -> None:
    """Backward passes that are nested deeper than 60 go on in a thread of autograd's pool."""
    run_python(
        """
        found = []
        class Nested(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x, depth):
                ctx.depth = depth
                return x.clone()
            @staticmethod
            def backward(ctx, gradient):
                if ctx.depth == 0:
                    found.append((threading.get_ident(), value(A @ B)))
                else:
                    with torch.enable_grad():
                        x = torch.ones(1, requires_grad=True)
                        Nested.apply(x, ctx.depth - 1).backward()
                return gradient, None
        def run():
            Nested.apply(torch.ones(1, requires_grad=True), 70).backward()
        with first:
            run()
        run()
        threads, values = zip(*found)
        assert threading.get_ident() not in threads, "it was on this thread"
        assert values == ([42], [4])
        """,
        prelude=extra_kernels + SETUP,
    )


def test_compiled_functions_are_governed(run_python: RunPython, extra_kernels: str) -> None:
    """K6: the plan is looked up when a product runs, so nothing has to be compiled again."""
    run_python(
        """
        compiled = torch.compile(lambda a, b: torch.mm(a, b).clone(), backend="aot_eager")
        assert value(compiled(A, B)) == [4]
        with first:
            assert value(compiled(A, B)) == [42]
            with second:
                assert value(compiled(A, B)) == [43]
        assert value(compiled(A, B)) == [4]

        @torch.compile(backend="aot_eager")
        def with_a_block(a, b):
            with first:
                inner = torch.mm(a, b).clone()
            return inner, torch.mm(a, b).clone()
        inner, outer = with_a_block(A, B)
        assert (value(inner), value(outer)) == ([42], [4])
        """,
        prelude=extra_kernels + SETUP,
    )


def test_blocks_that_are_left_out_of_order_are_an_error_and_stay_nowhere(
    run_python: RunPython, extra_kernels: str
) -> None:
    run_python(
        """
        import asyncio
        async def in_a_block(block, longer):
            with block:
                await asyncio.sleep(longer)
        async def both():
            return await asyncio.gather(
                in_a_block(first, 0.05), in_a_block(second, 0.1), return_exceptions=True
            )
        for blocks in range(2):
            errors = asyncio.run(both())
            assert any("do not await or yield" in str(error) for error in errors), errors
            assert _C.current_overlay() == 0
            assert value(A @ B) == [4]

        def generator():
            with first:
                yield
        kept = generator()
        next(kept)
        def close():
            try:
                kept.close()
            except RuntimeError as error:
                said.append(str(error))
        said = []
        thread = threading.Thread(target=close)
        thread.start(); thread.join()
        assert "on another thread" in said[0], said
        """,
        prelude=extra_kernels + SETUP,
    )


@pytest.mark.parametrize("value", ["0", "1"])
def test_the_environment_can_forbid_it(
    run_python: RunPython, extra_kernels: str, value: str
) -> None:
    run_python(
        f"""
        with first:
            assert value(tunedops.mm(A, B)) == [{4 if value == "0" else 42}]
        assert value(tunedops.mm(A, B)) == [4]
        """,
        prelude=extra_kernels + SETUP,
        TUNEDOPS_ENABLED=value,
        TUNEDOPS_TUNING="0",
    )


def test_a_solution_that_cannot_run_is_told_of_once(
    run_python: RunPython, extra_kernels: str
) -> None:
    run_python(
        """
        import warnings
        stale = AutotuningResult({
            tunedops.mm.bind(A, B): Measured((Measurement("Gemm_Gone_tile_1", None),))
        })
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with stale:
                assert value(A @ B) == [4]
                assert value(A @ B) == [4]
        assert len(caught) == 1, caught
        text = str(caught[0].message)
        assert "'Gemm_Gone_tile_1'" in text and "means Default" in text, text
        """,
        prelude=extra_kernels + SETUP,
    )


def test_results_that_are_gone_leave_nothing_behind(
    run_python: RunPython, extra_kernels: str
) -> None:
    run_python(
        """
        import gc
        for n in range(300):
            with result_of((A, B, 42 + n % 2)):
                assert value(A @ B) == [42 + n % 2]
        gc.collect()
        assert value(A @ B) == [4]
        """,
        prelude=extra_kernels + SETUP,
    )


def test_who_bound_a_problem_does_not_matter(run_python: RunPython, extra_kernels: str) -> None:
    """Defect (d): a choice is found by the problem's key, and not by any object that called."""
    run_python(
        """
        import functools, pickle
        call = functools.partial(torch.matmul, other=B)
        module = torch.nn.Linear(B.shape[0], B.shape[1], bias=False)
        module.weight = torch.nn.Parameter(B.t().clone(), requires_grad=False)
        loaded = pickle.loads(pickle.dumps(first))
        again = type(first).loads(first.dumps())
        for result in (first, loaded, again):
            with result:
                for _ in range(2):
                    assert value(call(A)) == [42], "a new partial each time"
                assert value((lambda: A.clone() @ B.clone())()) == [42], "other tensors"
                assert value(torch.vmap(lambda a: a @ B)(A[None])) == [42]
        """,
        prelude=extra_kernels + SETUP,
    )


def test_results_that_are_forgotten_inside_their_block_go_on(
    run_python: RunPython, extra_kernels: str
) -> None:
    run_python(
        """
        import gc
        with tunedops.replay_only(on_miss="error"):
            first.__enter__()
            block = first
            del first
            gc.collect()
            assert value(A @ B) == [42]
            assert _C.is_replaying()
            block.__exit__(None, None, None)
        assert value(A @ B) == [4]
        """,
        prelude=extra_kernels + SETUP,
    )


def test_blocks_that_end_where_they_did_not_begin_leave_later_ones_alone(
    run_python: RunPython, extra_kernels: str
) -> None:
    """torch hands an overlay to threads on which no block began."""
    run_python(
        """
        from tunedops.overlay import begin, end

        class Reenter(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x, depth):
                ctx.depth = depth
                return x.clone()

            @staticmethod
            def backward(ctx, gradient):
                if ctx.depth:
                    with torch.enable_grad():
                        x = torch.ones(2, 2, requires_grad=True)
                        Reenter.apply(x, ctx.depth - 1).sum().backward()
                else:
                    end(block)  # so deep a pass goes on on a thread of its own
                return gradient, None

        block = begin(_C.forced_overlay("Gemm_Constant_value_42"))
        x = torch.ones(2, 2, requires_grad=True)
        Reenter.apply(x, 70).sum().backward()
        _C.exchange_overlay(0)
        for _ in range(3):
            with tunedops.replay_only():
                assert _C.is_replaying()
            with first:
                assert value(A @ B) == [42]
            assert value(A @ B) == [4]
        """,
        prelude=extra_kernels + SETUP,
    )


def test_a_thread_that_ends_inside_a_block_does_not_end_the_process_badly(
    run_python: RunPython,
) -> None:
    for _ in range(3):
        run_python(
            """
            import threading
            def work():
                globals()["block"] = tunedops.force("Default")
                block.__enter__()
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
            """
        )
