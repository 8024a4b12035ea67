"""Products in CUDA graphs: captured without tuning, replayed beside anything else.

A graph may be replayed on any stream, at the same time as other graphs and eager work, so
each product in it has workspace and counters that nobody else has.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import tunedops
from conftest import RunPython
from gpu_products import assert_right, forced_plans_run, has_clusters, randn
from repeated_work import IN_CLUSTERS, THROUGH_MEMORY, Work, solutions
from tunedops import _C

__all__ = ["forced_plans_run"]
pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("error:tunedops")]
GPU = ("cuda", 0)


def capture(action: Callable[[], None], times: int = 1) -> torch.cuda.CUDAGraph:
    """Without the synchronization that `torch.cuda.graph` begins with."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.stream(torch.cuda.Stream()):
        graph.capture_begin()
        try:
            for _ in range(times):
                action()
        finally:
            graph.capture_end()
    return graph


def test_a_capture_is_not_tuned_and_replays() -> None:
    a, b = randn(32, 512), randn(512, 96)
    torch.mm(a, b)  # torch's handles, before the capture
    tunedops.enable()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=torch.cuda.Stream()):
        y = tunedops.mm(a, b)
    assert tunedops.get_results("cuda") == ()
    a.copy_(randn(32, 512))
    graph.replay()
    tunedops.enable(False)
    assert_right(y, a.double() @ b.double(), 512)
    tunedops.enable()
    tunedops.mm(a, b)
    stored = [result.op for result in tunedops.get_results("cuda")]
    assert stored.count("GemmTunableOp_BFloat16_NN") == 1


def test_a_product_that_is_captured_is_recorded_once(tmp_path: Path) -> None:
    a, b = randn(32, 512), randn(512, 96)
    torch.mm(a, b)  # torch's handles, before the capture
    tunedops.enable()
    tunedops.record_untuned_enable()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=torch.cuda.Stream()):
        for _ in range(3):
            tunedops.mm(a, b)
            torch.mm(a, b[:, 1:])  # begins at 2 bytes
    path = tmp_path / "untuned0.csv"
    listed = path.read_text().splitlines()
    assert listed == [
        "GemmTunableOp_BFloat16_NN,nn_96_32_512_ld_96_512_96",
        "GemmTunableOp_BFloat16_NN,nn_95_32_512_ld_96_512_95_align_2_16_16",
    ]
    graph.replay()
    assert path.read_text().splitlines() == listed
    tunedops.tune_gemm_in_file(path, device="cuda")
    tunedops.tuning_enable(False)
    _C.set_setting("ON_MISS", "error")
    tunedops.mm(a, b)
    torch.mm(a, b[:, 1:])


@pytest.mark.usefixtures("forced_plans_run")
def test_graphs_run_beside_each_other_and_beside_eager_work() -> None:
    captured = [Work(solution) for solution in solutions() for _ in range(2)]
    eager = [Work(solution) for solution in solutions()]
    torch.cuda.synchronize()
    graphs = [capture(work.run, times=3) for work in captured]
    streams = [torch.cuda.Stream() for _ in range(len(graphs) + len(eager))]
    torch.cuda.synchronize()
    for _ in range(50):
        for graph, stream in zip(graphs, streams, strict=False):
            with torch.cuda.stream(stream):
                graph.replay()
        for work, stream in zip(eager, streams[len(graphs) :], strict=True):
            with torch.cuda.stream(stream):
                work.run()
    torch.cuda.synchronize()
    for work in captured:
        work.check(150)
    for work in eager:
        work.check(50)


@pytest.mark.usefixtures("forced_plans_run")
def test_products_of_one_graph_on_several_streams() -> None:
    works = [Work(THROUGH_MEMORY) for _ in range(3)]
    torch.cuda.synchronize()

    def fork_and_join() -> None:
        begin = torch.cuda.current_stream()
        branches = [torch.cuda.Stream() for _ in works]
        for work, branch in zip(works, branches, strict=True):
            branch.wait_stream(begin)
            with torch.cuda.stream(branch):
                work.run()
        for branch in branches:
            begin.wait_stream(branch)

    graph = capture(fork_and_join)
    for _ in range(20):
        graph.replay()
    torch.cuda.synchronize()
    for work in works:
        work.check(20)


@pytest.mark.usefixtures("forced_plans_run")
def test_captures_survive_tuning_on_another_thread() -> None:
    work = Work(THROUGH_MEMORY)
    torch.cuda.synchronize()
    outcomes = []

    def tune() -> None:
        for n in (8, 24, 64):
            params = f"nn_512_{n}_1024_ld_512_1024_512"
            outcomes.append(_C.tune(GPU, "GemmTunableOp_BFloat16_NN", params, False))

    thread = threading.Thread(target=tune)
    thread.start()
    graphs = []
    try:
        while thread.is_alive() and len(graphs) < 200:
            graphs.append(capture(work.run, times=3))
            thread.join(0.002)
    finally:
        thread.join()
    assert [outcome.failure for outcome in outcomes] == ["", "", ""]
    for graph in graphs:
        graph.replay()
    torch.cuda.synchronize()
    work.check(3 * len(graphs))


@pytest.mark.usefixtures("forced_plans_run")
def test_a_capture_survives_the_first_product_of_another_stream() -> None:
    # It allocates the stream's workspace.
    captured, eager = Work(THROUGH_MEMORY), Work(THROUGH_MEMORY, 31, 4096)
    out = torch.empty_like(eager.expected)
    stream = torch.cuda.Stream(priority=-1)  # of a pool that others hardly use
    torch.cuda.synchronize()

    def product() -> None:
        with torch.cuda.stream(stream), tunedops.force(THROUGH_MEMORY):
            tunedops.mm(eager.x, eager.w.t(), out=out)

    def run() -> None:
        thread = threading.Thread(target=product)
        thread.start()
        thread.join()
        captured.run()

    graph = capture(run)
    graph.replay()
    torch.cuda.synchronize()
    captured.check(1)
    assert torch.equal(out, eager.expected)


def test_a_capture_may_be_the_first_that_a_process_does(run_python: RunPython) -> None:
    rows = [(512, THROUGH_MEMORY), (640, "Gemm_Cublas")]
    rows += [(768, IN_CLUSTERS)] if has_clusters() else []
    run_python(
        f"""
        import warnings
        warnings.filterwarnings("error", message="tunedops")
        rows = {rows!r}
        GPU = ("cuda", 0)
        x = torch.randn(8, 4096, device="cuda").bfloat16()
        weights = [torch.randn(m, 4096, device="cuda").bfloat16() for m, _ in rows]
        with open("results.csv", "w") as file:
            for key, value in _C.validators(GPU).items():
                file.write(f"Validator,{{key}},{{value}}\\n")
            for w, (m, solution) in zip(weights, rows):
                file.write(",".join([*_C.key_of(x, w.t()), solution]) + "\\n")
        tunedops.set_filename("results.csv")
        tunedops.enable()
        tunedops.tuning_enable(False)
        _C.set_setting("ON_MISS", "error")
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            results = [product(x, w.t()) for product in (tunedops.mm, torch.mm) for w in weights]
        for _ in range(3):
            x.copy_(torch.randn(8, 4096, device="cuda"))
            graph.replay()
            for y, w in zip(results, weights * 2):
                expected = (x.double().unsqueeze(1) * w.double()).sum(-1)
                error = (y.double() - expected).abs()
                assert (error <= expected.abs() / 64 + 1).all(), error.max()
        found = {{r.solution for r in tunedops.get_results("cuda")}}
        assert found == {{solution for _, solution in rows}}, found
        """
    )
