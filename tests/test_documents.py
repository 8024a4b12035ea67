"""What README and guide say of single products holds here, so that neither goes stale alone."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import tunedops
from conftest import CPU, keys
from tunedops import _C

ROOT = Path(__file__).parents[1]


def text_of(name: str) -> str:
    """A document in one line."""
    return " ".join((ROOT / name).read_text().split())


def test_a_product_that_only_torch_can_run() -> None:
    assert "such as a batched product of float64 on a CPU" in text_of("docs/user_guide.md")
    for dtype, is_only_torchs in ((torch.float64, True), (torch.float32, False)):
        batch = torch.empty(4, 8, 8, dtype=dtype)
        key = _C.key_of(batch, batch)
        assert key is not None
        assert (_C.candidates(CPU, *key) == ["Default"]) == is_only_torchs


@pytest.mark.usefixtures("tuning")
def test_matrix_times_vector_comes_to_us_and_a_convolution_does_not() -> None:
    assert "Convolutions and fused attention [do not come to us]" in text_of("README.md")
    torch.nn.functional.conv1d(torch.randn(1, 4, 16), torch.randn(8, 4, 3))
    assert keys() == []
    torch.mv(torch.randn(24, 40), torch.randn(40))
    assert len(keys()) == 1


def test_who_has_only_the_package_finds_the_workloads() -> None:
    guide = text_of("docs/user_guide.md")
    assert "print(tunedops.get_workloads())" in guide
    assert '"$workloads/gpt2_124m.csv"' in guide
    assert (tunedops.get_workloads() / "gpt2_124m.csv").is_file()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("README.md", "USE_CUDA=0"),
        ("README.md", "`make tune` needs"),
        ("README.md", "TUNEDOPS_ROTATING_BUFFER_SIZE=0"),
        ("README.md", "float16"),
        ("docs/user_guide.md", "TUNEDOPS_ROTATING_BUFFER_SIZE=0"),
        ("docs/user_guide.md", "These limits are those of one process"),
        ("docs/user_guide.md", "ONEDNN_MAX_CPU_ISA"),
    ],
)
def test_what_newcomers_asked_is_answered(name: str, words: str) -> None:
    assert words in text_of(name)
