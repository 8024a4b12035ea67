"""Starting up leaves the GPU alone: it belongs to the program, and perhaps to its children."""

from __future__ import annotations

import pytest
from conftest import RunPython

pytestmark = pytest.mark.gpu
NOTHING = "import json, os, sys\n"


@pytest.mark.parametrize("start", ["import torch", "import tunedops, torch"])
def test_the_driver_is_not_started(run_python: RunPython, start: str) -> None:
    # Once the driver has started, this variable means nothing any more.
    run_python(
        f"""
        {start}
        os.environ["CUDA_VISIBLE_DEVICES"] = ""
        assert not torch.cuda.is_available()
        torch.ones(4, 4) @ torch.ones(4, 4)
        """,
        prelude=NOTHING,
        TUNEDOPS_ENABLED="1",
        CUDA_VISIBLE_DEVICES=None,
    )


def test_a_forked_child_may_use_the_gpu(run_python: RunPython) -> None:
    run_python(
        """
        import torch
        torch.ones(4, 4) @ torch.ones(4, 4)
        child = os.fork()
        if child == 0:
            x = torch.ones(4, 4, device="cuda")
            os._exit(0 if (x @ x).sum().item() == 64 else 1)
        assert os.waitpid(child, 0)[1] == 0
        """,
        prelude=NOTHING,
        TUNEDOPS_ENABLED="1",
    )
