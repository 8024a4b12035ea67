"""Tuning from nothing, each time in a fresh process.

Kernels that one run loaded, clocks that it raised and results that it keeps in memory must not
help another that it is compared with.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import fresh_process
from fresh_process import Settings
from results_files import Solutions, solutions_in
from sides import DEFAULT, Key
from tuning_log import read_tuned

RESULTS = "results.csv"
LOG = "tuning.log"


@dataclass(frozen=True)
class Choice:
    """What was chosen for a problem, and how long that took, if the log says so."""

    solution: str
    tuned_ms: float | None


@dataclass(frozen=True)
class TuningRun:
    """What one process found."""

    solutions: Solutions
    tuned_ms: Mapping[Key, float]

    def choice_or_default(self, key: Key) -> Choice:
        """What a program takes: without a result Default, for a budget may be too small for any."""
        return self.choice(key) if key in self.solutions else Choice(DEFAULT, None)

    def choice(self, key: Key | None) -> Choice:
        """The choice for a problem.

        Raises:
            RuntimeError: there is none, since tuning it failed.
        """
        if key is None or key not in self.solutions:
            raise RuntimeError("a run has no result for it")
        return Choice(self.solutions[key], self.tuned_ms.get(key))


def tune_in_turn(
    workloads: Path, device: tuple[str, int], settings: Mapping[str, Settings]
) -> list[TuningRun]:
    """Tunes all products of a file, once with each of the settings, which have labels."""
    with tempfile.TemporaryDirectory() as name:
        folders = {label: Path(name) / str(number) for number, label in enumerate(settings)}
        for label, folder in folders.items():
            tune(workloads, device, folder, settings[label], label)
        # Only now, as it brings up the GPU in this process too.
        return [read_run(folder, device) for folder in folders.values()]


def tune(
    workloads: Path, device: tuple[str, int], folder: Path, settings: Settings, label: str
) -> None:
    """Tunes all products of a file in a process that works in a new folder.

    What it says about time and about other work on the machine is printed after the label.

    Raises:
        RuntimeError: it left no results.
    """
    folder.mkdir()
    place = "cpu" if device[0] == "cpu" else f"{device[0]}:{device[1]}"
    done = fresh_process.run(
        ["-m", "tunedops", "tune", str(workloads.resolve()), "--device", place, "-o", RESULTS],
        folder,
        {**settings, "VERBOSE": "1", "VERBOSE_FILENAME": LOG},
    )
    for line in done.stdout.splitlines():
        if line.startswith("tuned ") or line.endswith("when the machine is idle"):
            print(f"{label}: {line}", flush=True)
    words = f"{label}: tuning ended with {done.returncode}:\n{done.stderr[-4000:]}"
    if not (folder / RESULTS).exists():
        raise RuntimeError(words)
    if done.returncode != 0:  # one problem or another; the others have results
        print(words, file=sys.stderr, flush=True)
    elif done.stderr:  # a setting that is none, for one
        print(f"{label}: {done.stderr[-4000:]}", file=sys.stderr, flush=True)


def read_run(folder: Path, device: tuple[str, int]) -> TuningRun:
    """What `tune` left in a folder."""
    log = folder / LOG
    tuned = read_tuned(log.read_text()) if log.exists() else []
    keys = [one.key.partition(",") for one in tuned]
    return TuningRun(
        solutions=solutions_in(folder / RESULTS, device),
        tuned_ms={
            (op, params): one.ms for (op, _, params), one in zip(keys, tuned, strict=True) if one.ms
        },
    )
