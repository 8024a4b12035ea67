"""Counts the matrix products of the GPT-2 program, by the key that each has.

torch itself says which products there are: a dispatch mode sees each call on its way to the
kernels, also those of the backward pass. What tunedops says it decided (`VERBOSE=3`) can then
be held against it: a product that it was never asked about would be missing there. Prints, in
the place of the program's lines, one JSON object from keys to numbers of calls.

    TUNEDOPS_ENABLED=1 python benchmarks/gpt2_count.py [ARGUMENTS OF gpt2_program.py]
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import gpt2_program
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from tunedops import _C

aten = torch.ops.aten
# Where the two matrices are among the arguments; a bias comes before them.
MATRICES = {aten.mm.default: 0, aten.bmm.default: 0, aten.addmm.default: 1}
# They would be products too. This program has none of them, and one that came unnoticed would
# make the count wrong.
UNKNOWN = frozenset(
    (
        aten.addmv.default,
        aten.baddbmm.default,
        aten.dot.default,
        aten.einsum.default,
        aten.linear.default,
        aten.matmul.default,
        aten.mv.default,
        aten._addmm_activation.default,
    )
)


class ProductCounter(TorchDispatchMode):
    """Notes the key of each product that is computed below it."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: Counter[str] = Counter()

    def __torch_dispatch__(
        self,
        func: Any,
        types: Sequence[Any],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        if func in MATRICES:
            self.note(args[: MATRICES[func]], args[MATRICES[func] :], kwargs)
        elif func in UNKNOWN:
            raise NotImplementedError(f"the count knows no {func}")
        return func(*args, **(kwargs or {}))

    def note(
        self, addends: Sequence[Any], matrices: Sequence[Any], scalars: Mapping[str, Any] | None
    ) -> None:
        """Counts one product."""
        if scalars or any(addend.dim() != 1 for addend in addends):
            raise NotImplementedError("the count knows no scalars, and no addend but a bias")
        key = _C.key_of(*matrices, *addends)
        if key is not None:
            self.calls[",".join(key)] += 1


def main(argv: Sequence[str] | None = None) -> None:
    """Runs the program and prints the counts."""
    with ProductCounter() as counter:
        gpt2_program.main(argv)
    print(json.dumps({"calls": counter.calls}))


if __name__ == "__main__":
    main()
