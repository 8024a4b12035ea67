"""The results file, seen from a program: shared, edited, foreign, torn, or out of reach."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import tunedops
from conftest import keys, messages
from torch import randn
from tunedops import _C

# torch says so whenever its switches for oneDNN are used.
pytestmark = pytest.mark.filterwarnings("ignore:TF32 acceleration on top of oneDNN")

A, B = torch.ones(4, 64), torch.ones(64, 32)
OP, PARAMS = "GemmTunableOp_float_NN", "nn_32_4_64_ld_32_64_32_threads_2"
KEY = f"{OP},{PARAMS}"
OTHER = f"{OP},nn_5_3_4_ld_5_4_5_threads_2"
WriteResults = Callable[..., str]


def rows(path: Path) -> list[str]:
    return [line for line in path.read_text().splitlines() if not line.startswith("Validator,")]


@pytest.mark.smoke
@pytest.mark.usefixtures("tuning")
def test_a_win_is_in_the_file_at_once(results_path: Path) -> None:
    tunedops.mm(A, B)
    text = results_path.read_text()
    for key, value in tunedops.get_validators():
        assert f"Validator,{key},{value}\n" in text
    (result,) = tunedops.get_results()
    times = f"{result.time_ms:.5g},{result.default_ms:.5g}"
    spread = f"{result.spread:.4f}".rstrip("0").rstrip(".")
    assert rows(results_path) == [
        f"{KEY},{result.solution},{times},clock,{result.samples},{spread},0.01,{result.date}"
    ]
    tunedops.mm(A[:3], B)
    assert len(rows(results_path)) == 2
    assert _C.check_file(("cpu", 0), str(results_path)) == []


@pytest.mark.usefixtures("tuning")
def test_a_row_written_by_hand_counts_and_is_never_tuned_over(
    results_path: Path, write_results: WriteResults
) -> None:
    text = write_results("# the batch job's", f"{KEY},Default")
    for _ in range(2):
        tunedops.mm(A, B)
    assert tunedops.get_results() == ((OP, PARAMS, "Default", None, None, False, *[None] * 5),)
    assert results_path.read_text() == text


@pytest.mark.usefixtures("tuning")
def test_a_kernel_without_parameters_takes_its_best_guess(write_results: WriteResults) -> None:
    write_results(f"{KEY},Gemm_CpuSkinny")
    assert messages(lambda: tunedops.mm(A, B)) == []
    assert _C.check_file(("cpu", 0), tunedops.get_filename()) == []


@pytest.mark.parametrize(
    "solution",
    [
        "Gemm_Nobody",
        "Gemm_CpuSkinny_vectors_8_prefetch_0_threads_4096",
        "Gemm_OneDnn_tile_1",
        "x" * 300,
    ],
)
@pytest.mark.usefixtures("tuning")
def test_an_unknown_solution_warns_once_and_means_default(
    results_path: Path, write_results: WriteResults, solution: str
) -> None:
    text = write_results(f"{KEY},{solution},0.5")
    line = text.count("\n")

    def products() -> None:
        for _ in range(3):
            assert torch.equal(tunedops.mm(A, B), torch.full((4, 32), 64.0))
            assert torch.equal(torch.mm(A, B), torch.full((4, 32), 64.0))
            tunedops.enable()  # decisions are taken anew

    (message,) = messages(products)
    assert f"{results_path}:{line}: solution '{solution}'" in message
    assert "means Default" in message
    tunedops.mm(A[:3], B)
    assert tunedops.write_file()
    assert f"{KEY},{solution},0.5" in rows(results_path)


@pytest.mark.usefixtures("tuning")
def test_a_solution_that_the_flags_forbid_means_default(write_results: WriteResults) -> None:
    row = f"{OP},nn_32_4_64_ld_32_64_32_onednn_off_threads_2,Gemm_OneDnn"
    write_results(row)
    with torch.backends.mkldnn.flags(enabled=False):
        (message,) = messages(lambda: tunedops.mm(A, B))
    assert "torch.backends.mkldnn is switched off" in message


@pytest.mark.usefixtures("tuning")
def test_lines_that_are_no_rows_are_named_and_kept(
    results_path: Path, write_results: WriteResults
) -> None:
    text = write_results("what is this", f"{KEY},Default", "GemmTunableOp_float_NN,nn_1,Default")
    line = text.count("\n") - 2
    said = messages(lambda: tunedops.mm(A, B))
    assert any(f"{results_path}:{line}: is not 'op,params,solution" in m for m in said)
    assert any(f"{results_path}:{line + 2}: " in m and "not a problem" in m for m in said)
    tunedops.mm(A[:3], B)
    assert tunedops.write_file()
    assert "what is this" in results_path.read_text()
    assert "GemmTunableOp_float_NN,nn_1,Default" in rows(results_path)


@pytest.mark.usefixtures("tuning")
def test_a_torn_last_line_is_ignored(results_path: Path, write_results: WriteResults) -> None:
    write_results(f"{KEY},Default")
    with results_path.open("a") as file:
        file.write(f"{OTHER},Defau")
    (message,) = messages(lambda: tunedops.mm(A, B))
    assert "the last line does not end" in message
    assert keys() == [(OP, PARAMS)]
    tunedops.mm(A[:3], B)
    assert f"# incomplete: {OTHER},Defau" in rows(results_path)
    assert _C.check_file(("cpu", 0), str(results_path)) == []
    assert len(keys()) == 2


def test_editors_leave_byte_order_marks_and_line_ends(
    results_path: Path, write_results: WriteResults
) -> None:
    text = write_results(f"{KEY},Default,0.25", f"{OTHER} , Default")
    results_path.write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    assert messages(tunedops.get_results) == []
    assert [r.params for r in tunedops.get_results()] == [PARAMS, OTHER.split(",")[1]]
    assert tunedops.get_results()[0].time_ms == 0.25


@pytest.mark.usefixtures("tuning")
@pytest.mark.parametrize("key", ["DEVICE", "PT_VERSION", "TUNEDOPS_KERNELS", "SOMETHING"])
def test_a_file_of_another_environment_is_left_alone(
    results_path: Path, write_results: WriteResults, key: str
) -> None:
    text = write_results(f"{KEY},Gemm_Nobody", validators={key: "elsewhere"})
    (message,) = messages(lambda: tunedops.mm(A, B))
    here = dict(tunedops.get_validators()).get(key)
    for part in (key, "'elsewhere'", str(results_path), *([f"'{here}'"] if here else [])):
        assert part in message
    beside = Path(tunedops.get_filename())
    assert str(beside) in message
    assert beside.parent == results_path.parent
    assert beside.match("results.????????.csv")
    assert len(rows(beside)) == 1
    assert tunedops.write_file()
    assert results_path.read_text() == text, "byte for byte"
    # Next time the file beside is found first, and nothing is left to say.
    tunedops.clear()
    tunedops.set_filename(results_path)
    assert messages(tunedops.get_results) == []
    assert keys() == [(OP, PARAMS)]


@pytest.mark.usefixtures("tuning")
def test_a_missing_validator_rejects_the_file(results_path: Path) -> None:
    results_path.write_text(f"{KEY},Default\n")
    (message,) = messages(tunedops.get_results)
    assert "is missing in the file" in message
    assert keys() == []
    assert results_path.read_text() == f"{KEY},Default\n"


@pytest.mark.usefixtures("stored_only")
def test_write_file_merges(results_path: Path, write_results: WriteResults) -> None:
    write_results("# mine", f"{KEY},Default,0.5")
    assert keys() == [(OP, PARAMS)]
    # Meanwhile others edit a row and add one.
    write_results("# mine", f"{KEY},Gemm_OneDnn,0.25", "# new", f"{OTHER},Default")
    bmm = _C.key_of(randn(2, 3, 4), randn(2, 4, 5))
    assert bmm is not None
    _C.tune(("cpu", 0), *bmm, False)
    assert tunedops.write_file()
    solutions = {(r.op, r.params): r.solution for r in tunedops.get_results()}
    assert solutions[OP, PARAMS] == "Gemm_OneDnn", "what changed on disk wins"
    assert set(solutions) == {(OP, PARAMS), tuple(OTHER.split(",")), bmm}
    written = rows(results_path)
    assert [line.split(",")[:2] for line in written if line[0] != "#"] == sorted(
        [KEY.split(","), OTHER.split(","), list(bmm)]
    )
    assert written[written.index("# mine") + 1].startswith(KEY)
    assert written[written.index("# new") + 1].startswith(OTHER)


@pytest.mark.usefixtures("tuning")
def test_deleted_rows_leave_the_file_when_it_is_written(results_path: Path) -> None:
    tunedops.mm(A, B)
    tunedops.mm(A[:3], B)
    assert tunedops.delete(OP, PARAMS)
    assert len(rows(results_path)) == 2
    assert tunedops.write_file()
    assert len(rows(results_path)) == 1
    tunedops.clear()
    assert tunedops.write_file()
    assert len(rows(results_path)) == 1, "clear leaves files as they are"


@pytest.mark.usefixtures("tuning")
def test_write_to_and_read_from_another_file(tmp_path: Path, results_path: Path) -> None:
    tunedops.mm(A, B)
    other = tmp_path / "other.csv"
    assert tunedops.write_file(other)
    assert rows(other) == rows(results_path)
    tunedops.clear()
    results_path.unlink()
    assert tunedops.read_file(other)
    assert keys() == [(OP, PARAMS)]
    assert not results_path.exists()
    assert any("does not exist" in m for m in messages(lambda: tunedops.read_file("nowhere")))


@pytest.mark.usefixtures("tuning")
def test_wins_go_along_to_another_name_and_rows_read_do_not(
    tmp_path: Path, write_results: WriteResults
) -> None:
    write_results(f"{OTHER},Default")
    tunedops.mm(A, B)
    assert len(keys()) == 2
    tunedops.set_filename(tmp_path / "second.csv")
    assert keys() == [(OP, PARAMS)]
    assert tunedops.write_file()
    assert len(rows(tmp_path / "second.csv")) == 1


@pytest.mark.usefixtures("tuning")
def test_bytes_that_are_no_text_are_kept_and_never_reach_python(
    results_path: Path, write_results: WriteResults
) -> None:
    write_results(f"{KEY},Default")
    row = b"Gemm_\xff,nn_1_1_1,Gemm_\xfe,1,2\n"
    results_path.write_bytes(results_path.read_bytes() + row)
    (message,) = messages(lambda: tunedops.mm(A, B))
    assert "not UTF-8" in message
    assert tunedops.get_results()[0].solution == "Default"
    tunedops.mm(A, randn(64, 40))
    assert row in results_path.read_bytes()
