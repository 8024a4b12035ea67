"""Products on several streams and threads at once.

Splits of k meet in workspace and are counted, so two products that shared either would
spoil each other. Every result is compared bit for bit with one that was computed alone.
"""

from __future__ import annotations

import threading

import pytest
import torch
import tunedops
from gpu_products import assert_right, forced_plans_run, randn
from repeated_work import THROUGH_MEMORY, Work, solutions, split_by_cublaslt
from tunedops import _C

__all__ = ["forced_plans_run"]
pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("error:tunedops")]
GPU = ("cuda", 0)


@pytest.mark.usefixtures("forced_plans_run")
def test_streams_share_neither_workspace_nor_counters() -> None:
    works = [Work(solution) for solution in solutions() for _ in range(3)]
    streams = [torch.cuda.Stream() for _ in works]
    torch.cuda.synchronize()
    for _ in range(50):
        for work, stream in zip(works, streams, strict=True):
            with torch.cuda.stream(stream):
                work.run()
    torch.cuda.synchronize()
    for work in works:
        work.check(50)


@pytest.mark.usefixtures("forced_plans_run")
def test_one_stream_serves_products_that_want_different_amounts() -> None:
    # The stream's workspace grows in between, while earlier products may still run.
    works = [Work(THROUGH_MEMORY, *shape) for shape in [(1, 64), (8, 512), (32, 2048)]]
    stream = torch.cuda.Stream(priority=-1)  # of a pool that others hardly use
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        for work in [*works, *reversed(works)] * 10:
            work.run()
    torch.cuda.synchronize()
    for work in works:
        work.check(20)


@pytest.mark.usefixtures("forced_plans_run")
@pytest.mark.parametrize("streams", ["own", "one"])
def test_threads(streams: str) -> None:
    # On one stream too: a product can be two launches, and another thread's comes between.
    several = [*solutions(), *split_by_cublaslt()]
    works = [Work(solution) for solution in several for _ in range(3)]
    shared = torch.cuda.Stream()
    torch.cuda.synchronize()
    failures: list[BaseException] = []

    def run(work: Work) -> None:
        try:
            with torch.cuda.stream(torch.cuda.Stream() if streams == "own" else shared):
                for _ in range(50):
                    work.run()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    torch.cuda.synchronize()
    for work in works:
        work.check(50)


def test_tuned_products_do_not_share_a_workspace() -> None:
    a, b = randn(16, 8192), randn(8192, 256)
    expected = a.double() @ b.double()
    tunedops.enable()
    tunedops.mm(a, b)
    streams = [torch.cuda.Stream() for _ in range(4)]
    results = []
    torch.cuda.synchronize()
    for stream in streams * 8:
        with torch.cuda.stream(stream):
            results.append(tunedops.mm(a, b))
    torch.cuda.synchronize()
    for result in results:
        assert_right(result, expected, 8192)


def test_a_program_may_synchronize_while_another_thread_tunes() -> None:
    outcomes = []

    def tune() -> None:
        for n in (8, 24, 64):
            params = f"tn_512_{n}_1024_ld_1024_1024_512"
            outcomes.append(_C.tune(GPU, "GemmTunableOp_BFloat16_TN", params, False))

    thread = threading.Thread(target=tune)
    thread.start()
    total = torch.zeros((), device="cuda")
    additions = 0
    try:
        while thread.is_alive():
            total += 1
            additions += 1
            torch.cuda.synchronize()
            assert total.item() == additions
    finally:
        thread.join()
    assert [outcome.failure for outcome in outcomes] == ["", "", ""]
