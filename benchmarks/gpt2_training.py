"""GPT-2 with 124 million weights in training, eager and compiled: with tunedops and without it.

The program (gpt2_program.py) imports torch and transformers only: float32 weights, under autocast
to bfloat16 unless told otherwise, as most people train. Each run is a fresh process, and the sides
differ in environment variables alone, as in gpt2.py. Nothing is padded: the vocabulary has 50257
words, which is no multiple of 8, and so three of the largest products of a step are not aligned.

    python benchmarks/gpt2_training.py [--compiled 0 1] [--from-trace] [--record NAME]

What the tuned side uses is found by a run that tunes as it goes; with `--from-trace` by the tools
for programs that are not to be changed: a step is profiled without tunedops, its products are
read from the trace, and `tune` tunes those.

A rate is the tokens of a step over the median of the steps without the first ones, in which
things are set up (and compiled). The sides take turns; a ratio is taken within a round, and the
median of the rounds' counts. Ends with an error if the losses differ. Needs transformers (the
extra `models`).
"""

from __future__ import annotations

import argparse
import importlib.metadata
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gpt2_runs
import gpt2_trace
import options
from gpt2_runs import SIDES, Run
from record import facts_of, write_record
from report import make_console
from rich.box import SIMPLE_HEAD
from rich.table import Table

PROGRAM_OPTIONS = ("device", "autocast", "layers", "attention", "batch", "length", "steps")
SET_UP = 3  # steps at the beginning that are not timed
TOLERANCE = 2e-2  # of losses, relatively: kernels add in another order


def parse_arguments(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """The arguments."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--device", default="cuda", choices=("cpu", "cuda"))
    parser.add_argument("--compiled", type=int, nargs="+", default=[0], choices=(0, 1))
    parser.add_argument("--autocast", default="bfloat16", choices=("none", "bfloat16"))
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--attention", default="sdpa", choices=("eager", "sdpa"))
    parser.add_argument("--batch", type=int, default=16, help="sequences of a step")
    parser.add_argument("--length", type=int, default=1024, help="tokens of a sequence")
    parser.add_argument("--steps", type=int, default=13, help=f"the first {SET_UP} are not timed")
    parser.add_argument("--from-trace", action="store_true", help="tune what a profile lists")
    parser.add_argument("--rounds", type=int, default=2, help="of the sides without and tuned")
    options.add_record(parser)
    arguments = parser.parse_args(argv)
    if arguments.steps <= SET_UP:
        parser.error(f"--steps: more than {SET_UP}, got {arguments.steps}")
    return arguments


def command_of(arguments: argparse.Namespace, compiled: int) -> list[str]:
    """The command line of the program."""
    chosen = {name: getattr(arguments, name) for name in PROGRAM_OPTIONS}
    chosen |= {"compiled": compiled, "generations": 0}
    return [text for name, value in chosen.items() for text in (f"--{name}", str(value))]


def row_of(run: Run, base: Run, tokens: int, **names: Any) -> dict[str, Any]:
    """What a run brought."""
    timed = run.step_seconds[SET_UP:]
    return {
        **names,
        "tokens_per_s": round(tokens / statistics.median(timed), 1),
        "step_ms": round(1e3 * statistics.median(timed), 3),
        "fastest_step_ms": round(1e3 * min(timed), 3),
        "whole_run_s": round(run.whole_s, 1),
        "loss_difference": max(
            abs(own - other) / abs(other)
            for own, other in zip(run.losses, base.losses, strict=True)
        ),
    }


def run_mode(arguments: argparse.Namespace, compiled: int, folder: Path) -> list[dict[str, Any]]:
    """The rows of all sides, eager or compiled."""
    command = command_of(arguments, compiled)
    tokens = arguments.batch * arguments.length
    rows: list[dict[str, Any]] = []

    def note(side: str, number: int, run: Run) -> None:
        names = {"mode": "compiled" if compiled else "eager", "side": side, "round": number}
        rows.append(row_of(run, base, tokens, **names))
        print(f"{rows[-1]}", flush=True)

    if arguments.from_trace:
        base = gpt2_trace.tune_profiled(command, folder, arguments.device)
        note("profiled", 0, base)
    else:
        base, _ = gpt2_runs.run_online(command, folder, SIDES["online"] or {})
        note("online", 0, base)
    for number in range(1, arguments.rounds + 1):
        order = ("without", "tuned") if number % 2 else ("tuned", "without")
        for side in order:
            note(side, number, gpt2_runs.run_program(command, folder, SIDES[side]))
    return rows


def summary_of(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Of each mode, how many times as fast tuned is as without tunedops."""
    found: dict[str, Any] = {}
    for mode in dict.fromkeys(row["mode"] for row in rows):
        rates = {
            (row["side"], row["round"]): row["tokens_per_s"] for row in rows if row["mode"] == mode
        }
        ratios = [
            rate / rates["without", number]
            for (side, number), rate in rates.items()
            if side == "tuned"
        ]
        found[f"{mode}_ratio"] = round(statistics.median(ratios), 4)
        found[f"{mode}_ratio_of_rounds"] = [round(ratio, 4) for ratio in ratios]
    found["loss_difference"] = max(row["loss_difference"] for row in rows)
    return found


def print_report(rows: Sequence[dict[str, Any]], summary: dict[str, Any]) -> None:
    """The sides as a table, then the ratios."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for column in ("mode", "side"):
        table.add_column(column)
    for column in ("tokens/s", "step [ms]"):
        table.add_column(column, justify="right")
    for mode, side in dict.fromkeys((row["mode"], row["side"]) for row in rows):
        own = [row for row in rows if (row["mode"], row["side"]) == (mode, side)]
        middle = [
            statistics.median(row[name] for row in own) for name in ("tokens_per_s", "step_ms")
        ]
        table.add_row(mode, side, f"{middle[0]:.0f}", f"{middle[1]:.2f}")
    console = make_console()
    console.print(table)
    for name, value in summary.items():
        console.print(f"{name}: {value}", soft_wrap=True)


def main(argv: Sequence[str] | None = None) -> None:
    """Runs the sides of each mode, prints and records them."""
    arguments = parse_arguments(argv)
    rows: list[dict[str, Any]] = []
    for compiled in arguments.compiled:
        with tempfile.TemporaryDirectory() as folder:
            rows += run_mode(arguments, compiled, Path(folder))
    summary = summary_of(rows)
    print_report(rows, summary)
    if arguments.record:
        facts = facts_of((arguments.device, 0)) | {
            "transformers": importlib.metadata.version("transformers"),
            "arguments": {name: getattr(arguments, name) for name in PROGRAM_OPTIONS},
            "summary": summary,
        }
        print(f"record: {write_record(rows, facts, arguments.record, list(rows[0]))}")
    if not summary["loss_difference"] <= TOLERANCE:  # also if it is NaN
        sys.exit(f"losses differ by {summary['loss_difference']:.2g}, allowed {TOLERANCE}")


if __name__ == "__main__":
    main()
