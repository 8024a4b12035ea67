"""Makes tests/data/training_step_cpu.json.gz: a tiny model's training step, as torch profiles it.

The model knows nothing of tunedops. Run it as ``python tests/make_trace.py`` to make the file
anew; nothing is kept of the machine but how long each op took.
"""

from __future__ import annotations

import gzip
import json
import tempfile
from pathlib import Path

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile

PATH = Path(__file__).parent / "data" / "training_step_cpu.json.gz"

KEPT = ("Input Dims", "Input type", "Input Strides", "Concrete Inputs")


class TinyModel(nn.Module):
    """One attention and one perceptron, of 2 sequences of 6 tokens of 16 numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.to_heads = nn.Linear(16, 48)
        self.up = nn.Linear(16, 64)
        self.down = nn.Linear(64, 16, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = (part.view(2, 6, 4, 4).transpose(1, 2) for part in self.to_heads(x).chunk(3, -1))
        weights = torch.softmax(q @ k.mT / 2, dim=-1)
        x = x + (weights @ v).transpose(1, 2).reshape(2, 6, 16)
        return x + self.down(torch.relu(self.up(x)))


def training_step() -> None:
    """Forward, backward, and a step of the optimizer."""
    torch.manual_seed(0)
    model = TinyModel()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loss = model(torch.randn(2, 6, 16)).square().mean()
    loss.backward()
    optimizer.step()


def main() -> None:
    """Writes the file."""
    torch.set_num_threads(2)
    training_step()
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as profiler:
        training_step()
    with tempfile.TemporaryDirectory() as folder:
        name = str(Path(folder) / "trace.json")
        profiler.export_chrome_trace(name)
        document = json.loads(Path(name).read_text())
    events = []
    for event in document["traceEvents"]:
        if event.get("ph") == "X" and event.get("cat") == "cpu_op":
            args = {name: value for name, value in event["args"].items() if name in KEPT}
            events.append(event | {"pid": 1, "args": args})
    first = min(event["ts"] for event in events)
    threads = sorted({event["tid"] for event in events})
    for event in events:
        event["ts"] = round(event["ts"] - first, 3)
        event["tid"] = threads.index(event["tid"]) + 1
    text = json.dumps({"schemaVersion": 1, "record_shapes": 1, "traceEvents": events})
    PATH.parent.mkdir(exist_ok=True)
    PATH.write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main()
