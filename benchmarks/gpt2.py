"""GPT-2 of Hugging Face transformers, trained and writing: without tunedops, and with it.

The program (gpt2_program.py) imports torch and transformers only. Each run is a fresh
process, and the sides differ in environment variables alone:

- without: none;
- online: `TUNEDOPS_ENABLED=1`, from no results file on: products are tuned as they come;
- tuned: also `TUNEDOPS_TUNING=0`, with the results file that the online run wrote.

Rates leave out what happens once: the start of the process and making the model, the first
training step, and the first generation. A generation has two rates: *prefill* is the prompts'
tokens over the time until the first tokens are there; *generation* is the tokens after these
over the time after that. (A record without prefill is older: its generation is of all tokens and
of the whole time.)

The whole of the online run is reported too, with the time that tuning took and the longest wait
for one token. The sides without and tuned take turns for some rounds; a ratio is taken within a
round, and the median of the rounds' counts. Where other work disturbs them the rounds differ
much; the ratio of the best then says more.

A last run counts: torch's own dispatcher says which products the program computes, tunedops
says what it decided for each (gpt2_count.py), and the two must agree. With eager attention and
a cache of keys and values, two products of a layer grow with each token, and only the first
`MAX_VARIANTS` of them are tuned; the others count as misses.

On a CPU the model has 4 of GPT-2's 12 layers, unless told otherwise: each layer has the same
products, and all of it takes some two minutes on two idle cores. Where others use the cores
too, `OMP_WAIT_POLICY=passive` keeps threads that spin from hiding what is measured.

    python benchmarks/gpt2.py [--device cuda] [--record NAME]

GPT-2 as it is, which reads prompts and continues them, without training:

    python benchmarks/gpt2.py --layers 12 --steps 0 --prompt 512 --texts 8 [--record NAME]

Needs transformers (the extra `models`). Ends with an error if the losses differ, if a product
went past tunedops, or if tuning went on after its budget.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gpt2_runs
import options
import torch
from gpt2_report import faults_of, print_report, summary_of
from gpt2_rows import COLUMNS, TIMES, row_of, sentence_of
from gpt2_runs import SIDES, Decisions, Run
from record import facts_of, write_record
from tunedops import _C
from tuning_log import Tuned

# What the program is told for each device; other options are the same for both.
DEVICE_DEFAULTS: dict[str, dict[str, Any]] = {
    "cpu": {"dtype": "float32", "layers": 4, "steps": 4, "batch": 1, "length": 128},
    "cuda": {"dtype": "bfloat16", "layers": 12, "steps": 8, "batch": 8, "length": 512},
}
PROGRAM_OPTIONS = (
    *("device", "dtype", "attention", "layers", "width", "heads", "vocabulary"),
    *("steps", "batch", "length", "texts", "prompt", "tokens", "generations"),
)
# How far losses may differ, relatively: kernels add in another order.
TOLERANCE = {"float32": 1e-3, "bfloat16": 2e-2}


def parse_arguments(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """The arguments, with the device's defaults put in."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--dtype", choices=sorted(TOLERANCE))
    parser.add_argument("--attention", default="eager", choices=("eager", "sdpa"))
    parser.add_argument("--layers", type=int)
    parser.add_argument("--width", type=int, default=768)
    parser.add_argument("--heads", type=int, default=12)
    parser.add_argument("--vocabulary", type=int, default=50257)
    parser.add_argument("--steps", type=int, help="of training; 0 for none")
    parser.add_argument("--batch", type=int, help="sequences of a training step")
    parser.add_argument("--length", type=int, help="tokens of a training sequence")
    parser.add_argument("--texts", type=int, default=1, help="texts that are written at once")
    parser.add_argument("--prompt", type=int, default=16, help="tokens of a text that are given")
    parser.add_argument("--tokens", type=int, default=200, help="tokens of a text to generate")
    parser.add_argument("--generations", type=int, default=3, help="the first is not timed")
    parser.add_argument("--rounds", type=int, default=3, help="of the sides without and tuned")
    options.add_settings(parser)
    options.add_record(parser)
    arguments = parser.parse_args(argv)
    for name, value in DEVICE_DEFAULTS[arguments.device].items():
        if getattr(arguments, name) is None:
            setattr(arguments, name, value)
    options.take_settings(parser, arguments)
    return arguments


def program_arguments(arguments: argparse.Namespace, **other: Any) -> list[str]:
    """The command line of the program."""
    chosen = {name: getattr(arguments, name) for name in PROGRAM_OPTIONS} | other
    return [text for name, value in chosen.items() for text in (f"--{name}", str(value))]


@dataclass
class Findings:
    """What all runs together brought."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    tuned: list[Tuned] = field(default_factory=list)
    decisions: Decisions = field(default_factory=Decisions)


def run_all(arguments: argparse.Namespace, folder: Path) -> Findings:
    """Runs every side, then the counted run."""
    command = program_arguments(arguments)
    settings = {side: {**arguments.setting, **own} for side, own in SIDES.items() if own}
    found = Findings()
    base = gpt2_runs.run_program(command, folder, None)

    def note(side: str, number: int, run: Run) -> None:
        found.rows.append(row_of(side, number, run, base, arguments))
        found.warnings += [line for line in run.warnings if line not in found.warnings]
        print(f"{side} {number}: {sentence_of(run)}", flush=True)

    note("without", 0, base)
    online, found.tuned = gpt2_runs.run_online(command, folder, settings["online"])
    note("online", 0, online)
    for number in range(1, arguments.rounds + 1):
        order = ("without", "tuned") if number % 2 else ("tuned", "without")
        for side in order:
            note(side, number, gpt2_runs.run_program(command, folder, settings.get(side)))
    counted, found.decisions = gpt2_runs.run_counted(
        program_arguments(arguments, generations=1), folder, settings["tuned"]
    )
    note("counted", 0, counted)
    for column in TIMES:  # counting took most of it
        del found.rows[-1][column]
    return found


def total_budget_s(arguments: argparse.Namespace) -> float:
    """The setting that holds in the online run."""
    standard = next(row[2] for row in _C.describe_settings() if row[0] == "TOTAL_BUDGET_S")
    return float(arguments.setting.get("TOTAL_BUDGET_S", standard))


def main(argv: Sequence[str] | None = None) -> None:
    """Runs the sides, prints and records them."""
    arguments = parse_arguments(argv)
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        found = run_all(arguments, Path(folder))
        results = gpt2_runs.results_file(Path(folder)).read_text()
    summary = summary_of(found.rows, found.tuned, found.decisions, total_budget_s(arguments))
    faults = faults_of(summary, found.tuned, found.warnings, TOLERANCE[arguments.dtype])
    print_report(found.rows, summary, arguments.tokens)
    if arguments.record:
        facts = facts_of((arguments.device, 0)) | {
            "host": _C.device_name(("cpu", 0)),
            "host_threads": torch.get_num_threads(),
            "host_load_before": load,
            "openmp": {name: os.environ[name] for name in os.environ if name.startswith("OMP_")},
            "transformers": importlib.metadata.version("transformers"),
            "arguments": {name: getattr(arguments, name) for name in PROGRAM_OPTIONS},
            "settings": arguments.setting,
            "summary": summary,
            "failed": faults,
        }
        path = write_record(found.rows, facts, arguments.record, COLUMNS)
        path.with_name(f"{path.stem}_tuned.csv").write_text(results)
        print(f"record: {path}")
    if faults:
        sys.exit("\n".join(faults))


if __name__ == "__main__":
    main()
