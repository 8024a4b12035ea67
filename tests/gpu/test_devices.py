"""More than one GPU: each has its own results, file, streams, workspace and counters.

The current device is another one than the operands' wherever a test can make it so.
"""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
import torch
import tunedops
from conftest import RunPython, messages
from gpu_products import assert_right, forced_plans_run, has_clusters
from repeated_work import IN_CLUSTERS, THROUGH_MEMORY, K
from torch import Tensor
from tunedops import _C

__all__ = ["forced_plans_run"]
pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two GPUs"),
]


def operands(device: int, rows: int = 8) -> tuple[Tensor, Tensor, Tensor]:
    """x, the weights' transpose, and their exact product."""
    x = torch.randn(rows, K, device=f"cuda:{device}").bfloat16()
    w = torch.randn(512, K, device=f"cuda:{device}").bfloat16().t()
    return x, w, x.double() @ w.double()


def test_results_and_files_belong_to_the_operands_device(tmp_path: Path) -> None:
    tunedops.set_filename(tmp_path / "r.csv", insert_device_ordinal=True)
    x, w, expected = operands(1)
    tunedops.enable()
    assert_right(tunedops.mm(x, w), expected, K)
    assert torch.cuda.current_device() == 0
    assert len(tunedops.get_results("cuda:1")) == 1
    assert tunedops.get_results("cuda:0") == ()
    assert (tmp_path / "r1.csv").exists()
    assert not (tmp_path / "r0.csv").exists()
    assert _C.filename(("cuda", 0)) == str(tmp_path / "r0.csv")


def test_an_exact_name_serves_the_first_device(tmp_path: Path) -> None:
    path = tmp_path / "exact.csv"
    # Made before: the products that are expected are looked up too, once that is on.
    x, w, _ = operands(1)
    x0, w0, _ = operands(0)
    tunedops.set_filename(path)
    tunedops.enable()
    tunedops.tuning_enable(False)
    first = messages(lambda: tunedops.mm(x, w))
    second = messages(lambda: tunedops.mm(x0, w0))
    assert first == []
    assert len(second) == 1
    assert _C.filename(("cuda", 1)) == str(path)
    assert _C.filename(("cuda", 0)) == str(tmp_path / "exact0.csv")


@pytest.mark.usefixtures("forced_plans_run")
def test_streams_workspace_and_counters_are_the_devices_own() -> None:
    solutions = [THROUGH_MEMORY, "Gemm_Cublas"] + ([IN_CLUSTERS] if has_clusters() else [])
    work = [operands(device) for device in (0, 1)]
    for solution in solutions:
        results = []
        for current in (0, 1):
            streams = [torch.cuda.Stream(device=device) for device in (0, 1)]
            with torch.cuda.device(current):
                torch.cuda.synchronize(0)
                torch.cuda.synchronize(1)
                with tunedops.force(solution):
                    for (x, w, expected), stream in zip(work, streams, strict=True):
                        results.append((tunedops.mm(x, w), expected))
                        # Each device has a stream of its own that is current there.
                        with torch.cuda.stream(stream), torch.cuda.device(current):
                            results += [(tunedops.mm(x, w), expected) for _ in range(20)]
                assert torch.cuda.current_device() == current
        torch.cuda.synchronize(0)
        torch.cuda.synchronize(1)
        for result, expected in results:
            assert_right(result, expected, K, solution)


@pytest.mark.usefixtures("forced_plans_run")
def test_a_graph_of_the_other_device() -> None:
    x, w, expected = operands(1)
    with tunedops.force(THROUGH_MEMORY):
        tunedops.mm(x, w)
    with torch.cuda.device(1):
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=torch.cuda.Stream(device=1)):
            with tunedops.force(THROUGH_MEMORY):
                y = tunedops.mm(x, w)
        y.fill_(0)
        graph.replay()
    torch.cuda.synchronize(1)
    assert_right(y, expected, K)


def test_tuning_on_both_from_two_threads(tmp_path: Path) -> None:
    tunedops.set_filename(tmp_path / "r.csv", insert_device_ordinal=True)
    failures: list[BaseException] = []

    def tune(device: int) -> None:
        try:
            for rows in (1, 8, 40):
                x, w, expected = operands(device, rows)
                key = _C.key_of(x, w)
                assert key is not None
                assert _C.tune(("cuda", device), *key, True).failure == ""
                assert_right(tunedops.mm(x, w), expected, K)
        except BaseException as error:
            failures.append(error)

    tunedops.enable()
    tunedops.tuning_enable(False)
    threads = [threading.Thread(target=tune, args=(device,)) for device in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    for device in (0, 1):
        assert len(tunedops.get_results(f"cuda:{device}")) == 3
        assert (tmp_path / f"r{device}.csv").exists()


def test_a_list_is_tuned_on_both_and_both_have_all(run_python: RunPython, tmp_path: Path) -> None:
    done = run_python(
        """
        shapes = [f"nn_64_{n}_64_ld_64_64_64" for n in range(8, 16)]
        for index, part in enumerate((shapes[:5], shapes[3:])):
            with open(f"tunableop_untuned{index}.csv", "w") as file:
                file.writelines(f"GemmTunableOp_BFloat16_NN,{shape}\\n" for shape in part)
        tunedops.mgpu_tune_gemm_in_file("tunableop_untuned?.csv", 2)
        results = [tunedops.get_results(f"cuda:{index}") for index in range(2)]
        alike = tunedops.get_validators("cuda:0") == tunedops.get_validators("cuda:1")
        for own in results:
            assert sorted(result.params for result in own) == sorted(shapes)
        if alike:
            solutions = [[(r.params, r.solution, r.time_ms) for r in own] for own in results]
            assert solutions[0] == solutions[1]
        print("done")
        """
    )
    assert done.stdout == "done\n"
    for index in range(2):
        assert "nn_64_15_64" in (tmp_path / f"tunedops_results{index}.csv").read_text()
