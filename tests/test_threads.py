"""Our loops run on as many threads as torch's: a build without -fopenmp has one, silently."""

from __future__ import annotations

import pytest
import torch
from conftest import RunPython
from tunedops import _C


@pytest.mark.smoke
@pytest.mark.parametrize("count", [1, 2, 3])
def test_as_many_threads_as_torch(count: int) -> None:
    torch.set_num_threads(count)
    assert torch.get_num_threads() == count
    assert _C.parallel_threads() == count


@pytest.mark.parametrize("count", ["1", "2"])
def test_the_environment_counts(run_python: RunPython, count: str) -> None:
    done = run_python(
        "print(_C.parallel_threads(), torch.get_num_threads())", OMP_NUM_THREADS=count
    )
    assert done.stdout.split() == [count, count]


def test_products_inside_a_parallel_region_count_one_thread(run_python: RunPython) -> None:
    # Products of other Python threads have the whole pool; the key says how much.
    run_python(
        """
        from threading import Thread
        tunedops.enable()
        thread = Thread(target=lambda: tunedops.mm(torch.ones(2, 3), torch.ones(3, 4)))
        thread.start()
        thread.join()
        (result,) = tunedops.get_results()
        assert result.params.endswith("_threads_2")
        torch.set_num_threads(1)
        tunedops.mm(torch.ones(2, 3), torch.ones(3, 4))
        assert [r.params[-10:] for r in tunedops.get_results()] == ["_threads_1", "_threads_2"]
        """
    )
