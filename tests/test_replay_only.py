"""`replay_only`: a block in which nothing is tuned or written, to repeat a run (K7)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import tunedops
from conftest import RunPython, messages
from tunedops import _C


def test_nothing_is_tuned_or_written_and_what_is_stored_is_used(
    tuning: None, results_path: Path, write_results: Callable[..., str]
) -> None:
    a, b, c = torch.randn(12, 20), torch.randn(20, 28), torch.randn(28, 4)
    bound = tunedops.mm.bind(a, b)
    text = write_results(",".join((*bound.key, "Gemm_OneDnn")))
    tunedops.read_file()
    with tunedops.replay_only():
        told = tunedops.explanation(bound)
        assert (told.decided_by, told.solution) == ("results file", "Gemm_OneDnn")
        a @ b @ c
        assert messages(tunedops.write_file) == [
            "tunedops: results are not saved: this is inside replay_only()"
        ]
        for explicit in (
            lambda: tunedops.autotune([bound]),
            lambda: _C.tune(("cpu", 0), *bound.key, True),
        ):
            with pytest.raises(RuntimeError, match="replay_only"):
                explicit()
    assert results_path.read_text() == text
    assert len(tunedops.get_results()) == 1
    a @ b @ c
    assert len(tunedops.get_results()) == 2, "outside it is tuned as ever"


def test_a_miss_can_be_an_error(stored_only: None) -> None:
    a, b = torch.randn(12, 20), torch.randn(20, 28)
    with tunedops.replay_only(on_miss="error"), pytest.raises(RuntimeError) as caught:
        a @ b
    assert ",".join(tunedops.mm.bind(a, b).key) in str(caught.value)
    assert "replay_only" in str(caught.value)
    _C.set_setting("ON_MISS", "error")
    with tunedops.replay_only(on_miss="default"):
        a @ b
    with tunedops.replay_only(), pytest.raises(RuntimeError, match="tune it before"):
        a @ b


def test_it_reaches_backward_passes_and_blocks_inside(stored_only: None) -> None:
    x = torch.randn(12, 20, requires_grad=True)
    w = torch.randn(20, 28, requires_grad=True)
    loss = (x @ w).sum()
    with tunedops.replay_only(on_miss="error"), pytest.raises(RuntimeError, match="no result"):
        loss.backward()
    with tunedops.replay_only(on_miss="error"), tunedops.force("Gemm_OneDnn"):
        x.detach() @ w.detach()
        with pytest.raises(RuntimeError, match="replay_only"):
            tunedops.autotune(torch.mm, x, w)


def test_it_works_as_a_decorator_and_checks_its_argument(stored_only: None) -> None:
    @tunedops.replay_only(on_miss="error")
    def product() -> None:
        torch.randn(3, 4) @ torch.randn(4, 5)

    for _ in range(2):
        with pytest.raises(RuntimeError, match="no result is stored"):
            product()
    with pytest.raises(ValueError, match="must be default, heuristic or error, got 'raise'"):
        tunedops.replay_only(on_miss="raise").__enter__()
    with pytest.raises(TypeError, match="on_miss"):
        tunedops.replay_only(on_miss=1).__enter__()  # type: ignore[arg-type]


def test_the_environment_does_it_for_a_whole_process(run_python: RunPython) -> None:
    done = run_python(
        """
        tunedops.enable()
        torch.randn(3, 4) @ torch.randn(4, 5)
        try:
            tunedops.autotune(torch.mm, torch.randn(3, 4), torch.randn(4, 5))
        except RuntimeError as error:
            print(json.dumps([len(tunedops.get_results()), str(error), os.listdir()]))
        """,
        TUNEDOPS_READ_ONLY="1",
    )
    assert json.loads(done.stdout) == [
        0,
        "autotune: TUNEDOPS_READ_ONLY is on, which allows no tuning",
        [],
    ]


def test_where_the_environment_forbids_lookups_it_forbids_tuning_all_the_same(
    run_python: RunPython,
) -> None:
    run_python(
        """
        a, b = torch.randn(3, 4), torch.randn(4, 5)
        result = tunedops.autotune(torch.mm, a, b)
        with tunedops.replay_only(on_miss="error"):
            a @ b  # torch's own, as everywhere
            for refused in (
                lambda: tunedops.autotune(torch.mm, a, b),
                lambda: tunedops.cache.save(result),
            ):
                try:
                    refused()
                except RuntimeError as error:
                    assert "replay_only" in str(error), error
                else:
                    raise AssertionError("it was done")
        assert _C.current_overlay() == 0
        """,
        TUNEDOPS_ENABLED="0",
    )
