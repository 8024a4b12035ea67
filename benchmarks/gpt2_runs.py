"""Runs of the GPT-2 program: how each is started in a fresh process, and what came of it.

tunedops comes in by environment variables alone.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import fresh_process
from fresh_process import Settings
from tuning_log import Tuned, read_tuned

FOLDER = Path(__file__).resolve().parent
OUR_WORDS = re.compile(r"\btunedops: |\bTUNEDOPS_")

# Each side's settings; None: tunedops is not there.
SIDES: dict[str, Settings | None] = {
    "without": None,
    "online": {"ENABLED": "1"},
    "tuned": {"ENABLED": "1", "TUNING": "0"},
}

TUNING_LOG = "tuning.log"
TRACE = "trace.log"
# As the setting VERBOSE=3 writes them.
DECIDED = re.compile(r"(\S+): ([a-z ]+), (Default|a plan of ours)(, for this call only)?")


@dataclass(frozen=True)
class Generation:
    """Texts that were written at once: the tokens of each step, and the seconds until then."""

    tokens: tuple[tuple[int, ...], ...]
    """For each step one of each text."""
    seconds: tuple[float, ...]

    def longest_wait(self) -> float:
        """The most seconds for one step."""
        return max(
            end - begin for begin, end in zip((0.0, *self.seconds), self.seconds, strict=False)
        )


@dataclass(frozen=True)
class Run:
    """What one process did."""

    whole_s: float
    losses: tuple[float, ...]
    step_seconds: tuple[float, ...]
    generations: tuple[Generation, ...]
    warnings: tuple[str, ...]
    """Lines of standard error that are ours."""

    def timed_steps(self) -> tuple[float, ...]:
        """Seconds of the training steps, without the first, which sets everything up."""
        return self.step_seconds[1:] or self.step_seconds

    def timed_generations(self) -> tuple[Generation, ...]:
        """The generations without the first, for the same reason."""
        return self.generations[1:] or self.generations

    def prefill_seconds(self) -> tuple[float, ...]:
        """Seconds until the first tokens of a generation, which reads the prompts until then."""
        return tuple(one.seconds[0] for one in self.timed_generations())

    def writing_seconds(self) -> tuple[float, ...]:
        """Seconds of a generation from then on; none if there is one step only."""
        return tuple(
            one.seconds[-1] - one.seconds[0]
            for one in self.timed_generations()
            if len(one.seconds) > 1
        )


@dataclass(frozen=True)
class Decisions:
    """What tunedops decided in a counted run, and how often products asked for it."""

    calls: Mapping[str, int] = field(default_factory=dict)
    """Calls of each key, by torch's own account."""
    from_file: frozenset[str] = frozenset()
    """Keys that have a result."""
    ours: frozenset[str] = frozenset()
    """Keys for which another kernel than torch's runs."""
    missed: frozenset[str] = frozenset()
    """Keys without a result."""

    def count(self, keys: frozenset[str] | None = None) -> int:
        """Calls of these keys, or of all."""
        return sum(n for key, n in self.calls.items() if keys is None or key in keys)

    def unasked(self) -> list[str]:
        """Products of the program that tunedops was never asked about."""
        return sorted(set(self.calls) - self.from_file - self.missed)


def start(
    script: str, arguments: Sequence[str], folder: Path, settings: Settings | None
) -> tuple[list[dict[str, Any]], float, tuple[str, ...]]:
    """Runs a script of this folder, working in `folder`.

    Returns:
        The objects that it printed, the seconds that the process took, and the warnings.

    Raises:
        RuntimeError: it failed.
    """
    begin = time.perf_counter()
    done = fresh_process.run([str(FOLDER / script), *arguments], folder, settings)
    seconds = time.perf_counter() - begin
    if done.returncode != 0:
        raise RuntimeError(f"{script} failed with {settings}:\n{done.stderr[-4000:]}")
    warnings = tuple(line for line in done.stderr.splitlines() if OUR_WORDS.search(line))
    return [json.loads(line) for line in done.stdout.splitlines()], seconds, warnings


def run_program(arguments: Sequence[str], folder: Path, settings: Settings | None) -> Run:
    """Runs the program once."""
    return read_run(*start("gpt2_program.py", arguments, folder, settings))


def read_run(said: Sequence[dict[str, Any]], seconds: float, warnings: tuple[str, ...]) -> Run:
    """What `start` returned, if it ran the program."""
    steps = [line for line in said if "loss" in line]
    return Run(
        whole_s=seconds,
        losses=tuple(line["loss"] for line in steps),
        step_seconds=tuple(line["seconds"] for line in steps),
        generations=tuple(
            Generation(tuple(map(tuple, line["tokens"])), tuple(line["seconds"]))
            for line in said
            if "tokens" in line
        ),
        warnings=warnings,
    )


def run_online(
    arguments: Sequence[str], folder: Path, settings: Settings
) -> tuple[Run, list[Tuned]]:
    """Runs the program while it is tuned, and tells what was tuned."""
    log = {"VERBOSE": "1", "VERBOSE_FILENAME": TUNING_LOG}
    run = run_program(arguments, folder, {**settings, **log})
    return run, read_tuned((folder / TUNING_LOG).read_text())


def run_counted(
    arguments: Sequence[str], folder: Path, settings: Settings
) -> tuple[Run, Decisions]:
    """Runs the program while its products are counted, and tells what was decided for them."""
    trace = {"VERBOSE": "3", "VERBOSE_FILENAME": TRACE}
    said, seconds, warnings = start("gpt2_count.py", arguments, folder, {**settings, **trace})
    decisions = read_decisions(said[-1]["calls"], (folder / TRACE).read_text())
    return read_run(said, seconds, warnings), decisions


def read_decisions(calls: Mapping[str, int], trace: str) -> Decisions:
    """Puts together what torch counted and what `VERBOSE=3` wrote."""
    decided = [one for one in map(DECIDED.fullmatch, trace.splitlines()) if one]
    # A thread that has not met a key yet asks again, so a key may be decided twice.
    return Decisions(
        calls=calls,
        from_file=frozenset(one[1] for one in decided if one[2] == "from the file"),
        ours=frozenset(one[1] for one in decided if one[3] != "Default"),
        missed=frozenset(one[1] for one in decided if one[2] == "on miss"),
    )


def results_file(folder: Path) -> Path:
    """The file that a run in this folder wrote."""
    (path,) = folder.glob("tunedops_results*.csv")
    return path
