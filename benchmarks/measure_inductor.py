"""Times one workload by torch, by tunedops and as Inductor compiled it, in the same rounds."""

from __future__ import annotations

from typing import Any

import measure_cpu
import measure_cuda
from agreement import check_outputs
from graph_side import GraphSide
from inductor_side import MODE, compile_product
from max_autotune_report import columns_of
from measure_cpu import LoopSide
from sides import DEFAULT, calls_of, key_of, stored_solution
from tunedops.workloads import Workload


def measure_on_cpu(workload: Workload, seconds: float) -> dict[str, Any]:
    """The columns of one row.

    Raises:
        WrongResult: an output is not the product.
    """
    operands = measure_cpu.operands_of(workload)
    compiled = compile_product(workload, operands[0])
    default, tuned = calls_of(workload)
    solution = stored_solution(measure_cpu.CPU, key_of(operands[0]))
    sides = [LoopSide(call, operands) for call in (default, tuned, compiled.call)]
    check_outputs(sides, [DEFAULT, solution, MODE], operands[0])
    return columns_of(measure_cpu.run_rounds(sides, seconds), solution, compiled)


def measure_on_gpu(workload: Workload, device: tuple[str, int], seconds: float) -> dict[str, Any]:
    """The same on a GPU."""
    operands, stream = measure_cuda.prepare(workload, device)
    compiled = compile_product(workload, operands[0])
    default, tuned = calls_of(workload)
    solution = stored_solution(device, key_of(operands[0]))
    sides = [GraphSide(call, operands, stream) for call in (default, tuned, compiled.call)]
    check_outputs(sides, [DEFAULT, solution, MODE], operands[0])
    return columns_of(measure_cuda.run_rounds(sides, seconds), solution, compiled)
