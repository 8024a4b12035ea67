"""Products of any kind, recorded by one run, tuned from the list, and found by the next run.

Random problems: op, types, layouts with gaps and steps, batch strides, bias, activation,
alpha and beta, outputs that exist, torch's flags. Whatever was listed is tuned as exactly the
problem that the product is, or the second run, to which a miss is an error, fails.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
import torch
import tunedops
from conftest import CPU, keys
from sample_inputs import ACTIVATIONS, DTYPES, batches, make, matrices
from torch import Tensor
from tunedops import _C

# torch says so whenever its switches for oneDNN are used.
pytestmark = pytest.mark.filterwarnings("ignore:TF32 acceleration on top of oneDNN")


@contextmanager
def flag(name: str) -> Iterator[None]:
    """One of torch's flags that keys have, as a program sets it."""
    with ExitStack() as undo:
        if name == "onednn_off":
            undo.enter_context(torch.backends.mkldnn.flags(enabled=False))
        elif name == "det":
            torch.use_deterministic_algorithms(True)
            undo.callback(torch.use_deterministic_algorithms, False)
        elif name == "threads_1":
            torch.set_num_threads(1)
            undo.callback(torch.set_num_threads, 2)
        elif name != "none":
            torch.backends.mkldnn.matmul.fp32_precision = name
            undo.callback(setattr, torch.backends.mkldnn.matmul, "fp32_precision", "none")
        yield


