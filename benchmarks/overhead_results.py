"""The results file that fixes which kernel a process runs."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from overhead_plan import BIAS, Cell, Operands, Side
from tunedops import _C
from tunedops.device import parse_device

Key = tuple[str, str]


def key_of(call: str, operands: Operands) -> Key:
    """The key of a call.

    Raises:
        RuntimeError: nothing can be chosen for it.
    """
    x, weight, bias = operands
    key = _C.key_of(x, weight.t(), bias if call.endswith(BIAS) else None)
    if key is None:
        raise RuntimeError(f"{call}: no kernel can be chosen for these operands")
    return key


def solution_of(device: tuple[str, int], key: Key, kernel: str) -> str:
    """The solution of that kernel that tuning would try first.

    Raises:
        RuntimeError: the kernel does not run that problem.
    """
    for solution in _C.candidates(device, *key):
        if solution == kernel or solution.startswith(f"{kernel}_"):
            return solution
    raise RuntimeError(f"{kernel} has no solution for {','.join(key)}")


def write_results(path: Path, device_name: str, side: Side, cells: Iterable[Cell]) -> None:
    """Writes a row for every variant of every call that the cells of a process make."""
    device = parse_device(device_name)
    lines = [f"Validator,{name},{value}" for name, value in _C.validators(device).items()]
    solutions: dict[Key, str] = {}
    for product in {cell.product: None for cell in cells}:
        calls = {cell.call for cell in cells if cell.product == product}
        for operands in product.operands(device_name)[: side.variants]:
            for call in calls:
                key = key_of(call, operands)
                solutions[key] = solution_of(device, key, side.kernel)
    lines += [",".join([*key, solution]) for key, solution in sorted(solutions.items())]
    path.write_text("\n".join([*lines, ""]))
