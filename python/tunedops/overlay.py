"""Choices that hold inside a ``with`` block."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

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
    block = begin(_C.forced_overlay(text_of("force", "solution", solution)))
    try:
        yield
    finally:
        end(block)


class Block(NamedTuple):
    """A block that has begun on this thread: its overlay, and the one before."""

    laid: int
    outer: int


def begin(overlay: int) -> Block:
    """Puts this thread under an overlay, unless the environment forbids that."""
    if _is_forbidden():
        overlay = _C.current_overlay()
        return Block(overlay, overlay)
    _C.install_routing()
    return Block(overlay, _C.exchange_overlay(overlay))


def end(block: Block) -> None:
    """Puts this thread under the overlay that there was before.

    Raises:
        RuntimeError: another block began in this one and has not ended, or it ends on another
            thread. The thread has no overlay then.
    """
    found = _C.current_overlay()
    outer = block.outer if found == block.laid else 0
    if found != outer:
        _C.exchange_overlay(outer)
    if found != block.laid:
        raise RuntimeError(
            "a block of tunedops ended while another one that began in it goes on, or on another "
            "thread; do not await or yield inside such a block"
        )


def _is_forbidden() -> bool:
    return any(
        name == "ENABLED" and value == "0" and origin == "environment"
        for name, value, _, origin, _ in _C.describe_settings()
    )
