"""Makes the traces in tests/data: a small model's training step, as torch profiles it.

The model knows nothing of tunedops. Run it as ``python tests/make_trace.py`` to make
training_step_cpu.json.gz anew, or with ``--device cuda`` for a GPU's, which is named after the
GPU. Nothing is kept of the machine but how long each op and kernel took.
"""

from __future__ import annotations

import argparse
import gzip
import json
import tempfile
from pathlib import Path

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile

FOLDER = Path(__file__).parent / "data"

# What the reader looks at.
CATEGORIES = ("cpu_op", "kernel", "gpu_memcpy", "gpu_memset", "cuda_runtime", "cuda_driver")
KEPT = (
    "Input Dims",
    "Input type",
    "Input Strides",
    "Concrete Inputs",
    "External id",
    "correlation",
)


class SmallModel(nn.Module):
    """One attention and one perceptron, of 2 sequences of 6 tokens (on a GPU, more of them)."""

    def __init__(self, width: int, tokens: int) -> None:
        super().__init__()
        self.width, self.tokens = width, tokens
        self.to_heads = nn.Linear(width, 3 * width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        sizes = (2, self.tokens, 4, self.width // 4)
        q, k, v = (part.view(sizes).transpose(1, 2) for part in self.to_heads(x).chunk(3, -1))
        weights = torch.softmax(q @ k.mT / 2, dim=-1)
        x = x + (weights @ v).transpose(1, 2).reshape(2, self.tokens, self.width)
        return x + self.down(torch.relu(self.up(x)))


def training_step(device: str) -> None:
    """Forward, backward, and a step of the optimizer; on a GPU in bfloat16."""
    torch.manual_seed(0)
    width, tokens = (16, 6) if device == "cpu" else (252, 300)  # of which no side is 2^n
    model = SmallModel(width, tokens).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x = torch.randn(2, tokens, width, device=device)
    with torch.autocast(device, torch.bfloat16, enabled=device != "cpu"):
        loss = model(x).square().mean()
    loss.backward()
    optimizer.step()
    if device != "cpu":
        torch.cuda.synchronize()


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--folder", type=Path, default=FOLDER)
    return parser.parse_args()


def main() -> None:
    """Writes the file."""
    arguments = parse_arguments()
    device = arguments.device
    torch.set_num_threads(2)
    training_step(device)
    activities = [ProfilerActivity.CPU] + [ProfilerActivity.CUDA] * (device == "cuda")
    with profile(activities=activities, record_shapes=True) as profiler:
        training_step(device)
    with tempfile.TemporaryDirectory() as folder:
        name = str(Path(folder) / "trace.json")
        profiler.export_chrome_trace(name)
        document = json.loads(Path(name).read_text())
    events = []
    for event in document["traceEvents"]:
        if event.get("ph") == "X" and event.get("cat") in CATEGORIES:
            args = {name: value for name, value in event["args"].items() if name in KEPT}
            events.append(event | {"pid": 1, "args": args})
    first = min(event["ts"] for event in events)
    threads = sorted({event["tid"] for event in events}, key=str)
    for event in events:
        event["ts"] = round(event["ts"] - first, 3)
        event["tid"] = threads.index(event["tid"]) + 1
    text = json.dumps({"schemaVersion": 1, "record_shapes": 1, "traceEvents": events})
    name = "cpu" if device == "cpu" else torch.cuda.get_device_name().split()[-1].lower()
    arguments.folder.mkdir(exist_ok=True)
    path = arguments.folder / f"training_step_{name}.json.gz"
    path.write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main()
