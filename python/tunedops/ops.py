"""The ops: objects over ``torch.ops.tunedops``, entered by the shortest way.

``_C.mm`` and its kin skip torch's dispatcher, which costs more than a small product,
for plain tensors that nobody differentiates, traces, casts or profiles. For all others
they answer NotImplemented, and the call goes through ``torch.ops``.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor
from torch.compiler import is_dynamo_compiling

from tunedops import _C


class Op:
    """A tunable op. Calling it runs the kernel chosen for the problem at hand."""

    name: ClassVar[str]

    def __repr__(self) -> str:
        return f"<op tunedops.{self.name}>"


class MmOp(Op):
    """``mm(input, mat2)``: the product of two matrices, as :func:`torch.mm`.

    Args:
        input: ``[M, K]``, any strides.
        mat2: ``[K, N]``, of the same dtype and device.
        out: ``[M, N]``, written and returned if given.

    Returns:
        ``[M, N]``.

    Raises:
        RuntimeError: shapes, dtypes or devices do not fit together.
    """

    name = "mm"

    def __call__(self, input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
        if out is not None:
            return torch.ops.tunedops.mm.out(input, mat2, out=out)
        if not is_dynamo_compiling():
            result = _C.mm(input, mat2)
            if result is not NotImplemented:
                return result
        return torch.ops.tunedops.mm.default(input, mat2)


class BmmOp(Op):
    """``bmm(input, mat2)``: products of a batch of matrices, as :func:`torch.bmm`.

    Args:
        input: ``[B, M, K]``, any strides.
        mat2: ``[B, K, N]``, of the same dtype and device.
        out: ``[B, M, N]``, written and returned if given.

    Returns:
        ``[B, M, N]``.

    Raises:
        RuntimeError: shapes, dtypes or devices do not fit together.
    """

    name = "bmm"

    def __call__(self, input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
        if out is not None:
            return torch.ops.tunedops.bmm.out(input, mat2, out=out)
        if not is_dynamo_compiling():
            result = _C.bmm(input, mat2)
            if result is not NotImplemented:
                return result
        return torch.ops.tunedops.bmm.default(input, mat2)


class AddmmOp(Op):
    """``addmm(input, mat1, mat2)``: ``beta * input + alpha * (mat1 @ mat2)``.

    Args:
        input: expandable to ``[M, N]``; not read if ``beta`` is 0.
        mat1: ``[M, K]``, any strides.
        mat2: ``[K, N]``.
        beta: factor of ``input``.
        alpha: factor of the product.
        out: ``[M, N]``, written and returned if given; may be ``input``.

    Returns:
        ``[M, N]``.

    Raises:
        RuntimeError: shapes, dtypes or devices do not fit together.
    """

    name = "addmm"

    def __call__(
        self,
        input: Tensor,
        mat1: Tensor,
        mat2: Tensor,
        *,
        beta: complex = 1,
        alpha: complex = 1,
        out: Tensor | None = None,
    ) -> Tensor:
        if out is not None:
            return torch.ops.tunedops.addmm.out(input, mat1, mat2, beta=beta, alpha=alpha, out=out)
        if not is_dynamo_compiling():
            result = _C.addmm(input, mat1, mat2, beta, alpha)
            if result is not NotImplemented:
                return result
        return torch.ops.tunedops.addmm.default(input, mat1, mat2, beta=beta, alpha=alpha)


class BaddbmmOp(Op):
    """``baddbmm(input, batch1, batch2)``: :class:`AddmmOp` for batches of matrices.

    Args:
        input: expandable to ``[B, M, N]``; not read if ``beta`` is 0.
        batch1: ``[B, M, K]``, any strides.
        batch2: ``[B, K, N]``.
        beta: factor of ``input``.
        alpha: factor of the products.
        out: ``[B, M, N]``, written and returned if given; may be ``input``.

    Returns:
        ``[B, M, N]``.

    Raises:
        RuntimeError: shapes, dtypes or devices do not fit together.
    """

    name = "baddbmm"

    def __call__(
        self,
        input: Tensor,
        batch1: Tensor,
        batch2: Tensor,
        *,
        beta: complex = 1,
        alpha: complex = 1,
        out: Tensor | None = None,
    ) -> Tensor:
        if out is not None:
            return torch.ops.tunedops.baddbmm.out(
                input, batch1, batch2, beta=beta, alpha=alpha, out=out
            )
        if not is_dynamo_compiling():
            result = _C.baddbmm(input, batch1, batch2, beta, alpha)
            if result is not NotImplemented:
                return result
        return torch.ops.tunedops.baddbmm.default(input, batch1, batch2, beta=beta, alpha=alpha)


class LinearOp(Op):
    """``linear(input, weight, bias, activation)``: ``activation(input @ weight.T + bias)``.

    Args:
        input: ``[..., K]``, of any rank from 1 on.
        weight: ``[N, K]``.
        bias: ``[N]`` or None.
        activation: ``none``, ``relu``, ``gelu`` (with erf) or ``gelu_tanh``.

    Returns:
        ``[..., N]``.

    Raises:
        RuntimeError: shapes, dtypes or devices do not fit together, or the activation is
            unknown.
    """

    name = "linear"

    def __call__(
        self,
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        activation: str = "none",
    ) -> Tensor:
        if not is_dynamo_compiling():
            result = _C.linear(input, weight, bias, activation)
            if result is not NotImplemented:
                return result
        return torch.ops.tunedops.linear.default(input, weight, bias, activation)


mm = MmOp()
bmm = BmmOp()
addmm = AddmmOp()
baddbmm = BaddbmmOp()
linear = LinearOp()
