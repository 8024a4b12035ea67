"""Builds overhead_threads.cpp into build/, once for each torch.

    python benchmarks/overhead_library.py    builds it and prints where it is

The program that measures asks for it in a process of its own, since torch's tools for building
log what they find lacking, such as a GPU, when they are imported.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

SOURCE = Path(__file__).with_name("overhead_threads.cpp")


def build() -> str:
    """Builds what is not up to date.

    Returns:
        The library's path.
    """
    import torch
    from torch.utils import cpp_extension

    folder = SOURCE.parents[1] / "build" / "overhead" / torch.__version__
    folder.mkdir(parents=True, exist_ok=True)
    # A ninja that pip installed is beside this Python, which need not be in the path.
    os.environ["PATH"] = os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]])
    return cpp_extension.load(
        name="tunedops_overhead",
        sources=[str(SOURCE)],
        extra_cflags=["-std=c++20", "-O2"],
        build_directory=str(folder),
        is_python_module=False,
    )


def built() -> str:
    """The library's path, after a build in another process.

    Raises:
        RuntimeError: it cannot be built; the message is the compiler's.
    """
    done = subprocess.run([sys.executable, __file__], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{SOURCE.name} cannot be built:\n{done.stdout}{done.stderr}")
    return done.stdout.splitlines()[-1]


if __name__ == "__main__":
    print(build())
