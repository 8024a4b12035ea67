"""The switches: environment against API, what is said, and what is printed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import tunedops
from conftest import QUICK, RunPython
from tunedops import _C

PRODUCT = "tunedops.mm(torch.randn(4, 64), torch.randn(64, 32))\n"
# Warnings as the user sees them, in a fresh process.
CATCH = """
import warnings
caught = []
warnings.showwarning = lambda message, *_, **__: caught.append(str(message))
warnings.simplefilter("always")
"""


# --- The API


def test_defaults(run_python: RunPython) -> None:
    limits = {f"TUNEDOPS_{name}": None for name in QUICK}
    done = run_python("print(json.dumps(_C.describe_settings()))", **limits)
    settings = {name: (value, origin) for name, value, _, origin, _ in json.loads(done.stdout)}
    assert settings.pop("TUNING") == ("1", "default")
    assert settings.pop("NUMERICAL_CHECK") == ("1", "default")
    assert settings.pop("SEARCH") == ("guided", "default")
    assert settings.pop("MAX_TUNING_DURATION_MS") == ("30", "default")
    assert settings.pop("MAX_TUNING_ITERATIONS") == ("100", "default")
    assert settings.pop("MAX_TUNING_BUDGET_MS") == ("400", "default")
    assert settings.pop("TOTAL_BUDGET_S") == ("120", "default")
    assert settings.pop("MAX_VARIANTS") == ("32", "default")
    assert settings.pop("FILENAME") == ("tunedops_results.csv", "default")
    assert settings.pop("UNTUNED_FILENAME") == ("tunedops_untuned.csv", "default")
    assert settings.pop("ON_MISS") == ("default", "default")
    for off in ("ENABLED", "VERBOSE", "RECORD_UNTUNED", "READ_ONLY"):
        assert settings.pop(off) == ("0", "default")


@pytest.mark.smoke
def test_flags() -> None:
    for switch, asked in (
        (tunedops.enable, tunedops.is_enabled),
        (tunedops.tuning_enable, tunedops.tuning_is_enabled),
        (tunedops.record_untuned_enable, tunedops.record_untuned_is_enabled),
    ):
        switch(False)
        assert asked() is False
        switch()
        assert asked() is True


def test_numbers() -> None:
    tunedops.set_max_tuning_duration(7)
    assert tunedops.get_max_tuning_duration() == 7
    tunedops.set_max_tuning_duration(-3)
    assert tunedops.get_max_tuning_duration() == 0
    tunedops.set_max_tuning_iterations(9)
    assert tunedops.get_max_tuning_iterations() == 9
    tunedops.set_rotating_buffer_size(3)
    assert tunedops.get_rotating_buffer_size() == 3 << 20
    tunedops.set_rotating_buffer_size(4096)
    assert tunedops.get_rotating_buffer_size() == 4 << 30, "no 32-bit overflow"
    tunedops.set_rotating_buffer_size(-1)
    assert tunedops.get_rotating_buffer_size() == _C.cache_bytes(("cpu", 0)) > 0


def test_tolerances() -> None:
    tunedops.set_numerical_check_tolerances(True, 1e-3, 0.5)
    assert _C.setting("NUMERICAL_CHECK") == "0.001_0.5"
    tunedops.set_numerical_check_tolerances(False)
    assert _C.setting("NUMERICAL_CHECK") == "0"
    tunedops.set_numerical_check_tolerances(True)
    assert _C.setting("NUMERICAL_CHECK") == "1"
    with pytest.raises(ValueError, match="both tolerances or none"):
        tunedops.set_numerical_check_tolerances(True, atol=1e-3)
    for atol, rtol in ((0.0, 1e-3), (1e-3, -1.0), (float("nan"), 1e-3)):
        with pytest.raises(ValueError, match="must be positive, got atol"):
            tunedops.set_numerical_check_tolerances(True, atol, rtol)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("MAX_TUNING_ITERATIONS", "many", "must be an integer of at least 0, got 'many'"),
        ("MAX_TUNING_ITERATIONS", "3 ", "must be an integer"),
        ("MAX_TUNING_ITERATIONS", "99999999999", "must be an integer"),
        ("MAX_TUNING_BUDGET_MS", "0", "at least 1, got '0'"),
        ("ENABLED", "2", "must be 0 or 1, got '2'"),
        ("ON_MISS", "crash", "must be default, heuristic or error, got 'crash'"),
        ("ON_MISS", "or", "must be default, heuristic or error, got 'or'"),
        ("SEARCH", "all", "must be proposals, guided or exhaustive, got 'all'"),
        ("NUMERICAL_CHECK", "1e-3", "two positive tolerances"),
        ("NUMERICAL_CHECK", "inf_1", "two positive tolerances"),
        ("NOBODY", "1", "there is no setting 'NOBODY'"),
    ],
)
def test_values_that_do_not_fit(name: str, value: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        _C.set_setting(name, value)


def test_devices_without_a_backend() -> None:
    for device in ("meta", "xpu:1"):
        with pytest.raises(ValueError, match=f"no backend for device '{device}'"):
            tunedops.get_results(device)
    with pytest.raises(ValueError, match="is not a problem"):
        _C.tune(("cpu", 0), "GemmTunableOp_float_NN", "nn_1", False)
    with pytest.raises(ValueError, match="the name is empty"):
        tunedops.set_filename("")


# --- The environment


@pytest.mark.parametrize(("environment", "call"), [("1", "False"), ("0", "True")])
@pytest.mark.parametrize(
    ("variable", "switch", "asked"),
    [
        ("ENABLED", "enable", "is_enabled"),
        ("TUNING", "tuning_enable", "tuning_is_enabled"),
        ("RECORD_UNTUNED", "record_untuned_enable", "record_untuned_is_enabled"),
    ],
)
def test_the_environment_wins_both_ways_with_one_warning(
    run_python: RunPython, variable: str, switch: str, asked: str, environment: str, call: str
) -> None:
    run_python(
        CATCH
        + f"""
