"""Writes the README's benchmark blocks from the records in benchmarks/results.

The README holds no number that is not in a record: this replaces what stands between the
`benchmark` comments, and with --check only says whether it is up to date.

    python benchmarks/readme_table.py [--check]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from families import HEADER, RIGHT, Row, families
from record import read_record
from rounds import geomean

README = Path(__file__).resolve().parents[1] / "README.md"
NOT_RECORDED = "Not recorded yet: `make gpu-check RECORD=gpu` does it on a machine with a GPU."


def gpu_block(rows: Sequence[Row], facts: dict[str, Any], name: str) -> str:
    """A heading with the device's name, the facts, and a line for each family."""
    driver = facts["nvidia_smi"].get("driver_version")
    about = [
        f"torch {facts['torch']}, cuBLASLt {facts['validators']['CUBLASLT_VERSION']}",
        f"driver {driver}" if driver else "",
        facts["date"][:10],
        f"{len(facts['failed'])} rows failed" if facts["failed"] else "",
    ]
    lines = [
        f"### On one {facts['device']}",
        "",
        f"{', '.join(part for part in about if part)}; {facts['method']} "
        f"(`benchmarks/results/{name}.csv`). TunableOp is what its procedure chooses among "
        "cuBLASLt's proposals; the floor is the time that the measured copy bandwidth and "
        "product rate allow at best.",
        "",
        f"| {' | '.join(HEADER)} |",
        f"|{'|'.join('---:' if column in RIGHT else '---' for column in HEADER)}|",
    ]
    lines += [f"| {' | '.join(family.cells())} |" for family in families(rows)]
    return "\n".join(lines)


def cpu_block(rows: Sequence[Row], facts: dict[str, Any], name: str) -> str:
    """The facts, and a line for each product."""
    ratios = [float(row["ratio"]) for row in rows]
    lines = [
        "### On a CPU",
        "",
        f"{facts['device']}, {facts['threads']} threads, torch {facts['torch']}, "
        f"{facts['date'][:10]}; {facts['method']}. "
        f"Geometric mean {geomean(ratios):.2f}x over {len(rows)} rows, worst {min(ratios):.2f}x "
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


def block(name: str) -> str:
    """What stands in the block of that name."""
    found = read_record(name)
    if found is None:
        return f"### On a GPU\n\n{NOT_RECORDED}"
    make = cpu_block if name == "cpu" else gpu_block
    return make(*found, name)


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
    text = wanted = README.read_text()
    for name in ("gpu", "cpu"):
        wanted = replace_block(wanted, name, block(name))
    if not arguments.check:
        README.write_text(wanted)
    elif text != wanted:
        sys.exit("README.md is not what the records say: run benchmarks/readme_table.py")


if __name__ == "__main__":
    main()
