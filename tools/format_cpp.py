"""Runs clang-format over the project's C++ and CUDA files, which no file list names.

python tools/format_cpp.py --check    exits with 1 if a file would change
python tools/format_cpp.py --fix      formats in place
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import clang_format

ROOT = Path(__file__).resolve().parents[1]
SUFFIXES = {".h", ".cuh", ".cpp", ".cu"}


def main(arguments: list[str]) -> int:
    if arguments not in (["--check"], ["--fix"]):
        raise SystemExit(__doc__)
    how = ["--dry-run", "--Werror"] if arguments == ["--check"] else ["-i"]
    folders = (ROOT / "csrc", ROOT / "tests/cpp", ROOT / "benchmarks")
    files = [p for f in folders for p in f.rglob("*") if p.suffix in SUFFIXES]
    if not files:
        return 0
    program = Path(clang_format.__file__).parent / "data/bin/clang-format"
    return subprocess.call([program, *how, *sorted(files)])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
