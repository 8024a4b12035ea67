"""Writes the README's benchmark table from a record in benchmarks/results.

The README holds no number that is not in a record: this replaces what stands between the
`benchmark` comments, and with --check only says whether it is up to date.

    python benchmarks/readme_table.py [--check]
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import statistics
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RECORDS = ROOT / "benchmarks" / "results"
README = ROOT / "README.md"


def cpu_table(name: str) -> str:
    """The table of one CPU record, with the facts that it depends on."""
    with open(RECORDS / f"{name}.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    facts = json.loads((RECORDS / f"{name}.json").read_text())
    ratios = [float(row["ratio"]) for row in rows]
    geomean = math.exp(statistics.fmean(math.log(ratio) for ratio in ratios))
    lines = [
        f"{facts['device']}, {facts['threads']} threads, torch {facts['torch']}, "
        f"{facts['date'][:10]}; {facts['method']}. "
        f"Geometric mean {geomean:.2f}x over {len(rows)} rows, worst {min(ratios):.2f}x "
        f"(`benchmarks/results/{name}.csv`).",
        "",
        "| product | torch [us] | tuned [us] | ratio | solution |",
        "|---|---:|---:|---:|---|",
    ]
    for row in rows:
        lines.append(
            f"| {row['problem']} | {float(row['default_us']):.1f} "
            f"| {float(row['tuned_us']):.1f} | {float(row['ratio']):.2f}x "
            f"| `{row['solution']}` |"
        )
    return "\n".join(lines)


def replace_block(text: str, name: str, content: str) -> str:
    """`text` with the block of that name filled anew."""
    begin, end = f"<!-- benchmark:{name}:begin -->", f"<!-- benchmark:{name}:end -->"
    head, rest = text.split(begin)
    _, tail = rest.split(end)
    return f"{head}{begin}\n{content}\n{end}{tail}"


def main() -> None:
    """Fills the README's blocks, or checks that they are filled as the records say."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    text = README.read_text()
    wanted = replace_block(text, "cpu", cpu_table("cpu"))
    if not arguments.check:
        README.write_text(wanted)
    elif text != wanted:
        sys.exit("README.md is not what the records say: run benchmarks/readme_table.py")


if __name__ == "__main__":
    main()
