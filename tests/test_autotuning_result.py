"""`AutotuningResult` as data: looked at, written, read again, merged; and what is refused."""

from __future__ import annotations

import copy
import io
import json
import pickle
from pathlib import Path
from typing import Any

import pytest
import torch
import tunedops
from rich.console import Console
from tunedops import _C, AutotuningResult, BoundArguments, Measured, Measurement


def bound(n: int = 5) -> BoundArguments:
    return tunedops.mm.bind(torch.ones(3, 4), torch.ones(4, n))


def result(*choices: tuple[int, str], default_ms: float | None = 0.002) -> AutotuningResult:
    return AutotuningResult(
        {
            bound(n): Measured(
                (
                    Measurement(solution, 0.001, 9),
                    Measurement("Gemm_Slow", 0.5, 1, "slower than others"),
                    Measurement("Gemm_Wrong", None, None, "wrong"),
                ),
                default_ms,
                "clock",
            )
            for n, solution in choices
        }
    )


def test_it_is_a_mapping() -> None:
    one = result((5, "Gemm_OneDnn"), (6, "Default"))
    assert len(one) == 2
    assert [m.solution for m in one[bound(5)]] == ["Gemm_OneDnn", "Gemm_Slow", "Gemm_Wrong"]
    assert one.best(bound(6)).solution == "Default"
    assert bound(7) not in one
    with pytest.raises(KeyError):
        one[bound(7)]
    assert one == result((5, "Gemm_OneDnn"), (6, "Default"))
    assert one != result((5, "Default"))
    assert one.validators["cpu"] == dict(tunedops.get_validators())
    for change in (lambda: one.__setitem__, lambda: one.measured.__setitem__):
        with pytest.raises(AttributeError):
            change()
    with pytest.raises(TypeError):
        hash(one)


def test_json_gives_the_same_back(tmp_path: Path) -> None:
    """K7, K8 and defect (b): failures of single solutions are data as anything else."""
    one = result((5, "Gemm_OneDnn"), (6, "Default"))
    assert AutotuningResult.loads(one.dumps()) == one
    path = tmp_path / "result.json"
    one.dump(path)
    assert AutotuningResult.load(path) == one
    assert AutotuningResult.load(str(path)) == one
    with path.open() as opened:
        assert AutotuningResult.load(opened) == one
    memory = io.StringIO()
    one.dump(memory)
    assert memory.getvalue() == one.dumps()
    tuned = tunedops.autotune(torch.mm, torch.ones(3, 4), torch.ones(4, 5))
    assert AutotuningResult.loads(tuned.dumps()) == tuned


def test_files_are_whole_or_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "result.json"
    result((5, "Default")).dump(path)
    before = path.read_text()
    other = result((6, "Default"))
    with monkeypatch.context() as patch:
        patch.setattr(AutotuningResult, "dumps", lambda _: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            other.dump(path)
    assert path.read_text() == before
    assert list(tmp_path.iterdir()) == [path]
    path.write_bytes(b"\xff\xfe{")
    for load in (AutotuningResult.load, AutotuningResult.from_csv):
        with pytest.raises(ValueError, match=r"result\.json:1: is not text in UTF-8"):
            load(path)
    path.write_text(before[:40])
    with pytest.raises(ValueError, match=r"result\.json: loads: expected JSON"):
        AutotuningResult.load(path)


def test_copies_and_other_processes() -> None:
    one = result((5, "Gemm_OneDnn"))
    assert pickle.loads(pickle.dumps(one)) == one
    assert copy.deepcopy(one) == one
    validators = {"cpu": dict(tunedops.get_validators())}
    made = AutotuningResult({}, environments=validators)
    validators["cpu"]["DEVICE"] = "other"
    assert made.validators["cpu"]["DEVICE"] != "other"


def test_an_empty_result_is_one() -> None:
    nothing = AutotuningResult({})
    assert AutotuningResult.loads(nothing.dumps()) == nothing
    with nothing:
        torch.ones(3, 4) @ torch.ones(4, 5)


def changed(text: str, path: str, value: object) -> str:
    """A document with one value replaced."""
    document = json.loads(text)
    at: Any = document
    *names, last = [int(n) if n.isdigit() else n for n in path.split(".")]
    for name in names:
        at = at[name]
    at[last] = value
    return json.dumps(document)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("format", "other", "expected a document of the format 'tunedops.autotuning_result'"),
        ("version", 2, "expected version 1 of the format, got 2; another release"),
        ("validators", [], "expected 'validators' to be a dict"),
        ("validators.cpu", {"A": 1}, "expected validators of cpu or cuda"),
        ("validators", {}, "result 1: there are no validators of cpu"),
        ("results", None, "expected 'results' to be a list"),
        ("results.0.key", "mm", "result 1: expected a 'key' of two strings"),
        ("results.0.key.1", "nn_0_0", "result 1: "),
        ("results.0.measurements", [], "result 1: expected a list of 'measurements'"),
        ("results.0.measurements.0", ["A"], "result 1: expected a measurement of solution"),
        (
            "results.0.measurements.0.1",
            -1,
            "result 1: expected a number that is not negative, got -1",
        ),
        (
            "results.0.measurements.0.1",
            "1",
            "result 1: expected a number that is not negative, got '1'",
        ),
        ("results.0.measurements.0.2", 1.5, "result 1: expected a number of samples"),
        (
            "results.0.default_ms",
            True,
            "result 1: expected a number that is not negative, got True",
        ),
        ("results.0.timing", 3, "result 1: expected text"),
        ("failures", {}, "expected 'failures' to be a list"),
    ],
)
def test_bad_documents_are_refused(path: str, value: object, message: str) -> None:
    text = changed(result((5, "Default")).dumps(), path, value)
    with pytest.raises(ValueError, match="loads: ") as error:
        AutotuningResult.loads(text)
    assert message in str(error.value)


