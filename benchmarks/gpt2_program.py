"""A GPT-2 of Hugging Face transformers that trains a little and then writes.

It is the ordinary program that tunedops is for: it imports torch and transformers and knows
of nothing else, so what tunedops does to it is done by environment variables alone. The
weights are random, drawn from a seed, so that nothing is fetched and each run is the same.
`gpt2.py` starts it and compares the runs; by itself it is

    TUNEDOPS_ENABLED=1 python benchmarks/gpt2_program.py --layers 2 --tokens 20

Each line that it prints is a JSON object: one for each training step (`loss`, `seconds`), one
for each generation (`tokens`, a list for each step that holds one of each text, and in `seconds`
the time until each step's were there).
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

import torch
from torch.profiler import profile
from transformers import GPT2Config, GPT2LMHeadModel
from transformers.generation import BaseStreamer


def parse_arguments(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """The arguments; the defaults are GPT-2 with 124 million weights."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dtype", default="float32", choices=("float32", "bfloat16"))
    parser.add_argument(
        "--autocast", default="none", choices=("none", "bfloat16"), help="in training"
    )
    parser.add_argument("--compiled", type=int, default=0, choices=(0, 1), help="in training")
    parser.add_argument("--attention", default="eager", choices=("eager", "sdpa"))
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--width", type=int, default=768)
    parser.add_argument("--heads", type=int, default=12)
    parser.add_argument("--vocabulary", type=int, default=50257)
    parser.add_argument("--steps", type=int, default=4, help="of training; 0 for none")
    parser.add_argument("--batch", type=int, default=1, help="sequences of a training step")
    parser.add_argument("--length", type=int, default=128, help="tokens of a training sequence")
    parser.add_argument("--profile", metavar="FILE", help="trace of the last step, with shapes")
    parser.add_argument("--texts", type=int, default=1, help="texts that are written at once")
    parser.add_argument("--prompt", type=int, default=16, help="tokens of a text that are given")
    parser.add_argument("--tokens", type=int, default=200, help="tokens of a text to generate")
    parser.add_argument("--generations", type=int, default=2, help="how often the same is written")
    return parser.parse_args(argv)


def make_model(arguments: argparse.Namespace) -> GPT2LMHeadModel:
    """The model with random weights. No dropout: two runs must compute the same."""
    config = GPT2Config(
        n_layer=arguments.layers,
        n_embd=arguments.width,
        n_head=arguments.heads,
        vocab_size=arguments.vocabulary,
        n_positions=max(arguments.length, arguments.prompt + arguments.tokens),
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        bos_token_id=None,
        eos_token_id=None,  # nothing ends a text early
        pad_token_id=0,
        attn_implementation=arguments.attention,
    )
    torch.manual_seed(0)
    model = GPT2LMHeadModel(config)
    return model.to(arguments.device, getattr(torch, arguments.dtype))


def make_ids(arguments: argparse.Namespace) -> torch.Tensor:
    """The texts to learn and to continue: random tokens, from a seed."""
    generator = torch.Generator().manual_seed(1)
    texts = max(arguments.batch, arguments.texts)
    shape = (texts, max(arguments.length, arguments.prompt))
    return torch.randint(arguments.vocabulary, shape, generator=generator).to(arguments.device)


def synchronize(device: torch.device) -> None:
    """Waits until what was asked of the device is done."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def train(model: GPT2LMHeadModel, ids: torch.Tensor, arguments: argparse.Namespace) -> None:
    """Learns the same sequences for some steps."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    model.train()
    run = torch.compile(model) if arguments.compiled else model
    autocast = torch.autocast(
        ids.device.type, dtype=torch.bfloat16, enabled=arguments.autocast != "none"
    )

    def learn() -> torch.Tensor:
        with autocast:
            loss = run(input_ids=ids, labels=ids).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        synchronize(ids.device)
        return loss.detach()

    for step in range(arguments.steps):
        is_profiled = arguments.profile is not None and step == arguments.steps - 1
        with profile(record_shapes=True) if is_profiled else nullcontext() as profiler:
            begin = time.perf_counter()
            loss = learn()
            seconds = time.perf_counter() - begin
        if profiler is not None:
            profiler.export_chrome_trace(arguments.profile)
        say({"step": step, "loss": loss.item(), "seconds": seconds})


class Clock(BaseStreamer):
    """Notes when the tokens of each step reached the host."""

    def __init__(self) -> None:
        self.begin = time.perf_counter()
        self.seconds: list[float] = []
        self.is_prompt = True

    def put(self, value: torch.Tensor) -> None:
        """Is called with the prompts, then with a token of each text."""
        if not self.is_prompt:
            self.seconds.append(time.perf_counter() - self.begin)
        self.is_prompt = False

    def end(self) -> None:
        """Is called after the last tokens."""


def generate(model: GPT2LMHeadModel, prompts: torch.Tensor, tokens: int) -> None:
    """Adds `tokens` tokens to each, always the likeliest, with a cache of keys and values."""
    model.eval()
    synchronize(prompts.device)
    clock = Clock()
    ids = model.generate(
        prompts,
        attention_mask=torch.ones_like(prompts),
        max_new_tokens=tokens,
        do_sample=False,
        use_cache=True,
        streamer=clock,
    )
    say({"tokens": ids[:, prompts.shape[1] :].t().tolist(), "seconds": clock.seconds})


def say(line: dict[str, Any]) -> None:
    """Prints one JSON object."""
    print(json.dumps(line), flush=True)


def main(argv: Sequence[str] | None = None) -> None:
    """Trains, then generates."""
    arguments = parse_arguments(argv)
    model = make_model(arguments)
    ids = make_ids(arguments)
    train(model, ids[: arguments.batch, : arguments.length], arguments)
    for _ in range(arguments.generations):
        generate(model, ids[: arguments.texts, : arguments.prompt], arguments.tokens)


if __name__ == "__main__":
    main()
