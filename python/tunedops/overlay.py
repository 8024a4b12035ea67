"""Choices that hold inside a ``with`` block."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import NamedTuple

from tunedops import _C
from tunedops.arguments import text_of

_ON_MISS = ("default", "heuristic", "error")


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
    with laid(_C.forced_overlay(text_of("force", "solution", solution))):
        yield


@contextmanager
def replay_only(on_miss: str | None = None) -> Iterator[None]:
    """Inside the block, this thread tunes and writes nothing: it uses what is stored.

    For runs that are to be repeated: two of them with the same results take the same kernels. It
    holds for a backward pass that is called in the block too, and for blocks inside it. Explicit
    tuning raises there, and saving results is refused. ``TUNEDOPS_READ_ONLY=1`` does the same for
    a whole process, all of its threads included.

    The block has an effect without :func:`tunedops.enable` too, unless ``TUNEDOPS_ENABLED=0`` is
    set: then torch's own products run, as everywhere.

    Args:
        on_miss: what a product does for which nothing is stored: ``default`` (torch's own),
            ``heuristic`` or ``error`` (it raises RuntimeError with the key); None: what the
            setting ``ON_MISS`` says.

    Raises:
        TypeError: it is no text.
        ValueError: it is none of these.

    Source: Tokamax' cache-miss fallback, which has the same three ways.
    """
    if on_miss is not None and text_of("replay_only", "on_miss", on_miss) not in _ON_MISS:
        raise ValueError(
            f"replay_only: on_miss must be {', '.join(_ON_MISS[:-1])} or {_ON_MISS[-1]}, "
            f"got '{on_miss}'"
        )
    block = begin(_C.replay_overlay(on_miss), even_if_off=True)
    try:
        # What the environment forbids is to choose; tuning is forbidden all the same.
        with (
            laid(_C.forced_overlay("Default"), even_if_off=True)
            if is_forbidden()
            else nullcontext()
        ):
            yield
    finally:
        end(block)


@contextmanager
def laid(overlay: int, even_if_off: bool = False) -> Iterator[None]:
    """A block under an overlay; see :func:`begin`."""
    block = begin(overlay, even_if_off)
    try:
        yield
    finally:
        end(block)


class Block(NamedTuple):
    """A block that has begun on this thread: its overlay, and the one before."""

    laid: int
    outer: int
    counts: bool
    """Whether it is one of the blocks that the compiled context knows of."""


def begin(overlay: int, even_if_off: bool = False) -> Block:
    """Puts this thread under an overlay, unless the environment forbids that.

    Args:
        even_if_off: also with ``TUNEDOPS_ENABLED=0``; for overlays that choose nothing.
    """
    if is_forbidden() and not even_if_off:
        overlay = _C.current_overlay()
        return Block(overlay, overlay, counts=False)
    _C.install_routing()
    _C.block_begins()
    return Block(overlay, _C.exchange_overlay(overlay), counts=True)


def end(block: Block) -> None:
    """Puts this thread under the overlay that there was before.

    Raises:
        RuntimeError: another block began in this one and has not ended, or it ends on another
            thread. The thread has no overlay then.
    """
    if block.counts:
        _C.block_ends()
    found = _C.current_overlay()
    outer = block.outer if found == block.laid else 0
    if found != outer:
        _C.exchange_overlay(outer)
    if found != block.laid:
        raise RuntimeError(
            "a block of tunedops ended while another one that began in it goes on, or on another "
            "thread; do not await or yield inside such a block"
        )


def is_forbidden() -> bool:
    """Whether the environment lets no block choose anything."""
    return any(
        name == "ENABLED" and value == "0" and origin == "environment"
        for name, value, _, origin, _ in _C.describe_settings()
    )
