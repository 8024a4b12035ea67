"""Where results come from when the program's own file has none (K9): the personal cache, then
the database that ships with the package; and what `explain` tells of all that."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import tunedops
from conftest import RunPython, messages
from torch import Tensor
from tunedops import _C, AutotuningResult, BoundArguments, Measured, Measurement, cache


def operands() -> tuple[Tensor, Tensor]:
    return torch.randn(12, 20), torch.randn(20, 28)


def problem() -> BoundArguments:
    return tunedops.mm.bind(*operands())


def result_of(bound: BoundArguments, solution: str = "Gemm_OneDnn") -> AutotuningResult:
    """As if it had been tuned so."""
    return AutotuningResult({bound: Measured((Measurement(solution, 0.25, 30),), 0.5, "clock")})


def write_database(folder: Path, *rows: str, **validators: str) -> Path:
    """A database of this machine's CPU, written by another version of torch."""
    here = dict(tunedops.get_validators("cpu"))
    given = {"DEVICE": here["DEVICE"], "TUNEDOPS_KERNELS": here["TUNEDOPS_KERNELS"]} | validators
    path = folder / _device_folder() / "results.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [f"Validator,{key},{value}" for key, value in given.items()]
    path.write_text("\n".join([*lines, *rows, ""]))
    return path


def _device_folder() -> str:
    """The file of the cache begins with the same."""
    path = cache.path("cpu")
    assert path is not None
    return path.name.split(".")[0]


# --- The personal cache --------------------------------------------------------------


def test_what_is_saved_is_used_where_nothing_else_is_stored(
    run_python: RunPython, stored_only: None
) -> None:
    """K9: kept once, used by every program of this person."""
    bound = problem()
    assert tunedops.explanation(bound).decided_by == "a miss"
    (path,) = cache.save(result_of(bound))
    assert path == cache.path("cpu")
    told = tunedops.explanation(bound)
    assert (told.decided_by, told.solution) == ("personal cache", "Gemm_OneDnn")
    assert stat.S_IMODE(os.stat(path.parent).st_mode) == 0o700
    done = run_python(
        """
        a, b = torch.randn(12, 20), torch.randn(20, 28)
        expected = (a.double() @ b.double()).float()
        tunedops.enable()
        told = tunedops.explanation(tunedops.mm.bind(a, b))
        torch.testing.assert_close(torch.mm(a, b), expected)
        print(json.dumps([told.decided_by, len(tunedops.get_results())]))
        """
    )
    assert json.loads(done.stdout) == ["personal cache", 0], "and nothing was tuned"


def test_the_file_of_the_program_goes_before(
    stored_only: None, write_results: Callable[..., str]
) -> None:
    bound = problem()
    cache.save(result_of(bound))
    write_results(",".join((*bound.key, "Default")))
    tunedops.read_file()
    told = tunedops.explanation(bound)
    assert (told.decided_by, told.solution) == ("results file", "Default")
    assert [answer.solution for answer in told.tiers] == [None, "Default", "Gemm_OneDnn", None]


def test_rows_say_how_they_were_timed() -> None:
    """As those of a results file do: when, in how many rounds, and with which spread."""
    result = tunedops.autotune(torch.mm, *operands(), search="proposals", budget_ms=1000)
    ((bound, measured),) = result.measured.items()
    assert None not in (measured.spread, measured.margin, measured.date)
    cache.save(result)
    assert cache.load().measured[bound] == measured._replace(
        measurements=(measured.best._replace(time_ms=cache.load().best(bound).time_ms),),
        default_ms=cache.load().measured[bound].default_ms,
        spread=cache.load().measured[bound].spread,
    )
    fields = result.to_csv().splitlines()[-1].split(",")
    assert len(fields) == 10
    assert AutotuningResult.loads(result.dumps()) == result


def test_saving_again_replaces_and_adds(stored_only: None) -> None:
    first, second = problem(), tunedops.mm.bind(torch.randn(3, 5), torch.randn(5, 7))
    cache.save(result_of(first))
    cache.save(result_of(first, "Default") | result_of(second))
    assert {b.key: cache.load().best(b).solution for b in (first, second)} == {
        first.key: "Default",
        second.key: "Gemm_OneDnn",
    }
    assert cache.load().measured[second].default_ms == 0.5
    cache.clear()
    assert len(cache.load()) == 0
    assert tunedops.explanation(first).decided_by == "a miss"
    cache.clear()  # twice is no error


