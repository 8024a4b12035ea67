"""The examples run: what one process tunes, a fresh one uses."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import tunedops

EXAMPLES = Path(__file__).parents[1] / "examples"
SMALL = ("--width", "32", "--tokens", "12")


def run(name: str, *arguments: str, folder: Path) -> str:
    environment = os.environ | {"PYTHONPATH": str(Path(tunedops.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, EXAMPLES / name, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


def test_a_transformer_block(tmp_path: Path) -> None:
    program = "transformer_block.py"
    out = run(program, "tune", "result.json", *SMALL, "--budget-ms", "30", folder=tmp_path)
    results = json.loads((tmp_path / "result.json").read_text())["results"]
    assert len(results) >= 12, "four layers: a product forward and two backward each"
    assert f"{len(results)} problems on" in out
    out = run(program, "use", "result.json", *SMALL, "--rounds", "2", folder=tmp_path)
    assert "ms with the result" in out
    assert [path.name for path in tmp_path.iterdir()] == ["result.json"], "and no results file"