def test_text_that_is_no_document() -> None:
    whole = result((5, "Default")).dumps()
    for text in ("", whole[: len(whole) // 2], "[" * 100_000, "nan", "[]", '"x"'):
        with pytest.raises(ValueError, match="loads: expected"):
            AutotuningResult.loads(text)
    with pytest.raises(TypeError, match="text must be a str, got bytes"):
        AutotuningResult.loads(whole.encode())  # type: ignore[arg-type]


@pytest.mark.parametrize("key", ["DEVICE", "PT_VERSION", "TUNEDOPS_KERNELS"])
def test_results_of_another_environment_are_refused(key: str) -> None:
    """Defect (c): what it was made with is compared, and said."""
    here = tunedops.get_validators()
    text = changed(result((5, "Default")).dumps(), f"validators.cpu.{key}", "other")
    message = f"{key} is 'other' there and '{dict(here)[key]}' here"
    with pytest.raises(ValueError, match="of another environment") as error:
        AutotuningResult.loads(text)
    assert message in str(error.value)
    unchecked = AutotuningResult.loads(text, check=False)
    assert len(unchecked) == 1, "to look at"
    with pytest.raises(RuntimeError, match="of another environment"):
        with unchecked:
            pass
    assert _C.current_overlay() == 0
    with pytest.raises(ValueError, match=f"cannot be merged: {key} is"):
        result((5, "Default")) | unchecked


@pytest.mark.skipif(torch.cuda.is_available(), reason="needs a machine without a GPU")
def test_results_of_a_gpu_where_there_is_none() -> None:
    on_gpu = BoundArguments.from_key("GemmTunableOp_float_NN", "nn_8_4_6_ld_8_6_8", "cuda:0")
    one = AutotuningResult(
        {on_gpu: Measured((Measurement("Default", 1.0),))},
        environments={"cuda": {"DEVICE": "9.0:NVIDIA H200:132"}},
    )
    with pytest.raises(ValueError, match="NVIDIA H200:132, and torch sees no GPU here"):
        AutotuningResult.loads(one.dumps())
    both = AutotuningResult.loads(one.dumps(), check=False) | result((5, "Default"))
    assert len(both) == 2, "of a GPU and of a CPU: different problems"
    with pytest.raises(ValueError, match="a results file is of one of them"):
        both.to_csv()


def test_the_right_one_wins_where_both_have_one() -> None:
    """K8 and defect (a): problems that differ in anything are different ones."""
    left = result((5, "Gemm_OneDnn"), (6, "Gemm_OneDnn"))
    both = left | result((6, "Default"), (7, "Default"))
    assert {b.key: both.best(b).solution for b in both} == {
        bound(5).key: "Gemm_OneDnn",
        bound(6).key: "Default",
        bound(7).key: "Default",
    }
    assert len(left) == 2, "as it was"
    with pytest.raises(TypeError):
        left | {}  # type: ignore[operator]


def test_csv_is_a_results_file(results_path: Path) -> None:
    one = tunedops.autotune(
        [bound(5), bound(6), tunedops.linear.bind(torch.ones(3, 4), torch.ones(5, 4))]
    )
    results_path.with_name("results_cpu.csv").write_text(one.to_csv())
    again = AutotuningResult.from_csv(results_path.with_name("results_cpu.csv"))
    for bound_arguments, m in one.measured.items():
        read = again.measured[bound_arguments]
        assert (read.best.solution, read.timing) == (m.best.solution, m.timing)
        assert read.best.samples == m.best.samples
        assert read.best.time_ms == pytest.approx(m.best.time_ms, rel=1e-3)
        assert read.default_ms == pytest.approx(m.default_ms, rel=1e-3)
    tunedops.set_filename(results_path, True)
    assert {(r.op, r.params): r.solution for r in tunedops.get_results()} == {
        b.key: one.best(b).solution for b in one
    }


def test_bad_results_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    text = result((5, "Default")).to_csv()
    for bad, message in (
        (text.replace("nn_", "xx_"), "is no product of cpu"),
        ("GemmTunableOp_float_NN\n" + text, r"r.csv:1: "),
        ("\n".join(text.splitlines()[-1:]) + "\n", "without Validator rows"),
        (text.replace("Validator,PT_VERSION,", "Validator,PT_VERSION,0."), "PT_VERSION is '0."),
    ):
        path.write_text(bad)
        with pytest.raises(ValueError, match=message):
            AutotuningResult.from_csv(path)


def test_it_can_be_looked_at() -> None:
    one = result((5, "Gemm_OneDnn"), (6, "Default"))
    device = tunedops.get_validators()[0][1]
    assert repr(one) == f"<AutotuningResult: 2 problems on {device}, 1 faster than torch>"
    console = Console(width=160, file=io.StringIO(), record=True)
    console.print(one.table())
    text = console.export_text()
    assert text.count("[us]") == 2, "also where markup is on"
    assert "mm(input=float32[3, 4], mat2=float32[4, 5])" in text
    assert "2.00x" in text
    assert "Gemm_OneDnn" in text
    assert "<pre" in one._repr_html_()
    assert "Gemm_OneDnn" in one._repr_html_()
