"""Devices as the compiled module names them: a type and an index."""

from __future__ import annotations

import torch


def parse_device(device: str | torch.device | None) -> tuple[str, int]:
    """``("cpu", 0)`` or ``("cuda", index)``; None is the CPU.

    Raises:
        ValueError: there is no backend for that kind of device.
    """
    from tunedops import _C

    parsed = torch.device("cpu" if device is None else device)
    if parsed.type not in ("cpu", "cuda") or not _C.has_backend(parsed.type):
        raise ValueError(f"tunedops has no backend for device '{parsed}' in this build")
    if parsed.type == "cpu":
        return ("cpu", 0)
    index = torch.cuda.current_device() if parsed.index is None else parsed.index
    return ("cuda", index)
