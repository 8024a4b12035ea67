"""Several processes, forks and threads around one set of results."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest
import torch
import tunedops
from conftest import RunPython, keys
from torch import randn
from torch.testing import assert_close
from tunedops import _C

PRODUCTS = """
tunedops.enable()
torch.manual_seed(0)
a, b, bias = torch.randn(4, 512), torch.randn(512, 48), torch.randn(48)
A, B = a.expand(3, 4, 512), b.expand(3, 512, 48)
def products():
    yield tunedops.mm(a, b)
    yield torch.mm(a.bfloat16(), b.bfloat16())
    yield tunedops.addmm(torch.ones(4, 48), a, b, beta=0.5)
    yield tunedops.linear(a, b.t().contiguous(), bias, "none")
    yield tunedops.bmm(A, B)
    yield tunedops.baddbmm(torch.ones(48), A, B)
    yield torch.nn.functional.linear(A, b.t().contiguous())
"""


@pytest.mark.smoke
def test_another_process_takes_the_same_kernels(run_python: RunPython, tmp_path: Path) -> None:
    first = run_python(
        PRODUCTS
        + """
list(products())
results = tunedops.get_results()
for result in results:
    print(json.dumps([result.op, result.params, result.solution]))
"""
    )
    path = tmp_path / "tunedops_results_cpu.csv"
    text = path.read_text()
    run_python(
        PRODUCTS
        + f"""
stored = {[json.loads(line) for line in first.stdout.splitlines()]!r}
assert len(stored) >= 6
for op, params, solution in stored:
    assert _C.stored(CPU, op, params)[2] == solution
values = list(products())
assert [[r.op, r.params, r.solution] for r in tunedops.get_results()] == stored
assert not any(r.tuned_here for r in tunedops.get_results())
_C.set_setting("ON_MISS", "error")
for value, again in zip(values, products()):
    assert torch.equal(value, again)
# What ran is what is stored: forcing it gives the same bits.
for value, (op, params, solution) in [(values[0], next(
    s for s in stored if (s[0], s[1]) == _C.key_of(a, b)))]:
    with tunedops.force(solution):
        assert torch.equal(tunedops.mm(a, b), value)
""",
        TUNEDOPS_TUNING="0",
    )
    assert path.read_text() == text, "nothing is written without a win"


def test_exit_merges_and_sorts_unless_told_not_to(run_python: RunPython, tmp_path: Path) -> None:
    code = """
tunedops.enable()
for rows in (7, 5, 3):
    tunedops.mm(torch.randn(rows, 16), torch.randn(16, 16))
tunedops.write_file_on_exit({wanted})
"""

    def order() -> list[str]:
        path = tmp_path / "tunedops_results_cpu.csv"
        lines = path.read_text().splitlines()
        path.unlink()
        return [line.split(",")[1][:7] for line in lines if line.startswith("Gemm")]

    run_python(code.format(wanted=True))
    assert order() == ["nn_16_3", "nn_16_5", "nn_16_7"]
    run_python(code.format(wanted=False))
    assert order() == ["nn_16_7", "nn_16_5", "nn_16_3"]


def test_exit_saves_what_could_not_be_saved_before(run_python: RunPython, tmp_path: Path) -> None:
    run_python(
        """
import warnings
warnings.simplefilter("ignore")
tunedops.set_filename("later/results.csv")
tunedops.enable()
tunedops.mm(torch.randn(3, 16), torch.randn(16, 16))
os.mkdir("later")
"""
    )
    assert "nn_16_3_16" in (tmp_path / "later" / "results.csv").read_text()


def test_processes_at_the_same_time_lose_nothing(run_python: RunPython, tmp_path: Path) -> None:
    def tune(rows: int) -> None:
        run_python(
            f"""
tunedops.enable()
for columns in range(1, 9):
    tunedops.mm(torch.randn({rows}, 8), torch.randn(8, columns))
"""
        )

    workers = [threading.Thread(target=tune, args=(rows,)) for rows in (2, 3, 4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    text = (tmp_path / "tunedops_results_cpu.csv").read_text()
    found = {line.split(",")[1] for line in text.splitlines() if line.startswith("Gemm")}
    expected = {(rows, columns) for rows in (2, 3, 4) for columns in range(1, 9)}
    assert {tuple(map(int, key.split("_")[1:3]))[::-1] for key in found} == expected
    assert text.count("Validator,DEVICE") == 1


def test_a_forked_child_tunes_nothing_and_lists_what_it_lacks(
    run_python: RunPython, tmp_path: Path
) -> None:
    done = run_python(
        """
