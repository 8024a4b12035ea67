"""Which events of a trace are products of the program, and not parts of another product."""

from __future__ import annotations

from collections.abc import Iterator

from tunedops.trace_events import OpEvent
from tunedops.trace_products import is_exact, product_of


def products_in(ops: list[OpEvent]) -> Iterator[tuple[OpEvent, OpEvent, bool]]:
    """Calls of products that no other product called.

    Yields:
        The event that tells the problem, the one that tells the time, and whether ``aten::mv``
        called it.
    """
    pending = [(op, False) for op in reversed(ops)]
    while pending:
        op, is_mv = pending.pop()
        if is_exact(op):
            yield op, op, is_mv
            continue
        if product_of(op) is None:
            pending += [(child, op.name == "aten::mv") for child in reversed(op.children)]
            continue
        exact = list(_outermost_exact(op))
        if len(exact) == 1:
            yield exact[0], op, is_mv
        elif exact:
            yield from ((each, each, is_mv) for each in exact)
        elif _is_handed_on(op):
            pending += [(child, is_mv) for child in reversed(op.children)]
        else:
            yield op, op, is_mv


def _is_handed_on(op: OpEvent) -> bool:
    """Whether the product is computed by another call in this one.

    Ours hand theirs to aten where somebody differentiates them, and autocast calls an op anew
    with operands of its own type.
    """
    if op.name.startswith("tunedops::"):
        return any(map(product_of, op.descendants()))
    return any(child.name == op.name for child in op.children)


def _outermost_exact(op: OpEvent) -> Iterator[OpEvent]:
    pending = op.children[::-1]
    while pending:
        child = pending.pop()
        if is_exact(child):
            yield child
        else:
            pending += child.children[::-1]
