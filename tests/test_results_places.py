"""Where results files are: their names, and places that cannot be used or trusted."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import tunedops
from conftest import RunPython, keys, messages

A, B = torch.ones(4, 64), torch.ones(64, 32)
OP, PARAMS = "GemmTunableOp_float_NN", "nn_32_4_64_ld_32_64_32_threads_2"
KEY = f"{OP},{PARAMS}"


def rows(path: Path) -> list[str]:
    return [line for line in path.read_text().splitlines() if not line.startswith("Validator,")]


@pytest.mark.parametrize(
    ("name", "insert", "expected"),
    [("a.csv", False, "a.csv"), ("a.csv", True, "a_cpu.csv"), ("a%d.csv", False, "a_cpu.csv")],
)
def test_names(tmp_path: Path, name: str, insert: bool, expected: str) -> None:
    tunedops.set_filename(tmp_path / name, insert)
    assert tunedops.get_filename() == str(tmp_path / expected)


@pytest.mark.parametrize("place", ["missing_folder/r.csv", "regular_file/r.csv", "folder"])
@pytest.mark.usefixtures("tuning")
def test_a_place_that_cannot_be_written_costs_a_warning(tmp_path: Path, place: str) -> None:
    (tmp_path / "regular_file").write_text("")
    (tmp_path / "folder").mkdir()
    tunedops.set_filename(tmp_path / place)

    def product() -> None:
        assert torch.equal(tunedops.mm(A, B), torch.full((4, 32), 64.0))

    said = messages(product)
    assert said, "the user must know"
    assert any(str(tmp_path / place) in message for message in said)
    assert keys() == [(OP, PARAMS)], "nothing is lost"
    assert tunedops.write_file(tmp_path / "saved.csv")
    assert len(rows(tmp_path / "saved.csv")) == 1


def test_a_folder_without_permission(tmp_path: Path, run_python: RunPython) -> None:
    tmp_path.chmod(0o755)
    run_python(
        """
        import warnings
        if os.geteuid() == 0:
            os.setuid(65534)
        else:
            os.chmod(".", 0o555)
        tunedops.enable()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            total = tunedops.mm(torch.ones(4, 64), torch.ones(64, 32))
        assert torch.equal(total, torch.full((4, 32), 64.0))
        assert len(caught) == 1, [str(w.message) for w in caught]
        assert "Permission denied" in str(caught[0].message)
        assert len(tunedops.get_results()) == 1
        """
    )
    tmp_path.chmod(0o755)
    assert not list(tmp_path.glob("*.csv"))


@pytest.mark.parametrize("mode", [0o664, 0o646])
def test_files_that_others_can_write_are_not_read(
    results_path: Path, write_results: Callable[..., str], mode: int
) -> None:
    write_results(f"{KEY},Default")
    os.chmod(results_path, mode)
    (message,) = messages(tunedops.get_results)
    assert "can be written by others" in message
    assert keys() == []


def test_a_pipe_does_not_hang_the_program(results_path: Path) -> None:
    os.mkfifo(results_path)
    (message,) = messages(tunedops.get_results)
    assert "is not a regular file" in message


def test_a_relative_name_is_meant_from_where_it_was_first_used(run_python: RunPython) -> None:
    run_python(
        """
        os.mkdir("one")
        os.mkdir("two")
        os.chdir("one")
        tunedops.enable()
        a = torch.randn(4, 32)
        for n in (8, 16):
            torch.mm(a, torch.randn(32, n))
        os.chdir("../two")
        torch.mm(a, torch.randn(32, 40))
        assert len(tunedops.get_results()) == 3
        assert os.listdir(".") == []
        """
    )


def test_a_file_that_another_environment_replaced_is_left_and_ours_moves(
    run_python: RunPython,
) -> None:
    run_python(
        """
        import warnings
        from pathlib import Path
        warnings.simplefilter("ignore")
        tunedops.set_filename("r.csv")
        tunedops.enable()
        a = torch.randn(4, 32)
        torch.mm(a, torch.randn(32, 8))
        file = Path("r.csv")
        theirs = file.read_text().replace("PT_VERSION,", "PT_VERSION,9")
        file.write_text(theirs)
        torch.mm(a, torch.randn(32, 16))
        assert file.read_text() == theirs
        (beside,) = [p for p in os.listdir() if p.startswith("r.") and p.endswith(".csv")
                     and p != "r.csv"]
        assert Path(beside).read_text().count("GemmTunableOp") == 2
        """
    )
