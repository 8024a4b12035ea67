"""Choices that hold inside a ``with`` block."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tunedops import _C
from tunedops.arguments import text_of


@contextmanager
def force(solution: str) -> Iterator[None]:
    """Inside the block, products of this thread take ``solution`` wherever it can run.

    So do those of a backward pass that is called there. Where the solution cannot run, torch's
    own product does, and nothing is said: also where the kernel is right and its parameters are
    none that it accepts, since each problem accepts others. With ``TUNEDOPS_VERBOSE=3`` a line
    for each problem says ``forced, a plan of ours`` or ``forced, Default``.

    Blocks nest; the innermost wins. The block has an effect without
    :func:`tunedops.enable` too, unless ``TUNEDOPS_ENABLED=0`` is set.

    Args:
        solution: as in the third column of a results file, such as ``Gemm_OneDnn``.

    Raises:
        TypeError: it is no text.
        ValueError: no kernel has that name.
    """
    outer = begin(_C.forced_overlay(text_of("force", "solution", solution)))
    try:
        yield
    finally:
        end(outer)


def begin(overlay: int) -> int:
    """Puts this thread under an overlay; returns what :func:`end` puts back."""
    if _is_forbidden():
        return _C.current_overlay()
    _C.install_routing()
    return _C.exchange_overlay(overlay)


def end(outer: int) -> None:
    """Puts this thread under the overlay that there was before."""
    if outer != _C.current_overlay():
        _C.exchange_overlay(outer)


def _is_forbidden() -> bool:
    return any(
        name == "ENABLED" and value == "0" and origin == "environment"
        for name, value, _, origin, _ in _C.describe_settings()
    )
