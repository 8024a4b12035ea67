"""Choices that hold inside a ``with`` block."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tunedops import _C
from tunedops.arguments import text_of


@contextmanager
def force(solution: str) -> Iterator[None]:
    """Inside the block, products of this thread take ``solution`` wherever it can run.

    Where it cannot, torch's own product runs, and nothing is said: also where the kernel is
    right and its parameters are none that it accepts, since each problem accepts others.
    With ``TUNEDOPS_VERBOSE=3`` a line for each problem says ``forced, a plan of ours`` or
    ``forced, Default``.

    Blocks nest; the innermost wins. The block has an effect without
    :func:`tunedops.enable` too, unless ``TUNEDOPS_ENABLED=0`` is set.

    Args:
        solution: as in the third column of a results file, such as ``Gemm_OneDnn``.

    Raises:
        TypeError: it is no text.
        ValueError: no kernel has that name.
    """
    overlay = _C.forced_overlay(text_of("force", "solution", solution))
    if _is_forbidden():
        yield
        return
    _C.install_routing()
    outer = _C.exchange_overlay(overlay)
    try:
        yield
    finally:
        _C.exchange_overlay(outer)


def _is_forbidden() -> bool:
    return any(
        name == "ENABLED" and value == "0" and origin == "environment"
        for name, value, _, origin, _ in _C.describe_settings()
    )
