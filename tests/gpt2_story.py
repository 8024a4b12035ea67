"""What a small GPT-2 of transformers lives through, for the tests on the CPU and on a GPU.

The program (benchmarks/gpt2_program.py) runs without tunedops and then, with environment
variables alone, while it is tuned. What the pace left out is tuned from the list of it, and
the program runs once more, its products counted and a miss an error.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import gpt2_runs
import tunedops
from conftest import UNHURRIED
from gpt2_runs import Decisions, Run
from tuning_log import Tuned

MAX_VARIANTS = 8
TOTAL_BUDGET_S = 2
LIMITS = UNHURRIED | {"MAX_VARIANTS": str(MAX_VARIANTS), "TOTAL_BUDGET_S": str(TOTAL_BUDGET_S)}
MODEL = {"layers": 2, "width": 64, "heads": 2, "vocabulary": 1000, "generations": 1}

# A row's product: layout, sizes, batch, and what is appended, without distances and alignment.
PARAMS = re.compile(
    r"([nt]{2})_(\d+)_(\d+)_(\d+)(?:_B_(\d+))?_ld_[\d_]+(?:_stride_[\d_]+)?(?:_align_[\d_]+)?(.*)"
)


@dataclass(frozen=True)
class Story:
    """What came of it."""

    without: Run
    online: Run
    tuned_online: list[Tuned]
    results_online: Path
    """A copy of the results file as it was after the online run."""
    after: Run
    decisions: Decisions


def live_through(folder: Path, **options: str | int) -> Story:
    """Runs all of it in an empty folder; `options` are the program's."""
    words = (MODEL | options).items()
    command = [text for name, value in words for text in (f"--{name}", str(value))]
    without = gpt2_runs.run_program(command, folder, None)
    online, tuned = gpt2_runs.run_online(
        command, folder, {"ENABLED": "1", "RECORD_UNTUNED": "1", **LIMITS}
    )
    results_online = folder / "online.csv"
    results_online.write_text(gpt2_runs.results_file(folder).read_text())
    tune_untuned(folder)
    after, decisions = gpt2_runs.run_counted(
        command, folder, {"ENABLED": "1", "TUNING": "0", "ON_MISS": "error"}
    )
    return Story(without, online, tuned, results_online, after, decisions)


def tune_untuned(folder: Path) -> None:
    """Tunes what the online run listed, by the command that a user would type."""
    (listed,) = folder.glob("tunedops_untuned*.csv")
    device = "cpu" if "_cpu" in listed.name else "cuda"
    variables = os.environ | {f"TUNEDOPS_{name}": text for name, text in LIMITS.items()}
    variables["PYTHONPATH"] = str(Path(tunedops.__file__).parents[1])
    tuned = subprocess.run(
        [sys.executable, "-m", "tunedops", "tune", listed.name, "--device", device],
        cwd=folder,
        env=variables,
        check=False,
        capture_output=True,
        text=True,
    )
    assert tuned.returncode == 0, f"{tuned.stdout}\n{tuned.stderr}"


def imports_of(program: Path) -> set[str]:
    """The packages that a program names, wherever it imports them."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(program.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
    return {name.partition(".")[0] for name in names}


def largest_family(results: Path) -> int:
    """The most rows that differ in one size only: m, n, k or the batch."""
    families: Counter[tuple[str | None, ...]] = Counter()
    for line in results.read_text().splitlines():
        op, params, *_ = line.split(",")
        if op == "Validator":
            continue
        product = PARAMS.fullmatch(params)
        assert product, params
        layout, *sizes, rest = product.groups()
        for position in range(len(sizes)):
            others = [size for i, size in enumerate(sizes) if i != position]
            families[(op, layout, str(position), *others, rest)] += 1
    return max(families.values())


def check_losses(story: Story, tolerance: float) -> None:
    """Training came out the same, on all sides."""
    for run in (story.online, story.after):
        assert len(run.losses) == len(story.without.losses)
        for loss, expected in zip(run.losses, story.without.losses, strict=True):
            assert abs(loss - expected) <= tolerance * abs(expected)
    assert story.without.losses[-1] < story.without.losses[0], "it learns"


def check_routing(story: Story) -> None:
    """Every product that torch computed was asked for and had a result (a miss is an error)."""
    decisions = story.decisions
    assert decisions.count() > 500
    assert decisions.unasked() == []
    assert decisions.missed == frozenset()
    assert decisions.from_file == frozenset(decisions.calls)


def check_pace(story: Story) -> None:
    """Online tuning stopped at its budget, and for a growing size at its number of values."""
    assert story.tuned_online
    assert len({one.key for one in story.tuned_online}) == len(story.tuned_online)
    # The last may begin just before the budget is spent, and is finished then.
    before_the_last = sum(one.ms for one in story.tuned_online[:-1])
    assert before_the_last <= 1e3 * TOTAL_BUDGET_S
    largest = largest_family(story.results_online)
    assert largest <= MAX_VARIANTS
    # One that the end of the budget cut short has no result and is not in the log.
    spent = before_the_last + story.tuned_online[-1].ms
    assert largest == MAX_VARIANTS or spent >= 0.75 * 1e3 * TOTAL_BUDGET_S