tunedops.enable()
b = torch.ones(16, 16)
tunedops.mm(torch.ones(3, 16), b)
before = open("tunedops_results_cpu.csv").read()
child = os.fork()
if child == 0:
    try:
        assert torch.equal(tunedops.mm(torch.ones(3, 16), b), torch.full((3, 16), 16.0))
        assert torch.equal(tunedops.mm(torch.ones(5, 16), b), torch.full((5, 16), 16.0))
        assert len(tunedops.get_results()) == 1
        try:
            _C.tune(CPU, *_C.key_of(torch.ones(5, 16), b), True)
        except RuntimeError as error:
            assert "forked child" in str(error)
        else:
            raise AssertionError("it tuned")
        print("the child is done", flush=True)
        sys.exit(0)  # as a worker would: through atexit
    except BaseException as error:
        if not isinstance(error, SystemExit):
            print(repr(error), flush=True)
        raise
_, status = os.waitpid(child, 0)
assert status == 0
assert open("tunedops_results_cpu.csv").read() == before
tunedops.mm(torch.ones(7, 16), b)
assert len(tunedops.get_results()) == 2, "the parent still tunes"
tunedops.tuning_enable(False)
tunedops.mm(torch.ones(5, 16), b)
tunedops.mm(torch.ones(9, 16), b)
listed = open("tunedops_untuned_cpu.csv").read().splitlines()
assert [line.split(",")[1][:7] for line in listed] == ["nn_16_5", "nn_16_9"], listed
""",
        OMP_NUM_THREADS="1",
        TUNEDOPS_RECORD_UNTUNED="1",
    )
    assert done.stdout == "the child is done\n"


def test_data_loader_workers_multiply(run_python: RunPython) -> None:
    run_python(
        """
from torch.utils.data import DataLoader, Dataset
class Products(Dataset):
    def __len__(self):
        return 8
    def __getitem__(self, index):
        return torch.mm(torch.ones(index + 1, 4), torch.ones(4, 2)).sum()
tunedops.enable()
torch.mm(torch.ones(1, 4), torch.ones(4, 2))
loader = DataLoader(Products(), num_workers=2, multiprocessing_context="fork")
assert [int(x) for x in loader] == [8 * (i + 1) for i in range(8)]
assert len(tunedops.get_results()) == 1
""",
        OMP_NUM_THREADS="1",
    )


@pytest.mark.usefixtures("tuning")
def test_threads_multiply_while_switches_flip(tmp_path: Path) -> None:
    _C.set_setting("MAX_TUNING_BUDGET_MS", "5")
    w = randn(24, 16)
    inputs = [randn(rows, 24) for rows in (1, 3, 8, 17)]
    expected = [(x.unsqueeze(-1) * w).sum(-2) for x in inputs]
    failures: list[object] = []
    stop = threading.Event()

    def multiply(which: int) -> None:
        torch.set_num_threads(1 + which % 2)
        try:
            for i in range(150):
                n = (i + which) % len(inputs)
                product = (tunedops.mm, torch.mm, torch.matmul)[i % 3]
                assert_close(product(inputs[n], w), expected[n], rtol=1e-4, atol=1e-4)
        except BaseException as error:
            failures.append(error)

    def flip() -> None:
        i = 0
        try:
            while not stop.is_set():
                i += 1
                tunedops.tuning_enable(i % 3 != 0)
                tunedops.enable(i % 7 != 0)
                tunedops.get_results()
                if i % 5 == 0:
                    tunedops.clear()
                if i % 11 == 0:
                    tunedops.set_filename(tmp_path / f"results{i % 2}.csv")
                if i % 13 == 0:
                    tunedops.write_file()
                with tunedops.force("Default"):
                    torch.mm(inputs[0], w)
        except BaseException as error:
            failures.append(error)

    workers = [threading.Thread(target=multiply, args=(i,)) for i in range(4)]
    flipper = threading.Thread(target=flip)
    for thread in (flipper, *workers):
        thread.start()
    for worker in workers:
        worker.join()
    stop.set()
    flipper.join()
    assert failures == []


@pytest.mark.usefixtures("tuning")
def test_one_thread_tunes_and_the_others_do_not_wait_for_its_result() -> None:
    barrier = threading.Barrier(4)
    x, w = torch.ones(3, 64), torch.ones(64, 8)
    wrong: list[object] = []

    def multiply() -> None:
        barrier.wait()
        for _ in range(20):
            if not torch.equal(tunedops.mm(x, w), torch.full((3, 8), 64.0)):
                wrong.append(1)

    threads = [threading.Thread(target=multiply) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert len(keys()) == 1
