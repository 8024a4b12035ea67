"""Tuning the GPT-2 program by its profile, as one does with a program that is not to be changed.

A run without tunedops writes a trace of its last step, `trace-to-bound-args` reads the products
from it, and `tune` tunes them into the results file that later runs in the folder find.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import fresh_process
import gpt2_runs
from gpt2_runs import Run

TRACE = "trace.json.gz"
PROBLEMS = "bound_args.json"


def tune_profiled(program: Sequence[str], folder: Path, device: str) -> Run:
    """Profiles the program and tunes what it multiplied; returns the profiled run.

    Raises:
        RuntimeError: one of the steps failed.
    """
    run = gpt2_runs.run_program([*program, "--profile", TRACE], folder, None)
    command("trace-to-bound-args", "--trace", TRACE, "-o", PROBLEMS, folder=folder)
    command("tune", PROBLEMS, "--device", device, folder=folder)
    return run


def command(*arguments: str, folder: Path) -> None:
    """Runs a command of tunedops and shows what it says."""
    done = fresh_process.run(["-m", "tunedops", *arguments], folder, {})
    print(done.stdout, flush=True)
    if done.returncode != 0:
        raise RuntimeError(f"{arguments[0]} failed:\n{done.stderr[-4000:]}")
