"""A program that writes token by token, with attention made of plain products.

Its keys and values grow with each token, and its prompts are of all lengths, so its products
never repeat: they must not be tuned for ever.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import tunedops
from conftest import keys
from torch import Tensor, nn
from torch.testing import assert_close
from tunedops import _C

HEADS, SHARED, WIDTH = 4, 2, 8  # heads of queries, of keys and values, and their width
HIDDEN = HEADS * WIDTH
VARIANTS = 3


class Attention(nn.Module):
    """As libraries of language models write it where no fused kernel is to be used."""

    def __init__(self) -> None:
        super().__init__()
        self.q = nn.Linear(HIDDEN, HIDDEN)
        self.k = nn.Linear(HIDDEN, SHARED * WIDTH, bias=False)
        self.v = nn.Linear(HIDDEN, SHARED * WIDTH, bias=False)
        self.o = nn.Linear(HIDDEN, HIDDEN, bias=False)
        self.cache: tuple[Tensor, Tensor] | None = None

    def forward(self, x: Tensor, use_cache: bool = True) -> Tensor:
        batch, tokens, _ = x.shape

        def heads(y: Tensor) -> Tensor:
            return y.view(batch, tokens, -1, WIDTH).transpose(1, 2)

        q, k, v = heads(self.q(x)), heads(self.k(x)), heads(self.v(x))
        if use_cache:
            if self.cache is not None:
                k, v = torch.cat([self.cache[0], k], dim=2), torch.cat([self.cache[1], v], dim=2)
            self.cache = k, v
        length = k.shape[2]

        def repeated(y: Tensor) -> Tensor:
            y = y[:, :, None].expand(batch, SHARED, HEADS // SHARED, length, WIDTH)
            return y.reshape(batch, HEADS, length, WIDTH)

        scores = torch.matmul(q, repeated(k).transpose(2, 3)) * WIDTH**-0.5
        mask = torch.ones(tokens, length).tril(length - tokens).log()
        weights = torch.softmax(scores + mask, dim=-1)
        return self.o(torch.matmul(weights, repeated(v)).transpose(1, 2).flatten(2))


def converse(layer: Attention, prompts: range, tokens: int, batch: int) -> list[Tensor]:
    """For each prompt the answer, which goes on with what came out last."""
    outputs = []
    for prompt in prompts:
        layer.cache = None
        x = torch.randn(batch, prompt, HIDDEN, generator=torch.Generator().manual_seed(prompt))
        for _ in range(tokens):
            x = layer(x)[:, -1:]
        outputs.append(x)
    return outputs


def without_cache(layer: Attention, prompts: range, tokens: int, batch: int) -> list[Tensor]:
    """The whole sequence each time."""
    outputs = []
    for prompt in prompts:
        x = torch.randn(batch, prompt, HIDDEN, generator=torch.Generator().manual_seed(prompt))
        for _ in range(tokens):
            x = torch.cat([x, layer(x, use_cache=False)[:, -1:]], dim=1)
        outputs.append(x)
    return outputs


def shape_of(params: str) -> tuple[int, int, int]:
    m, n, k = map(int, re.findall(r"\d+", params)[:3])
    return m, n, k


@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("program", [converse, without_cache])
@pytest.mark.usefixtures("tuning")
def test_a_growing_sequence_is_tuned_for_a_few_lengths(
    program: Callable[..., list[Tensor]], batch: int, tmp_path: Path
) -> None:
    layer, prompts = Attention(), range(11, 31, 2)
    with torch.no_grad():
        tunedops.enable(False)
        expected = program(layer, prompts, 12, batch)
        tunedops.enable()
        _C.set_setting("MAX_VARIANTS", str(VARIANTS))
        tunedops.record_untuned_enable()
        for result, y in zip(program(layer, prompts, 12, batch), expected, strict=True):
            assert_close(result, y, rtol=1e-3, atol=1e-3)

        # What grows, of the products of attention: keys (scores) or values; and whether the
        # queries are one token or as many.
        grown: Counter[str] = Counter()
        for op, params in keys():
            m, n, k = shape_of(params)
            if "Batched" in op:
                site = "scores" if k == WIDTH else "values"
                grown[f"{site} of {'one' if n == 1 else 'all'}"] += 1
            else:
                grown[f"layer {m}x{k} {op}"] += 1
        assert grown, "nothing was tuned"
        assert all(count <= VARIANTS for count in grown.values()), grown
        assert len(grown) <= 8

        tuned, listed = keys(), (tmp_path / "untuned_cpu.csv").read_text().splitlines()
        assert len(listed) == len(set(listed))
        assert len(listed) > 3 * len(tuned), "most lengths are left to torch"
        assert not set(listed) & {",".join(key) for key in tuned}

        # Once more: nothing new.
        tunedops.enable()
        program(layer, prompts, 12, batch)
        assert keys() == tuned
        assert (tmp_path / "untuned_cpu.csv").read_text().splitlines() == listed


@pytest.mark.usefixtures("tuning")
def test_without_time_nothing_is_tuned(tmp_path: Path) -> None:
    _C.set_setting("TOTAL_BUDGET_S", "0")
    tunedops.record_untuned_enable()
    with torch.no_grad():
        converse(Attention(), range(3, 6), 4, 1)
    assert keys() == []
    assert len((tmp_path / "untuned_cpu.csv").read_text().splitlines()) > 10
