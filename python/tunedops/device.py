"""Devices as the compiled module names them: a type and an index."""

from __future__ import annotations

import torch


def parse_device(device: str | torch.device | None) -> tuple[str, int]:
    """``("cpu", 0)`` or ``("cuda", index)``; None is the CPU.

    Raises:
        TypeError: it names none.
        ValueError: there is no such device here; the message says what lacks.
    """
    if not isinstance(device, (str, int, torch.device, type(None))):
        raise TypeError(
            "device must be a str such as 'cpu' or 'cuda:0', a torch.device or None, got "
            f"{type(device).__name__}"
        )
    parsed = torch.device("cpu" if device is None else device)
    if parsed.type == "cpu":
        if parsed.index:  # a tensor's device never has one
            raise ValueError(f"there is no '{parsed}': the processors are one device, cpu")
        return ("cpu", 0)
    if parsed.type != "cuda":
        raise ValueError(
            f"tunedops has no backend for device '{parsed}', only for cpu and cuda (NVIDIA GPUs)"
        )
    return ("cuda", _gpu_index(parsed))


def _gpu_index(device: torch.device) -> int:
    """The index of a GPU that is there."""
    from tunedops import _C

    if not _C.built_with_cuda:
        raise ValueError(
            f"this build of tunedops is for CPUs only, so '{device}' cannot be used; build it "
            "where torch is a CUDA build and nvcc is there"
        )
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if count == 0:
        raise ValueError(f"torch sees no GPU here, so there is no '{device}'")
    index = torch.cuda.current_device() if device.index is None else device.index
    if index >= count:
        seen = "1 GPU, cuda:0" if count == 1 else f"{count} GPUs, cuda:0 to cuda:{count - 1}"
        raise ValueError(f"there is no '{device}': torch sees {seen}")
    return index


def described_device(caller: str, device: str | torch.device) -> torch.device:
    """The device of a tensor that is only described: a GPU need not be here.

    A CPU has no index and a GPU always one: where none is given, the current GPU of a program
    that uses one, else 0. ``meta`` stays as it is.

    Raises:
        TypeError: it names no device.
        ValueError: it is neither a CPU nor a GPU, or has an index that none can have.
    """
    if not isinstance(device, (str, torch.device)):
        raise TypeError(
            f"{caller}: device must be a str such as 'cpu' or 'cuda:0' or a torch.device, got "
            f"{type(device).__name__}"
        )
    try:
        parsed = torch.device(device)
    except RuntimeError as error:
        raise ValueError(f"{caller}: {str(error).partition(chr(10))[0]}") from error
    if parsed.type not in ("cpu", "cuda", "meta"):
        raise ValueError(
            f"{caller}: device must be cpu, cuda or meta, got '{parsed}', for which tunedops has "
            "no backend"
        )
    if parsed.type == "cuda":
        if parsed.index is not None:
            return parsed
        initialized = torch.cuda.is_initialized()
        return torch.device("cuda", torch.cuda.current_device() if initialized else 0)
    return torch.device(parsed.type)


def device_pair(device: torch.device) -> tuple[str, int]:
    """A described device as the compiled module names it."""
    return (device.type, device.index or 0)
