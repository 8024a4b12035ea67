"""A comparison on disk: the rows as CSV and, beside them, what they depend on as JSON."""

from __future__ import annotations

import csv
import datetime
import json
import platform
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
import tunedops
from families import Row
from tunedops import _C

FOLDER = Path(__file__).resolve().parent / "results"
COLUMNS = (
    "problem",
    "suite",
    "default_us",
    "tuned_us",
    "ratio",
    "ratio_p10",
    "ratio_p90",
    "rounds",
    "solution",
    "library_us",
    "library_ratio",
    "library_solution",
    "emulated_tunableop_us",
    "emulated_tunableop_ratio",
    "emulated_tunableop_solution",
    "floor_us",
)
CLOCKS = ("driver_version", "clocks.sm", "clocks.max.sm", "clocks.mem", "power.draw", "power.limit")


def record_stem(name: str) -> Path:
    """Where a record is, without its extensions: a name in the folder, or a path."""
    path = Path(name.removesuffix(".csv"))
    return path if len(path.parts) > 1 else FOLDER / path


def write_record(
    rows: Sequence[Row], facts: dict[str, Any], name: str, columns: Sequence[str] = COLUMNS
) -> Path:
    """Writes both files; of `columns` those that the rows have.

    Returns:
        The CSV.
    """
    stem = record_stem(name)
    stem.parent.mkdir(parents=True, exist_ok=True)
    path = stem.with_name(f"{stem.name}.csv")
    with open(path, "w", newline="") as file:
        names = [column for column in columns if column in rows[0]]
        writer = csv.DictWriter(file, fieldnames=names, lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({key: rounded(value) for key, value in row.items()})
    stem.with_name(f"{stem.name}.json").write_text(json.dumps(facts, indent=2) + "\n")
    return path


def read_record(name: str) -> tuple[list[dict[str, str]], dict[str, Any]] | None:
    """The rows and the facts of a record; None if it was never made."""
    stem = record_stem(name)
    path = stem.with_name(f"{stem.name}.csv")
    if not path.exists():
        return None
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    return rows, json.loads(stem.with_name(f"{stem.name}.json").read_text())


def rounded(value: Any) -> Any:
    """A number with as many decimals as mean something."""
    return round(value, 4) if isinstance(value, float) else value


def facts_of(device: tuple[str, int]) -> dict[str, Any]:
    """What the numbers depend on."""
    facts = {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "device": _C.device_name(device),
        "torch": torch.__version__,
        "tunedops": tunedops.__version__,
        "python": platform.python_version(),
        "threads": torch.get_num_threads(),
        "cache_bytes": _C.cache_bytes(device),
    }
    if device[0] == "cuda":
        del facts["threads"]  # the host's part is not measured
        facts["cuda"] = torch.version.cuda
        facts["validators"] = dict(tunedops.get_validators(torch.device(*device)))
        facts["nvidia_smi"] = ask_driver(device[1])
    return facts


def ask_driver(index: int) -> dict[str, str]:
    """The driver's version, clocks and power at this moment; empty if it does not answer."""
    # The driver counts all GPUs, this process those that it may see.
    uuid = torch.cuda.get_device_properties(index).uuid
    command = ["nvidia-smi", f"--id=GPU-{uuid}", f"--query-gpu={','.join(CLOCKS)}"]
    try:
        answer = subprocess.run(
            [*command, "--format=csv,noheader"], capture_output=True, text=True, timeout=30
        )
    except (OSError, subprocess.TimeoutExpired):
        return {}
    fields = [field.strip() for field in answer.stdout.strip().split(",")]
    if answer.returncode != 0 or len(fields) != len(CLOCKS):
        return {}
    return dict(zip(CLOCKS, fields, strict=True))