for _ in range(2):
    tunedops.{switch}({call})
    assert str(int(tunedops.{asked}())) == "{environment}"
tunedops.{switch}(not {call})
(message,) = caught
assert "TUNEDOPS_{variable}={environment} is set in the environment and wins" in message, message
""",
        **{f"TUNEDOPS_{variable}": environment},
    )


@pytest.mark.parametrize("enabled", ["0", "1", "off", "ON", "true"])
def test_enabled_in_the_environment_is_enough(run_python: RunPython, enabled: str) -> None:
    expected = enabled in ("1", "ON", "true")
    run_python(
        f"""
assert tunedops.is_enabled() is {expected}
assert _C.routing_is_installed() is {expected}
torch.nn.Linear(8, 8)(torch.randn(2, 8))
assert bool(tunedops.get_results()) is {expected}
assert os.path.exists("tunedops_results_cpu.csv") is {expected}
""",
        TUNEDOPS_ENABLED=enabled,
    )


def test_other_variables(run_python: RunPython, tmp_path: Path) -> None:
    run_python(
        CATCH
        + """
assert tunedops.get_filename() == "mine_cpu.csv"
tunedops.set_filename("other.csv")
assert tunedops.get_filename() == "mine_cpu.csv"
(message,) = caught
assert "TUNEDOPS_FILENAME=mine.csv" in message and "other.csv" in message
assert tunedops.get_max_tuning_duration() == 5
assert tunedops.get_rotating_buffer_size() == 2 << 20
tunedops.enable()
"""
        + PRODUCT,
        TUNEDOPS_FILENAME="mine.csv",
        TUNEDOPS_TUNING="0",
        TUNEDOPS_RECORD_UNTUNED="1",
        TUNEDOPS_UNTUNED_FILENAME="list.csv",
        TUNEDOPS_MAX_TUNING_DURATION_MS="5",
        TUNEDOPS_ROTATING_BUFFER_SIZE="2",
    )
    assert (tmp_path / "list_cpu.csv").read_text().startswith("GemmTunableOp_float_NN,")


def test_values_that_cannot_be_parsed_are_reported(run_python: RunPython) -> None:
    done = run_python(
        """
assert tunedops.get_max_tuning_iterations() == 100
assert not tunedops.is_enabled()
""",
        TUNEDOPS_MAX_TUNING_ITERATIONS="many",
        TUNEDOPS_ENABLED="maybe",
    )
    assert "TUNEDOPS_MAX_TUNING_ITERATIONS is 'many', expected an integer" in done.stderr
    assert "it stays at 100" in done.stderr
    assert "TUNEDOPS_ENABLED is 'maybe', expected 0 or 1" in done.stderr


def test_unknown_kernels_in_the_filter_are_reported(run_python: RunPython) -> None:
    run_python(
        CATCH
        + "tunedops.enable()\n"
        + PRODUCT
        + """
(message,) = caught
assert "Gemm_Nobody" in message, message
(result,) = tunedops.get_results()
assert result.solution == "Default"
""",
        TUNEDOPS_KERNELS="Gemm_Nobody",
    )


# --- What is printed


def test_nothing_is_printed_by_default(run_python: RunPython) -> None:
    done = run_python("tunedops.enable()\n" + PRODUCT + "assert tunedops.get_results()\n")
    assert (done.stdout, done.stderr) == ("", "")


@pytest.mark.parametrize("destination", ["err", "out", "log.txt"])
def test_verbose_lines_go_where_they_should(
    run_python: RunPython, tmp_path: Path, destination: str
) -> None:
    def printed(level: str) -> str:
        (tmp_path / "tunedops_results_cpu.csv").unlink(missing_ok=True)
        done = run_python(
            "tunedops.enable()\n" + PRODUCT,
            TUNEDOPS_VERBOSE=level,
            TUNEDOPS_VERBOSE_FILENAME=destination,
        )
        log = tmp_path / "log.txt"
        texts = {
            "err": done.stderr,
            "out": done.stdout,
            "log.txt": log.read_text() if log.exists() else "",
        }
        log.unlink(missing_ok=True)
        text = texts.pop(destination)
        assert set(texts.values()) == {""}
        return text

    results = printed("1")
    assert "GemmTunableOp_float_NN,nn_32_4_64_ld_32_64_32_threads_2 -> " in results
    assert results.count("\n") == 1
    detailed = printed("2")
    for kernel in _C.kernel_names(("cpu", 0)):
        assert kernel in detailed
