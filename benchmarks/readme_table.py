"""Writes the README's benchmark blocks from the records in benchmarks/results.

The README holds no number that is not in a record: this replaces what stands between the
`benchmark` comments, and with --check only says whether it is up to date.

    python benchmarks/readme_table.py [--check]
"""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from families import LEFT, LIBRARY, TUNABLEOP, TUNED, Family, Row, families, number_text
from record import read_record
from rounds import geomean

README = Path(__file__).resolve().parents[1] / "README.md"
FAMILIES = {
    "decode": "1 to 64 rows of x: the layers of a language model that writes token by token",
    "prefill": "512 and 2048 rows: the same layers while they read a prompt",
    "train": "4096 rows, forward and backward",
    "unaligned": "sizes that no vector load divides, such as a vocabulary of 50257",
    "batched": "`bmm`: many small products, and attention",
    "splitk": "few outputs, each a long sum",
    "fp32": "float32, without TF32",
    "midm": "between decode and prefill, where tiles fit badly",
    "epilogue": "layers with a bias (`linear`)",
}
FIRST_COLUMNS = ("family", "rows", "geomean", "worst", "worst row", ">= 1.02x")
LAST_COLUMN = "torch/floor"
COLUMNS = (
    "All ratios are torch's time over another: above 1 is faster than torch. *geomean* and "
    "*worst* are those of a family's rows, *>= 1.02x* is the share of its rows that are faster "
    "by 2 % or more. "
)
LIBRARY_COLUMN = (
    "*library kernels only* is what is tuned where only torch's kernel, cuBLAS and cuBLASLt "
    "compete (geometric mean). "
)
MORE_COLUMNS = (
    "*TunableOp's procedure, emulated* is what that procedure would choose among torch's kernel "
    "and the first eight proposals of cuBLASLt's heuristic, timed beside the others (geometric "
    "mean); torch's own TunableOp has these candidates from torch 2.14 on, and in torch 2.11 "
    "only `Default` on CUDA. *torch/floor* is how many times the floor torch's own "
    "kernel takes (geometric mean), and no result of ours: the floor is the time by the measured "
    "copy bandwidth and product rate. It is no hard limit: reads alone are a little faster."
)
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
        f"(`benchmarks/results/{name}.csv`).",
        "",
    ]
    found = families(rows)
    with_library = any(LIBRARY in family.sides for family in found)
    lines += family_table(found, [LIBRARY, TUNABLEOP] if with_library else [TUNABLEOP])
    text = COLUMNS + (LIBRARY_COLUMN if with_library else "") + MORE_COLUMNS
    lines += ["", *textwrap.wrap(text, 95), "", "The families:", ""]
    lines += [f"- {one.name}: {FAMILIES[one.name]}" for one in found if one.name in FAMILIES]
    return "\n".join(lines)


def family_table(found: Sequence[Family], others: Sequence[str]) -> list[str]:
    """A line for each family: what is tuned, and the geometric means of other sides."""
    header = [*FIRST_COLUMNS, *others, LAST_COLUMN]
    lines = [
        f"| {' | '.join(header)} |",
        f"|{'|'.join('---' if column in LEFT else '---:' for column in header)}|",
    ]
    for family in found:
        means = [
            f"{family.sides[side].geomean:.3f}x" if side in family.sides else "-" for side in others
        ]
        own = [family.name, str(family.rows), *family.sides[TUNED].cells()]
        lines.append(f"| {' | '.join([*own, *means, number_text(family.over_floor)])} |")
    return lines


def cpu_block(rows: Sequence[Row], facts: dict[str, Any], name: str) -> str:
    """The facts, and a line for each product."""
    ratios = [float(row["ratio"]) for row in rows]
    lines = [
        "### On a CPU",
        "",
        f"{facts['device']}, {facts['threads']} threads, torch {facts['torch']}, "
        f"{facts['date'][:10]}; {facts['method']}. "
        f"Geometric mean {geomean(ratios):.2f}x over {len(rows)} rows, worst {min(ratios):.2f}x "
        f"(`benchmarks/results/{name}.csv`).{one_thread()}",
        "",
        "*of the floor* is the part of the tuned time that memory and arithmetic take at best, "
        "as measured in the same run; what comes from a cache in part may take less.",
        "",
        "| product | torch [us] | tuned [us] | ratio | of the floor | solution |",
        "|---|---:|---:|---:|---:|---|",
    ]
    for row in rows:
        lines.append(
            f"| {row['problem']} | {float(row['default_us']):.1f} "
            f"| {float(row['tuned_us']):.1f} | {float(row['ratio']):.2f}x "
            f"| {float(row['floor_us']) / float(row['tuned_us']):.0%} "
            f"| `{row['solution']}` |"
        )
    return "\n".join(lines)


def one_thread() -> str:
    """The same with one thread, if that was recorded."""
    found = read_record("cpu_one_thread")
    if found is None:
        return ""
    ratios = [float(row["ratio"]) for row in found[0]]
    return (
        f" With one thread {geomean(ratios):.2f}x, worst {min(ratios):.2f}x "
        "(`benchmarks/results/cpu_one_thread.csv`)."
    )


def tuning_block() -> str:
    """What larger budgets would have gained, and whether tuning chooses the same again."""
    budgets, repeated = read_record("regret_gpu"), read_record("repeat_gpu")
    if budgets is None or repeated is None:
        return ""
    rows, facts = budgets
    lines = [
        "### How long to tune",
        "",
        *textwrap.wrap(
            f"{len(rows)} products of the table, tuned on an {facts['device']} from nothing with "
            "each of these budgets (`MAX_TUNING_BUDGET_MS`), then all winners of a product timed "
            "beside each other in a process that tunes nothing. *Regret* is the part by which a "
            "winner takes longer than the best of them (`benchmarks/results/regret_gpu.csv`).",
            95,
        ),
        "",
        "| budget | regret, median | regret, worst | a product takes, median |",
        "|---:|---:|---:|---:|",
    ]
    for budget, one in facts["summary"].items():
        lines.append(
            f"| {budget} ms | {one['regret_median']:.1%} | {one['regret_worst']:.1%} "
            f"| {one['tuning_ms_median']:.0f} ms |"
        )
    summary = repeated[1]["summary"]
    alike = summary["choices"] - summary["choices_unlike_the_most_frequent"]
    text = (
        f"Of {summary['products']} products that were tuned {summary['times']} times, each time "
        f"in a fresh process, {summary['products'] - summary['products_with_several_winners']} "
        f"got the same kernel every time, and {alike} of {summary['choices']} choices are their "
        "product's most frequent. Winners of one product differ by "
        f"{summary['largest_difference']:.1%} at most (`benchmarks/results/repeat_gpu.csv`)."
    )
    return "\n".join([*lines, "", *textwrap.wrap(text, 95)])


def block(name: str) -> str:
    """What stands in the block of that name."""
    if name == "tuning":
        return tuning_block()
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
    for name in ("gpu", "tuning", "cpu"):
        wanted = replace_block(wanted, name, block(name))
    if not arguments.check:
        README.write_text(wanted)
    elif text != wanted:
        sys.exit("README.md is not what the records say: run benchmarks/readme_table.py")


if __name__ == "__main__":
    main()