class RandomProducts:
    """Calls that can be repeated, each with operands of its own."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        torch.manual_seed(seed)

    def size(self) -> int:
        return self.random.choice([1, 1, 2, 3, 8, 17, 40, 64])

    def one_of(self, layouts: dict[str, Tensor]) -> tuple[str, Tensor]:
        name = self.random.choice(list(layouts))
        return name, layouts[name]

    def output(self, layouts: dict[str, Tensor]) -> tuple[str, Tensor]:
        """An output that a program may give: no element is there twice."""
        usable = {
            name: x
            for name, x in layouts.items()
            if not any(word in name for word in ("expanded", "overlapping", "neg", "conj", "adj"))
        }
        return self.one_of(usable)

    def next(self) -> tuple[str, Callable[[], Tensor]]:
        """What it is, and the call."""
        op = self.random.choice(["mm", "addmm", "bmm", "baddbmm", "linear", "mv", "addmm_"])
        flags = self.random.choice(["none", "none", "onednn_off", "det", "threads_1", "bf16"])
        dtype = self.random.choice(DTYPES)
        m, n, k = self.size(), self.size(), self.size()
        what, call = getattr(self, op)(m, n, k, dtype)

        def under_flag() -> Tensor:
            with flag(flags):
                return call()

        return f"{op} {m}x{n}x{k} {dtype} {flags} {what}", under_flag

    def scalars(self) -> dict[str, float]:
        return {
            "alpha": self.random.choice([1, 1, 0.5, -2]),
            "beta": self.random.choice([0, 1, 1, 0.5]),
        }

    def mm(self, m: int, n: int, k: int, dtype: torch.dtype):
        (left, a), (right, b) = (
            self.one_of(matrices(m, k, dtype)),
            self.one_of(matrices(k, n, dtype)),
        )
        product = self.random.choice([tunedops.mm, torch.mm, torch.matmul])
        if self.random.random() < 0.3:
            where, out = self.output(matrices(m, n, dtype))
            return f"{left}@{right} into {where}", lambda: torch.mm(a, b, out=out)
        return f"{left}@{right}", lambda: product(a, b)

    def addmm(self, m: int, n: int, k: int, dtype: torch.dtype):
        (left, a), (right, b) = (
            self.one_of(matrices(m, k, dtype)),
            self.one_of(matrices(k, n, dtype)),
        )
        shape = self.random.choice([(n,), (m, n), (1, n), (m, 1)])
        addend, scalars = make(*shape, dtype=dtype), self.scalars()
        product = self.random.choice([tunedops.addmm, torch.addmm])
        return f"{left}@{right} + {shape} {scalars}", lambda: product(addend, a, b, **scalars)

    def addmm_(self, m: int, n: int, k: int, dtype: torch.dtype):
        (left, a), (right, b) = (
            self.one_of(matrices(m, k, dtype)),
            self.one_of(matrices(k, n, dtype)),
        )
        where, out = self.output(matrices(m, n, dtype))
        scalars, before = self.scalars(), out.clone()
        return (
            f"{left}@{right} in {where} {scalars}",
            lambda: out.copy_(before).addmm_(a, b, **scalars).clone(),
        )

    def bmm(self, m: int, n: int, k: int, dtype: torch.dtype):
        batch = self.size()
        (left, a), (right, b) = (
            self.one_of(batches(batch, m, k, dtype)),
            self.one_of(batches(batch, k, n, dtype)),
        )
        product = self.random.choice([tunedops.bmm, torch.bmm, torch.matmul])
        return f"{batch} {left}@{right}", lambda: product(a, b)

    def baddbmm(self, m: int, n: int, k: int, dtype: torch.dtype):
        batch = self.size()
        (left, a), (right, b) = (
            self.one_of(batches(batch, m, k, dtype)),
            self.one_of(batches(batch, k, n, dtype)),
        )
        shape = self.random.choice([(n,), (batch, m, n), (m, n)])
        addend, scalars = make(*shape, dtype=dtype), self.scalars()
        product = self.random.choice([tunedops.baddbmm, torch.baddbmm])
        what = f"{batch} {left}@{right} + {shape} {scalars}"
        return what, lambda: product(addend, a, b, **scalars)

    def linear(self, m: int, n: int, k: int, dtype: torch.dtype):
        (left, x), (right, w) = (
            self.one_of(matrices(m, k, dtype)),
            self.one_of(matrices(n, k, dtype)),
        )
        bias = self.random.choice([None, make(n, dtype=dtype)])
        activation = self.random.choice(list(ACTIVATIONS)) if not dtype.is_complex else "none"
        what = f"{left}@{right} {activation} {bias is not None}"
        return what, lambda: tunedops.linear(x, w, bias, activation)

    def mv(self, m: int, n: int, k: int, dtype: torch.dtype):
        name, a = self.one_of(matrices(m, k, dtype))
        x = make(k, dtype=dtype)
        return name, lambda: torch.mv(a, x)


@pytest.mark.usefixtures("stored_only")
@pytest.mark.parametrize("seed", range(60))
def test_what_is_listed_is_what_is_found(seed: int, tmp_path: Path) -> None:
    path = tmp_path / "untuned_cpu.csv"
    products = RandomProducts(seed)
    calls = dict(products.next() for _ in range(6))
    tunedops.record_untuned_enable()
    expected = {}
    for what, call in calls.items():
        before = path.read_text() if path.exists() else ""
        expected[what] = call()
        call()
        added = path.read_text().removeprefix(before) if path.exists() else ""
        # torch's batched products may multiply one matrix at a time, by products of their own.
        most = 2 if "bmm" in what else 1
        assert added.count("\n") <= most, f"{what}: {added}"
    listed = [tuple(line.split(",")) for line in path.read_text().splitlines()]
    assert len(listed) == len(set(listed)) > 0
    for key in listed:
        assert _C.is_problem(CPU, *key), key

    tunedops.tune_gemm_in_file(path)
    assert sorted(keys()) == sorted(listed)
    _C.set_setting("ON_MISS", "error")
    for what, call in calls.items():
        result = call()
        scale = max(1.0, expected[what].abs().max().item())
        tolerance = 2e-2 if result.dtype in (torch.bfloat16, torch.float16) else 1e-2
        difference = (result - expected[what]).abs().max().item()
        assert difference <= tolerance * scale, what
    assert len(path.read_text().splitlines()) == len(listed)


@pytest.mark.usefixtures("stored_only")
def test_every_listed_key_is_needed(tmp_path: Path) -> None:
    """Without its row each product is an error: the test above shows something."""
    path = tmp_path / "untuned_cpu.csv"
    tunedops.record_untuned_enable()
    products = RandomProducts(0)
    calls = []
    while len(calls) < 5:
        what, call = products.next()
        if "bmm" in what:
            continue  # may be more than one
        before = path.read_text() if path.exists() else ""
        call()
        if path.exists() and path.read_text() != before:
            calls.append(call)
    tunedops.tune_gemm_in_file(path)
    _C.set_setting("ON_MISS", "error")
    for key, call in zip(path.read_text().splitlines(), calls, strict=True):
        assert tunedops.delete(*key.split(","))
        with pytest.raises(RuntimeError, match="no result is stored"):
            call()
