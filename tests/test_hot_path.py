"""What a hit costs, in instructions, which do not depend on how busy a machine is.

valgrind counts those of `tunedops.mm`, without the kernel's and the output's allocation, and
those of an op that does nothing but allocate its output. The difference is the price of
looking a call up.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch_library

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        shutil.which("valgrind") is None or torch_library.compiler() is None,
        reason="needs valgrind and a C++ compiler",
    ),
]

CALLS = 500
ALLOCATION = "at::detail::empty_cpu("

NOTHING = """
#include <ATen/EmptyTensor.h>
#include <ATen/core/Tensor.h>
#include <torch/library.h>

at::Tensor only_allocate(const at::Tensor& self, const at::Tensor& mat2) {
  return at::detail::empty_cpu({self.size(0), mat2.size(1)}, self.scalar_type());
}

TORCH_LIBRARY(hot_path, m) { m.def("only_allocate(Tensor self, Tensor mat2) -> Tensor"); }
TORCH_LIBRARY_IMPL(hot_path, CPU, m) { m.impl("only_allocate", &only_allocate); }
"""

SOLUTION = "Gemm_CpuSkinny_vectors_4_prefetch_0_threads_1"

# The row is written where it is used: valgrind's processor is another one.
ENABLED = f"""
import torch, tunedops
from contextlib import nullcontext
torch.set_num_threads(1)
torch.set_grad_enabled(False)
a, b = torch.ones(16, 16, dtype=DTYPE), torch.ones(16, 16, dtype=DTYPE)
with open(tunedops.get_filename(), "w") as file:
    for name, value in tunedops.get_validators():
        print("Validator", name, value, sep=",", file=file)
    print(*tunedops.mm.bind(a, b).key, "{SOLUTION}", sep=",", file=file)
with BLOCK:
    torch.mm(a, b)  # routed: from here on the call is known
    for _ in range({CALLS}):
        tunedops.mm(a, b)
"""

IDLE = f"""
import torch
torch.ops.load_library("LIBRARY")
a = torch.ones(16, 16, dtype=DTYPE)
for _ in range({CALLS}):
    torch.ops.hot_path.only_allocate(a, a)
"""


def inclusive_costs(program: str, function: str, folder: Path) -> dict[str, float]:
    """Instructions of one call of the function, by what is called in it."""
    output = folder / "callgrind.out"
    environment = {k: v for k, v in os.environ.items() if not k.startswith("TUNEDOPS_")}
    environment |= {"TUNEDOPS_ENABLED": "1", "TUNEDOPS_TUNING": "0", "TUNEDOPS_READ_ONLY": "1"}
    environment |= {"TUNEDOPS_FILENAME": str(folder / "results.csv")}
    subprocess.run(
        [
            *("valgrind", "--tool=callgrind", "--collect-atstart=no"),
            *(f"--toggle-collect={function}*", f"--callgrind-out-file={output}"),
            *(sys.executable, "-c", program),
        ],
        check=True,
        capture_output=True,
        env=environment,
    )
    table = subprocess.run(
        ["callgrind_annotate", "--inclusive=yes", "--threshold=100", str(output)],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    costs: dict[str, float] = {}
    for line in table.splitlines():
        if found := re.match(r"\s*([\d,]+) \(.*?\)\s+[^:]*:(.+?)(?: \[.*)?$", line):
            costs.setdefault(found[2], int(found[1].replace(",", "")) / CALLS)
    return costs


def cost_of(costs: dict[str, float], function: str) -> float:
    return next(cost for name, cost in costs.items() if function in name)


@pytest.fixture(scope="module")
def nothing(tmp_path_factory: pytest.TempPathFactory) -> float:
    """Instructions of the op that only allocates, without the allocation."""
    folder = tmp_path_factory.mktemp("nothing")
    library = torch_library.build(NOTHING, folder)
    program = IDLE.replace("LIBRARY", str(library)).replace("DTYPE", "torch.bfloat16")
    costs = inclusive_costs(program, "only_allocate(", folder)
    return cost_of(costs, "only_allocate(") - cost_of(costs, ALLOCATION)


# Torch answers how exact fp32 products have to be from a hash table, in some 210 instructions.
# In a block, which overlay the thread has is asked of torch, in some 400 more.
@pytest.mark.parametrize(
    ("dtype", "block", "limit"),
    [
        ("bfloat16", "nullcontext()", 400),
        ("float32", "nullcontext()", 620),
        ("bfloat16", f"tunedops.force('{SOLUTION}')", 850),
    ],
)
def test_a_hit_costs_few_instructions(
    dtype: str, block: str, limit: int, nothing: float, tmp_path: Path
) -> None:
    program = ENABLED.replace("BLOCK", block).replace("DTYPE", f"torch.{dtype}")
    costs = inclusive_costs(program, "tunedops::mm(", tmp_path)
    whole = cost_of(costs, "tunedops::mm(")
    kernel = cost_of(costs, "SkinnyPlan::run(")
    price = whole - kernel - cost_of(costs, ALLOCATION) - nothing
    print(f"{dtype}, {block}: {price:.0f} instructions")
    assert kernel > 0
    assert 0 < price <= limit
