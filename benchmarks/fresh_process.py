"""Fresh processes beside a benchmark's own, with settings of tunedops that it chooses.

Other settings of tunedops that whoever starts a benchmark has in the environment are not handed
on, nor is there a personal cache or a database, so that a process is what the benchmark says it
is.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import tunedops

TIMEOUT_SECONDS = 1800
PREFIX = "TUNEDOPS_"

# What a benchmark does not know of must not choose.
FILE_ONLY = {"CACHE_DIR": "", "DATABASE_DIR": ""}

Settings = Mapping[str, str]
"""Settings without their prefix."""


def environment(settings: Settings | None = None) -> dict[str, str]:
    """The variables of a process: ours, with these settings of tunedops and no others."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith(PREFIX)}
    chosen = {} if settings is None else FILE_ONLY | dict(settings)
    return kept | {f"{PREFIX}{name}": text for name, text in chosen.items()}


def run(
    arguments: Sequence[str], folder: Path, settings: Settings | None
) -> subprocess.CompletedProcess[str]:
    """Runs Python with these arguments, working in `folder`; it may fail."""
    # With the folder that holds tunedops comes its entry point, by which torch finds it.
    paths = [str(Path(tunedops.__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment(settings) | {"PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
    )
