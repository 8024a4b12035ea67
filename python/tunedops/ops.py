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
from tunedops.binding import bind_op
from tunedops.bound_arguments import BoundArguments
from tunedops.call_records import record_of
from tunedops.described_call import TensorLike
from tunedops.fakes import linear as original_linear
from tunedops.roofline import product_flops, roof_of_product, traffic_bytes
from tunedops.signature_call import SignatureCall


class Op:
    """A tunable op. Calling it runs the kernel chosen for the problem at hand.

    ``bind`` takes the arguments of a call and gives back its problem, as
    :class:`tunedops.BoundArguments`, without running it. A tensor may be a meta or a fake one
    or a :class:`tunedops.TensorSpec`, also mixed with real ones. The problem is one of the
    operands' device or, with ``device``, of that one; a GPU need not be here. Where all are
    meta tensors and no device is given, it is torch's default device. Torch's flags count as
    they are now, autocast included. Arguments that do not fit raise what a run would raise,
    and a call that only torch's own kernel can compute :class:`tunedops.NotTunableError`.
    """

    name: ClassVar[str]

    def __init__(self) -> None:
        self._slot = _C.CallSlot()

    def __repr__(self) -> str:
        return f"<op tunedops.{self.name}>"

    def _dispatch(
        self,
        packet: torch._ops.OpOverloadPacket,
        operands: tuple[Tensor, ...],
        out: Tensor | None,
        **scalars: complex,
    ) -> Tensor:
        """Calls torch's op; the last two operands are multiplied, one before them is added."""
        if out is None:
            result = packet.default(*operands, **scalars)
        else:
            result = packet.out(*operands, **scalars, out=out)
        if not is_dynamo_compiling():
            *term, mat1, mat2 = operands
            beta, alpha = scalars.get("beta", 1.0), scalars.get("alpha", 1.0)
            added = term[0] if term else None
            self._slot.note(mat1, mat2, added, result, out is not None, beta, alpha)
        return result

    @property
    def last_call(self) -> SignatureCall:
        """The last call of this object that ended without an error, on whatever thread.

        Calls that ``torch.compile`` traces are not noted, those with meta or fake tensors are.
        No tensor is kept alive by it.

        Raises:
            RuntimeError: there was none yet.
        """
        record = record_of(self.name, self._slot)
        if record is None:
            raise RuntimeError(f"{self.name}: last_call: no call of this op has ended yet")
        return record

    def eval_roofline(self) -> tuple[int, int]:
        """Operations and bytes that the last call costs at the least; see
        :mod:`tunedops.roofline`."""
        call = self.last_call
        return product_flops(call), sum(traffic_bytes(call))

    def eval_roofline_read_bytes(self) -> int | None:
        """The bytes of :meth:`eval_roofline` that are read. None: the signature does not say."""
        return traffic_bytes(self.last_call)[0]

    def roof_key(self) -> str:
        """The unit that would compute the last call best: ``tensor_core.bf16``, ``cpu.fp32``."""
        return roof_of_product(self.last_call)

    def roofline_data_terms(self) -> dict[str, float]:
        """What the values of inputs decide about the cost of the last call; of a product nothing.
        It is reported beside a reading and is no part of :meth:`eval_roofline`."""
        return {}


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
        if out is None and not is_dynamo_compiling():
            result = _C.mm(input, mat2, self._slot)
            if result is not NotImplemented:
                return result
        return self._dispatch(torch.ops.tunedops.mm, (input, mat2), out)

    def bind(
        self,
        input: TensorLike,
        mat2: TensorLike,
        *,
        out: TensorLike | None = None,
        device: str | torch.device | None = None,
    ) -> BoundArguments:
        """The problem of a call, which does not run; see :class:`Op`."""
        operands = {"input": input, "mat2": mat2}
        return bind_op(self.name, operands, device=device, out=out, original=torch.mm)


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
        if out is None and not is_dynamo_compiling():
            result = _C.bmm(input, mat2, self._slot)
            if result is not NotImplemented:
                return result
        return self._dispatch(torch.ops.tunedops.bmm, (input, mat2), out)

    def bind(
        self,
        input: TensorLike,
        mat2: TensorLike,
        *,
        out: TensorLike | None = None,
        device: str | torch.device | None = None,
    ) -> BoundArguments:
        """The problem of a call, which does not run; see :class:`Op`."""
        operands = {"input": input, "mat2": mat2}
        return bind_op(self.name, operands, device=device, out=out, original=torch.bmm)


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
        if out is None and not is_dynamo_compiling():
            result = _C.addmm(input, mat1, mat2, beta, alpha, self._slot)
            if result is not NotImplemented:
                return result
        return self._dispatch(
            torch.ops.tunedops.addmm, (input, mat1, mat2), out, beta=beta, alpha=alpha
        )

    def bind(
        self,
        input: TensorLike,
        mat1: TensorLike,
        mat2: TensorLike,
        *,
        beta: complex = 1,
        alpha: complex = 1,
        out: TensorLike | None = None,
        device: str | torch.device | None = None,
    ) -> BoundArguments:
        """The problem of a call, which does not run; see :class:`Op`."""
        return bind_op(
            self.name,
            {"input": input, "mat1": mat1, "mat2": mat2},
            device=device,
            out=out,
            scalars={"beta": beta, "alpha": alpha},
            original=torch.addmm,
        )


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
        if out is None and not is_dynamo_compiling():
            result = _C.baddbmm(input, batch1, batch2, beta, alpha, self._slot)
            if result is not NotImplemented:
                return result
        return self._dispatch(
            torch.ops.tunedops.baddbmm, (input, batch1, batch2), out, beta=beta, alpha=alpha
        )

    def bind(
        self,
        input: TensorLike,
        batch1: TensorLike,
        batch2: TensorLike,
        *,
        beta: complex = 1,
        alpha: complex = 1,
        out: TensorLike | None = None,
        device: str | torch.device | None = None,
    ) -> BoundArguments:
        """The problem of a call, which does not run; see :class:`Op`."""
        return bind_op(
            self.name,
            {"input": input, "batch1": batch1, "batch2": batch2},
            device=device,
            out=out,
            scalars={"beta": beta, "alpha": alpha},
            original=torch.baddbmm,
        )


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
        if is_dynamo_compiling():
            return torch.ops.tunedops.linear.default(input, weight, bias, activation)
        result = _C.linear(input, weight, bias, activation, self._slot)
        if result is not NotImplemented:
            return result
        result = torch.ops.tunedops.linear.default(input, weight, bias, activation)
        self._slot.note_layer(input, weight, bias, result, activation)
        return result

    def bind(
        self,
        input: TensorLike,
        weight: TensorLike,
        bias: TensorLike | None = None,
        activation: str = "none",
        *,
        device: str | torch.device | None = None,
    ) -> BoundArguments:
        """The problem of a call, which does not run; see :class:`Op`."""
        return bind_op(
            self.name,
            {"input": input, "weight": weight, "bias": bias},
            device=device,
            activation=activation,
            original=original_linear,
        )


mm = MmOp()
bmm = BmmOp()
addmm = AddmmOp()
baddbmm = BaddbmmOp()
linear = LinearOp()
