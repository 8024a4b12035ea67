"""What tests of the command line share: files in the current folder, and running a command."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import tunedops
from tunedops.cli.main import main

CPU = ("cpu", 0)
HEADER = "suite,op,dtype,layout,batch,m,n,k"
KEY = "GemmTunableOp_float_TN,tn_24_1_40_ld_40_40_24_threads_1"

Run = Callable[..., tuple[int, str, str]]


def runner(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command in this process: exit code, standard output, standard error."""

    def run(*words: str) -> tuple[int, str, str]:
        capsys.readouterr()
        try:
            code = main(words)
        except SystemExit as end:
            code = end.code
        out, err = capsys.readouterr()
        return code, out, err

    return run


def write(name: str, *lines: str) -> str:
    """Writes a file of these lines; its name again."""
    Path(name).write_text("".join(line + "\n" for line in lines))
    return name


def results_text(*rows: str) -> list[str]:
    """The lines of a results file of this environment."""
    validators = tunedops.get_validators()
    return [*(f"Validator,{key},{value}" for key, value in validators), *rows]
