"""What is said of a device that cannot be used: which of three things lacks."""

from __future__ import annotations

import pytest
import torch
import tunedops
from tunedops import _C
from tunedops.cli.main import main
from tunedops.device import parse_device


@pytest.fixture
def gpus(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A build with CUDA, on a machine with two GPUs whose second one is current."""
    monkeypatch.setattr(_C, "built_with_cuda", True)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 1)
    return monkeypatch


def test_devices_that_are_there(gpus: pytest.MonkeyPatch) -> None:
    assert parse_device(None) == parse_device("cpu") == parse_device("cpu:0") == ("cpu", 0)
    assert parse_device("cuda") == parse_device(torch.device("cuda:1")) == ("cuda", 1)
    assert parse_device("cuda:0") == ("cuda", 0)


@pytest.mark.parametrize("name", ["cpu:1", "cpu:7"])
def test_there_is_one_cpu(name: str) -> None:
    with pytest.raises(ValueError, match=f"there is no '{name}': the processors are one device"):
        parse_device(name)


@pytest.mark.parametrize("name", ["mps", "meta", "xpu:1"])
def test_a_kind_of_device_that_we_do_not_know(gpus: pytest.MonkeyPatch, name: str) -> None:
    with pytest.raises(ValueError, match=f"no backend for device '{name}', only for cpu and cuda"):
        parse_device(name)


def test_a_build_without_cuda(gpus: pytest.MonkeyPatch) -> None:
    gpus.setattr(_C, "built_with_cuda", False)
    with pytest.raises(ValueError, match="is for CPUs only, so 'cuda:1' cannot be used"):
        parse_device("cuda:1")


def test_a_machine_without_a_gpu(gpus: pytest.MonkeyPatch) -> None:
    gpus.setattr(torch.cuda, "is_available", lambda: False)
    for name in ("cuda", "cuda:0"):
        with pytest.raises(ValueError, match=f"torch sees no GPU here, so there is no '{name}'"):
            tunedops.get_results(name)


def test_an_index_that_is_too_large(gpus: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="no 'cuda:7': torch sees 2 GPUs, cuda:0 to cuda:1"):
        parse_device("cuda:7")
    gpus.setattr(torch.cuda, "device_count", lambda: 1)
    with pytest.raises(ValueError, match=r"no 'cuda:7': torch sees 1 GPU, cuda:0$"):
        parse_device("cuda:7")


@pytest.mark.parametrize("name", ["cpu:1", "cuda:7", "cuda:-1", "cuda:99999999999", "tpu", ""])
def test_the_command_line_says_it_in_one_line(
    gpus: pytest.MonkeyPatch, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in (["check", "none.csv"], ["tune", "none.csv"]):
        assert main([*words, "--device", name]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith(f"tunedops: --device {name}: ")
        assert err.count("\n") == 1