def test_text_that_no_row_can_hold_reaches_no_file() -> None:
    """A result may come from anywhere, and a line in it would be a line of the file."""
    bound = problem()
    cache.save(result_of(bound, "Default"))
    for text in ("Default\nValidator,DEVICE,x", "a,b", "", "#x"):
        evil = result_of(bound, text)
        with pytest.raises(ValueError, match="cannot hold"):
            cache.save(evil)
        with pytest.raises(ValueError, match="cannot hold"):
            evil.to_csv()
        with pytest.raises(ValueError, match="expected a solution as a results file has it"):
            AutotuningResult.loads(evil.dumps())
    measured = Measured((Measurement("Default", 0.25, 30),), 0.5, "x,y\nz")
    cache.save(AutotuningResult({bound: measured}))
    assert cache.load().measured[bound].timing is None
    assert cache.load().best(bound).solution == "Default"


def test_a_file_that_is_none_hangs_nobody() -> None:
    place = cache.path()
    assert place is not None
    place.parent.mkdir()
    os.mkfifo(place)
    with pytest.warns(UserWarning, match="is not a regular file"):
        assert len(cache.load()) == 0
    with pytest.raises(RuntimeError, match="is not a regular file"):
        cache.save(result_of(problem()))
    cache.clear()
    cache.save(result_of(problem()))


def test_a_cache_is_none_where_the_folder_is_empty_text() -> None:
    _C.set_setting("CACHE_DIR", "")
    assert cache.path() is None
    assert len(cache.load()) == 0
    with pytest.raises(RuntimeError, match="TUNEDOPS_CACHE_DIR is empty"):
        cache.save(result_of(problem()))


def test_it_lies_where_xdg_says(run_python: RunPython, tmp_path: Path) -> None:
    code = "print(tunedops.cache.path('cpu').parent)"
    cases: tuple[tuple[dict[str, str | None], Path], ...] = (
        ({"XDG_CACHE_HOME": str(tmp_path / "x")}, tmp_path / "x" / "tunedops"),
        (
            {"XDG_CACHE_HOME": None, "HOME": str(tmp_path)},
            tmp_path / ".cache" / "tunedops",
        ),
    )
    for variables, folder in cases:
        done = run_python(code, TUNEDOPS_CACHE_DIR=None, **variables)
        assert done.stdout.strip() == str(folder)
        assert not folder.exists(), "looking at it makes none"


def test_what_cannot_be_saved_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    bound = problem()
    with pytest.raises(TypeError, match="must be an AutotuningResult, got dict"):
        cache.save({})  # type: ignore[arg-type]
    other = AutotuningResult({}, None, {"cpu": {"DEVICE": "another"}})
    with pytest.raises(ValueError, match="another environment: DEVICE is 'another' there"):
        cache.save(other)
    place = cache.path()
    assert place is not None
    place.parent.mkdir()
    place.parent.chmod(0o777)
    with pytest.raises(RuntimeError, match="can be written by others"):
        cache.save(result_of(bound))
    place.parent.chmod(0o700)
    _C.set_setting("READ_ONLY", "1")
    for action in (lambda: cache.save(result_of(bound)), cache.clear):
        with pytest.raises(RuntimeError, match="TUNEDOPS_READ_ONLY is on"):
            action()
    _C.set_setting("READ_ONLY", "0")
    with tunedops.replay_only(), pytest.raises(RuntimeError, match="replay_only"):
        cache.save(result_of(bound))


def test_autotune_takes_over_what_any_tier_knows(tmp_path: Path) -> None:
    """K2 and its trap, for the tiers too: a known problem is no hole in the answer."""
    bound, other = problem(), tunedops.mm.bind(torch.randn(3, 5), torch.randn(5, 7))
    cache.save(result_of(bound))
    write_database(tmp_path / "db", ",".join((*other.key, "Default,0.5,0.5")))
    _C.set_setting("DATABASE_DIR", str(tmp_path / "db"))
    found = tunedops.autotune([bound, other])
    assert found[bound] == result_of(bound)[bound]
    assert found.measured[other].default_ms == 0.5
    assert len(tunedops.autotune([bound], ignore_cache=True)[bound]) > 1


# --- The database --------------------------------------------------------------------


def test_a_database_is_used_without_tuning_and_outlives_torch(
    stored_only: None, tmp_path: Path
) -> None:
    bound = problem()
    kernel = next(
        name for name in _C.candidates(("cpu", 0), *bound.key) if name.startswith("Gemm_Cpu")
    )
    path = write_database(tmp_path / "db", ",".join((*bound.key, kernel)), PT_VERSION="1.0.0")
    _C.set_setting("DATABASE_DIR", str(tmp_path / "db"))
    told = tunedops.explanation(bound)
    assert (told.decided_by, told.solution) == ("database", kernel)
    assert told.tiers[3].place == f"{path}:4"
    a, b = operands()
    torch.testing.assert_close(tunedops.mm(a, b), (a.double() @ b.double()).float())
    assert tunedops.get_results() == ()


