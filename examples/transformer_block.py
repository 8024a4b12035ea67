"""A transformer block: tuned once, saved, and used in another process, forward and backward.

    python examples/transformer_block.py tune result.json [--device cuda]
    python examples/transformer_block.py use result.json [--device cuda]

`tune` runs one training step to find its products, tunes each, and prints what it found. `use`
loads the result and trains with it: nothing is tuned, no results file is written, and outside of
the `with` block everything is as it was. It prints how long a step takes with the result and
without it, by turns.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch
import tunedops
from rich.console import Console
from torch import Tensor, nn


class Block(nn.Module):
    """Attention and a perceptron, each behind a norm and beside a shortcut."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.to_heads = nn.Linear(width, 3 * width)
        self.from_heads = nn.Linear(width, width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        batch, tokens, width = x.shape
        parts = self.to_heads(self.norms[0](x)).chunk(3, dim=-1)
        q, k, v = (part.view(batch, tokens, self.heads, -1).transpose(1, 2) for part in parts)
        attended = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.from_heads(attended.transpose(1, 2).reshape(batch, tokens, width))
        return x + self.down(nn.functional.gelu(self.up(self.norms[1](x))))


def training_step(arguments: argparse.Namespace) -> Callable[[], Tensor]:
    """A step that is the same each time: forward, and backward."""
    torch.manual_seed(0)
    block = Block(arguments.width, heads=4).to(arguments.device)
    x = torch.randn(arguments.batch, arguments.tokens, arguments.width, device=arguments.device)

    def step() -> Tensor:
        block.zero_grad(set_to_none=True)
        with torch.autocast(arguments.device, torch.bfloat16, enabled=arguments.device == "cuda"):
            loss = block(x).square().mean()
        loss.backward()
        return loss.detach()

    return step


def tune(arguments: argparse.Namespace) -> None:
    """Finds and tunes the products of one step."""
    result = tunedops.autotune(training_step(arguments), budget_ms=arguments.budget_ms)
    result.dump(arguments.result)
    console = Console(width=None if sys.stdout.isatty() else 160)  # of a file: wide enough
    console.print(result.table())
    console.print(f"{result!r}: {arguments.result}", markup=False)


def use(arguments: argparse.Namespace) -> None:
    """Trains with the result, and without it by turns."""
    result = tunedops.AutotuningResult.load(arguments.result)
    step = training_step(arguments)
    problems = tunedops.get_bound_args(step)
    unknown = [problem for problem in problems if problem not in result]
    if unknown:
        print(
            f"the result has nothing for {len(unknown)} of {len(problems)} problems: other flags?"
        )
    seconds: dict[str, list[float]] = {"with": [], "without": []}
    for _ in range(arguments.rounds):
        without, took = timed(step, arguments.device)
        seconds["without"].append(took)
        with result:
            loss, took = timed(step, arguments.device)
        seconds["with"].append(took)
        torch.testing.assert_close(loss, without, rtol=1e-2, atol=1e-3)
    without_ms, with_ms = (1000 * statistics.median(seconds[s]) for s in ("without", "with"))
    print(
        f"a step takes {with_ms:.3f} ms with the result and {without_ms:.3f} ms without: "
        f"{without_ms / with_ms:.2f}x"
    )


def timed(step: Callable[[], Tensor], device: str) -> tuple[Tensor, float]:
    """What a step gives, and the seconds it takes."""
    begin = time.perf_counter()
    loss = step()
    if device == "cuda":
        torch.cuda.synchronize()
    return loss, time.perf_counter() - begin


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("what", choices=("tune", "use"))
    parser.add_argument("result", type=Path, help="the file that one writes and the other reads")
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--tokens", type=int, default=64, help="of a sequence")
    parser.add_argument("--batch", type=int, default=2, help="sequences")
    parser.add_argument("--budget-ms", type=float, default=400, help="for one product")
    parser.add_argument("--rounds", type=int, default=15)
    return parser.parse_args()


def main() -> None:
    arguments = parse_arguments()
    (tune if arguments.what == "tune" else use)(arguments)


if __name__ == "__main__":
    main()
