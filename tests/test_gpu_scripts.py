"""What the scripts for machines with a GPU say where something lacks: one message, no traceback."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[1] / "tools"
SCRIPTS = ("gpu_check.sh", "gpu_memcheck.sh")
FAKE_TORCH = """\
class device:
    def __init__(self, name):
        self.type, _, index = name.partition(":")
        self.index = int(index) if index else None

class cuda:
    is_available = staticmethod(lambda: COUNT > 0)
    device_count = staticmethod(lambda: COUNT)
    get_device_capability = staticmethod(lambda device: (9, 0))
"""


def run(script: str, folder: Path, torch: str | None, **environment: str) -> str:
    """What a script prints with a Python whose torch is such a module; it must fail."""
    python = folder / "python"
    # -S: without the packages that this Python has.
    python.write_text(f'#!/bin/sh\nPYTHONPATH={folder} exec {sys.executable} -S "$@"\n')
    python.chmod(0o755)
    if torch is not None:
        (folder / "torch.py").write_text(torch)
    # Only what the scripts need: a sanitizer may be anywhere else.
    programs = folder / "bin"
    programs.mkdir()
    (programs / "dirname").symlink_to(shutil.which("dirname") or "/usr/bin/dirname")
    done = subprocess.run(
        [shutil.which("bash") or "/bin/bash", str(TOOLS / script)],
        env={"PATH": str(programs), "PYTHON": str(python), "CUDA_HOME": "/none", **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    return done.stderr


@pytest.mark.parametrize("script", SCRIPTS)
def test_without_torch(script: str, tmp_path: Path) -> None:
    said = run(script, tmp_path, None)
    assert said.endswith("has no torch that can be imported; PYTHON may name another one\n")
    assert said.count("\n") == 1


@pytest.mark.parametrize("script", SCRIPTS)
def test_without_a_gpu(script: str, tmp_path: Path) -> None:
    said = run(script, tmp_path, f"COUNT = 0\n{FAKE_TORCH}")
    assert "torch sees no GPU" in said
    assert said.count("\n") == 1


def test_a_gpu_that_is_not_there(tmp_path: Path) -> None:
    said = run("gpu_check.sh", tmp_path, f"COUNT = 1\n{FAKE_TORCH}", DEVICE="cuda:7")
    assert "torch sees no GPU 'cuda:7' here" in said


def test_with_a_gpu_and_no_sanitizer(tmp_path: Path) -> None:
    said = run("gpu_memcheck.sh", tmp_path, f"COUNT = 1\n{FAKE_TORCH}")
    assert "compute-sanitizer was not found" in said
    assert "cuda-sanitizer-<version>" in said
