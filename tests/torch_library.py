"""Builds C++ that calls torch, as an extension of somebody else would be built."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import torch


def compiler() -> str | None:
    return shutil.which("c++") or shutil.which("g++")


def build(source: str, folder: Path) -> Path:
    """Compiles the source into a library for `torch.ops.load_library`."""
    file, library = folder / "source.cpp", folder / "library.so"
    file.write_text(source)
    place = Path(torch.__file__).parent
    includes = [place / "include", place / "include/torch/csrc/api/include"]
    command = [compiler(), "-std=c++20", "-O3", "-fPIC", "-shared", str(file), "-o", str(library)]
    subprocess.run(
        [
            *command,
            *(f"-isystem{path}" for path in includes),
            *(f"-L{place / 'lib'}", "-ltorch_cpu", "-lc10"),
        ],
        check=True,
    )
    return library
