"""Lists of problems tuned on several GPUs: who tunes what, and who gets the results.

GPUs are played: a fake takes the place of the compiled module where it would ask one. The
processes are real ones, and tune for the CPU.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import tunedops
from conftest import CPU, keys, messages
from tunedops import _C, offline_gpus
from tunedops.key_lists import ListedKey

Device = tuple[str, int]
ROWS = [f"GemmTunableOp_float_NN,nn_5_{n}_4_ld_5_4_5" for n in range(1, 8)]


def listed(rows: list[str]) -> list[ListedKey]:
    return [ListedKey(f"list.csv:{i}", *row.split(",")) for i, row in enumerate(rows, start=1)]


class FakeModule:
    """What is asked of the compiled module, for GPUs of the models that are named."""

    built_with_cuda = True
    is_problem = staticmethod(_C.is_problem)
    describe_settings = staticmethod(_C.describe_settings)

    def __init__(self, models: list[str]):
        self.models = models
        self.rows: dict[Device, dict[tuple[str, str], tuple]] = {
            ("cuda", i): {} for i in range(len(models))
        }
        self.files: dict[Device, list[str]] = {device: [] for device in self.rows}
        self.written = 0

    def setting(self, name: str) -> str:
        return _C.setting(name)

    def validators(self, device: Device) -> dict[str, str]:
        return {"DEVICE": self.models[device[1]], "PT_VERSION": "1"}

    def stored(self, device: Device, op: str, params: str) -> tuple | None:
        return self.rows[device].get((op, params))

    def results(self, device: Device) -> list[tuple]:
        return list(self.rows[device].values())

    def read_file(self, device: Device, path: str | None) -> bool:
        lines = self.files[device] if path is None else Path(path).read_text().splitlines()
        validators = [f"Validator,{key},{value}" for key, value in self.validators(device).items()]
        if path is not None:
            assert lines[:2] == validators
        for line in lines:
            if line not in validators:
                op, params, solution, *rest = line.split(",")
                ms = [float(t) for t in rest[:2]] + [None] * (2 - len(rest))
                record = rest[2:] + [None] * (5 - len(rest[2:]))
                self.rows[device][op, params] = (op, params, solution, *ms, False, *record)
        return True

    def write_file(self) -> bool:
        self.written += 1
        return True


@pytest.fixture
def gpus(monkeypatch: pytest.MonkeyPatch) -> Callable[..., FakeModule]:
    """Makes this machine one that has GPUs of these models."""

    def install(*models: str) -> FakeModule:
        fake = FakeModule(list(models))
        monkeypatch.setattr(offline_gpus, "_C", fake)
        monkeypatch.setattr(torch.cuda, "device_count", lambda: len(models))
        return fake

    return install


@pytest.fixture
def pattern(tmp_path: Path) -> str:
    """Of two lists, which overlap."""
    (tmp_path / "tunableop_untuned1.csv").write_text("".join(f"{row}\n" for row in ROWS[2:]))
    (tmp_path / "tunableop_untuned0.csv").write_text("".join(f"{row}\n" for row in ROWS[:4]))
    (tmp_path / "other.csv").write_text("nonsense\n")
    return str(tmp_path / "tunableop_untuned?.csv")


# ---- arguments


@pytest.mark.parametrize("count", [-1, 0, 3])
def test_there_must_be_as_many_gpus(
    gpus: Callable[..., FakeModule], pattern: str, count: int
) -> None:
    gpus("A", "A")
    with pytest.raises(ValueError, match=f"the number of GPUs here, 2, got {count}"):
        tunedops.mgpu_tune_gemm_in_file(pattern, count)


def test_a_build_without_cuda_has_no_gpus(gpus: Callable[..., FakeModule], pattern: str) -> None:
    gpus("A").built_with_cuda = False
    with pytest.raises(ValueError, match="the number of GPUs here, 0, got 1"):
        tunedops.mgpu_tune_gemm_in_file(pattern, 1)


def test_a_file_must_match(gpus: Callable[..., FakeModule], tmp_path: Path) -> None:
    gpus("A")
    with pytest.raises(ValueError, match=r"no file matches '.*nothing"):
        tunedops.mgpu_tune_gemm_in_file(str(tmp_path / "nothing*.csv"), 1)


def test_read_only_tunes_nothing(gpus: Callable[..., FakeModule], pattern: str) -> None:
    gpus("A")
    _C.set_setting("READ_ONLY", "1")
    with pytest.raises(RuntimeError, match="READ_ONLY"):
        tunedops.mgpu_tune_gemm_in_file(pattern, 1)


def test_one_bad_line_stops_all(
    gpus: Callable[..., FakeModule], pattern: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    gpus("A")
    monkeypatch.setattr(offline_gpus, "tune_in_processes", lambda shares: pytest.fail("it tuned"))
    with pytest.raises(ValueError, match=r"other\.csv:1: 'nonsense,' is no product of cuda"):
        tunedops.mgpu_tune_gemm_in_file(pattern.replace("tunableop_untuned?", "*"), 1)


# ---- who tunes what


def test_alike_gpus_share_and_others_tune_all(gpus: Callable[..., FakeModule]) -> None:
    gpus("A", "B", "A")
    shares = offline_gpus.shares_of(listed(ROWS), [("cuda", i) for i in range(3)])
    assert shares[("cuda", 0)] == listed(ROWS)[0::2]
    assert shares[("cuda", 2)] == listed(ROWS)[1::2]
    assert shares[("cuda", 1)] == listed(ROWS)


def test_what_an_alike_gpu_has_is_not_tuned_again(gpus: Callable[..., FakeModule]) -> None:
    fake = gpus("A", "A")
    op, params = ROWS[0].split(",")
    fake.rows[("cuda", 1)][op, params] = (op, params, "Default", None, None, False, *[None] * 5)
    shares = offline_gpus.shares_of(listed(ROWS[:2]), [("cuda", 0), ("cuda", 1)])
    assert shares == {("cuda", 0): listed(ROWS)[1:2], ("cuda", 1): []}


def test_every_gpu_ends_with_all_results(
    gpus: Callable[..., FakeModule], pattern: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = gpus("A", "B", "A")
    op, params = ROWS[0].split(",")
    record = ("events", "100", "0.0042", "0.02", "2026-11-30")
    fake.files[("cuda", 2)].append(f"{ROWS[0]},Mine,1.0,2.0")
    fake.read_file(("cuda", 2), None)
    fake.files[("cuda", 1)].append("GemmTunableOp_float_NN,nn_9_9_9_ld_9_9_9,Default")

    def tune(shares: dict[Device, list[ListedKey]]) -> list[str]:
        """As the processes do it: into files."""
        for device, share in shares.items():
            rest = f"By{device[1]},0.5,1.0,{','.join(record)}"
            fake.files[device] += [f"{k.op},{k.params},{rest}" for k in share]
        return []

    monkeypatch.setattr(offline_gpus, "tune_in_processes", tune)
    tunedops.mgpu_tune_gemm_in_file(pattern, 3)
    found = {d: {params: row[2] for (_, params), row in r.items()} for d, r in fake.rows.items()}
    all_params = {row.split(",")[1] for row in ROWS}
    assert found[("cuda", 0)] == found[("cuda", 2)]
    assert set(found[("cuda", 0)]) == all_params
    assert found[("cuda", 0)][params] == "Mine", "a result that was there stays, and is shared"
    assert {*found[("cuda", 0)].values()} == {"Mine", "By0", "By2"}
    others = found[("cuda", 1)]
    assert others.pop("nn_9_9_9_ld_9_9_9") == "Default"
    assert others == dict.fromkeys(all_params, "By1"), "nobody else's results hold there"
    for device in (("cuda", 0), ("cuda", 2)):
        shared = fake.rows[device][op, ROWS[1].split(",")[1]]
        assert shared[3:] == (0.5, 1.0, False, *record)
    assert fake.written == 1


def test_a_failure_is_an_error_after_all_is_kept(
    gpus: Callable[..., FakeModule], pattern: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = gpus("A")
    monkeypatch.setattr(offline_gpus, "tune_in_processes", lambda shares: ["cuda:0: it broke"])
    with pytest.raises(RuntimeError, match=r"^mgpu_tune_gemm_in_file: cuda:0: it broke$"):
        tunedops.mgpu_tune_gemm_in_file(pattern, 1)
    assert fake.written == 1


# ---- the processes


def on_the_cpu(*rows: str) -> dict[Device, list[ListedKey]]:
    return {CPU: listed([f"{row}_threads_1" for row in rows])}


def test_processes_tune_into_the_programs_file(results_path: Path) -> None:
    assert offline_gpus.tune_in_processes(on_the_cpu(*ROWS[:3])) == []
    tunedops.read_file()
    tuned = [tuple(f"{row}_threads_1".split(",")) for row in ROWS[:3]]
    assert keys() == tuned
    assert results_path.exists()


def test_processes_have_the_settings_of_the_program() -> None:
    _C.set_setting("KERNELS", "Gemm_Nobody")
    _C.set_setting("MAX_VARIANTS", "7")
    settings = offline_gpus.settings_of_the_program()
    assert settings["KERNELS"] == "Gemm_Nobody"
    assert settings["MAX_VARIANTS"] == "7"
    assert "FILENAME" not in settings, "each process has the name of its device's"
    offline_gpus.tune_in_processes(on_the_cpu(ROWS[0]))
    tunedops.read_file()
    assert [result.solution for result in tunedops.get_results()] == ["Default"]


def test_processes_search_as_asked_for(
    gpus: Callable[..., FakeModule], pattern: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    gpus("A")
    given = []

    def tune(shares: dict[Device, list[ListedKey]]) -> list[str]:
        given.append(offline_gpus.settings_of_the_program().get("SEARCH"))
        return []

    monkeypatch.setattr(offline_gpus, "tune_in_processes", tune)
    tunedops.mgpu_tune_gemm_in_file(pattern, 1, search="exhaustive")
    tunedops.mgpu_tune_gemm_in_file(pattern, 1)
    assert given == ["exhaustive", "guided"]


def test_what_processes_could_not_do_is_said() -> None:
    side = 1_000_000
    huge = f"GemmTunableOp_float_NN,nn_{side}_{side}_{side}_ld_{side}_{side}_{side}"
    (failure,) = offline_gpus.tune_in_processes(on_the_cpu(huge, ROWS[0]))
    assert failure == (
        f"cpu:0: list.csv:1: '{huge}_threads_1' is not tuned: not enough free memory to tune on"
    )
    tunedops.read_file()
    assert len(keys()) == 1, "the others are"


def test_a_process_that_fails_is_said() -> None:
    _C.set_setting("READ_ONLY", "1")
    (failure,) = offline_gpus.tune_in_processes(on_the_cpu(ROWS[0]))
    assert failure == "the process for cpu:0 failed: tune: TUNEDOPS_READ_ONLY is on"


def test_results_are_taken_as_from_a_file() -> None:
    row = f"{ROWS[0]}_threads_1"
    said = messages(lambda: offline_gpus._take_rows([f"{row},Default,0.5,1.0"], CPU))
    assert said == []
    (result,) = tunedops.get_results()
    assert (f"{result.op},{result.params}", result.solution) == (row, "Default")
    assert (result.time_ms, result.default_ms, result.tuned_here) == (0.5, 1.0, False)