def test_rows_of_other_kernels_revisions_are_left_out_and_say_why(
    stored_only: None, tmp_path: Path
) -> None:
    bound = problem()
    ours = next(
        name for name in _C.candidates(("cpu", 0), *bound.key) if name.startswith("Gemm_Cpu")
    )
    _C.set_setting("DATABASE_DIR", str(tmp_path / "db"))
    cases = (
        (ours, {"TUNEDOPS_KERNELS": "0"}, "it was measured with TUNEDOPS_KERNELS 0, and here is"),
        ("Gemm_OneDnn", {"PT_VERSION": "1.0.0"}, "it was measured with PT_VERSION 1.0.0, and"),
        ("Gemm_Gone_tile_1", {}, "no kernel here has that name"),
    )
    for solution, validators, reason in cases:
        write_database(tmp_path / "db", ",".join((*bound.key, solution)), **validators)
        tunedops.clear()
        assert messages(lambda: tunedops.mm(*operands())) == []
        told = tunedops.explanation(bound)
        assert told.decided_by == "a miss"
        assert told.tiers[3].refused.startswith(reason)


def test_the_packages_own_folder_is_the_default(run_python: RunPython) -> None:
    done = run_python(
        "print(json.dumps([_C.setting('DATABASE_DIR'), str(tunedops.get_databases())]))",
        TUNEDOPS_DATABASE_DIR=None,
    )
    folder, expected = json.loads(done.stdout)
    assert folder == expected


# --- Explained -----------------------------------------------------------------------


def test_explain_prints_every_tier_and_every_kernel(
    stored_only: None, capsys: pytest.CaptureFixture[str]
) -> None:
    bound = tunedops.mm.bind(torch.randn(12, 20).half(), torch.randn(20, 28).half())
    cache.save(result_of(bound))
    with tunedops.force("Gemm_CpuSkinny"):
        tunedops.explain(bound)
    printed = capsys.readouterr().out
    assert printed.splitlines() == [
        "mm(input=float16[12, 20], mat2=float16[20, 28]) on cpu",
        ",".join(bound.key),
        "decided by overlay: Gemm_CpuSkinny",
        "* overlay: Gemm_CpuSkinny (force())",
        f"  results file: nothing ({tunedops.get_filename('cpu')})",
        f"  personal cache: Gemm_OneDnn, 2.00x as fast as Default when it was timed "
        f"({cache.path()}:{len(tunedops.get_validators('cpu')) + 1})",
        "  database: nothing (TUNEDOPS_DATABASE_DIR is empty)",
        "kernels:",
        *(f"  {name}: can run it" for name in _C.kernel_names(("cpu", 0))),
    ]
    told = tunedops.explanation(bound)
    assert told.decided_by == "personal cache"
    assert str(told).splitlines()[2] == "decided by personal cache: Gemm_OneDnn"
    assert told.kernels.keys() == set(_C.kernel_names(("cpu", 0)))


def test_explain_tells_of_a_miss_and_of_lookups_that_are_off() -> None:
    bound = problem()
    assert tunedops.explanation(bound).decided_by == "nobody"
    tunedops.enable()
    told = tunedops.explanation(bound)
    assert (told.solution, told.note) == (None, "the next call tunes it")
    with tunedops.replay_only(on_miss="error"):
        told = tunedops.explanation(bound)
        assert (told.solution, told.note) == (None, "an error, as replay_only says")
        assert told.tiers[0].place == "replay_only()"
    with tunedops.replay_only(on_miss="heuristic"):
        told = tunedops.explanation(bound)
        assert told.solution in ("Default", *_C.candidates(("cpu", 0), *bound.key))
        assert told.note == "by a kernel's heuristic, as replay_only says"
    tunedops.tuning_enable(False)
    told = tunedops.explanation(bound)
    assert (told.solution, told.note) == ("Default", "as ON_MISS says")
    with result_of(bound):
        told = tunedops.explanation(bound)
        assert (told.decided_by, told.tiers[0].place) == ("overlay", "results of a block")


def test_explain_says_what_it_takes() -> None:
    with pytest.raises(TypeError, match="problem must be BoundArguments"):
        tunedops.explain(torch.mm)  # type: ignore[arg-type]
    if not torch.cuda.is_available() and _C.built_with_cuda:
        there = BoundArguments.from_key(
            "GemmTunableOp_float_NN", "nn_4_4_4_ld_4_4_4", torch.device("cuda", 0)
        )
        with pytest.raises((ValueError, RuntimeError), match="cuda"):
            tunedops.explain(there)
