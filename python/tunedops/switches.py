"""The switches, under the names of :mod:`torch.cuda.tunable`.

An environment variable (``TUNEDOPS_`` and the setting's name) wins over a call here, both
ways; a call against one warns once.
"""

from __future__ import annotations

import atexit
import os

from tunedops import _C


def _set_flag(name: str, value: bool) -> None:
    _C.set_setting(name, "1" if value else "0")


def enable(val: bool = True) -> None:
    """Lets products use stored results, and aten's products come to us.

    From the first call on, ``torch.mm``, ``nn.Linear``, ``@`` and so on ask for a plan too.
    """
    _set_flag("ENABLED", val)
    if is_enabled():
        _C.install_routing()


def remove_routing() -> None:
    """Gives aten's products back to torch: its dispatcher is as if we had never been there.

    Switching off with ``enable(False)`` is what a program needs; the products then still pass
    a flag of ours. After this call they do not reach us at all, whatever :func:`is_enabled`
    says: ``torch.mm``, ``nn.Linear``, ``@`` and so on are torch's own. ``tunedops.mm`` and its
    kin work as before. The next ``enable()`` or :func:`tunedops.force` brings routing back.

    No other thread may multiply meanwhile, since torch's dispatcher does not expect changes
    then. Calling it again, or without routing, changes nothing.
    """
    _C.remove_routing()


def is_enabled() -> bool:
    """Whether products use stored results."""
    return _C.setting("ENABLED") == "1"


def tuning_enable(val: bool = True) -> None:
    """Whether a product without a stored result is tuned when it is met."""
    _set_flag("TUNING", val)


def tuning_is_enabled() -> bool:
    """Whether a product without a stored result is tuned when it is met."""
    return _C.setting("TUNING") == "1"


def record_untuned_enable(val: bool = True) -> None:
    """Whether products without a result are listed in ``TUNEDOPS_UNTUNED_FILENAME``."""
    _set_flag("RECORD_UNTUNED", val)


def record_untuned_is_enabled() -> bool:
    """Whether products without a result are listed in a file."""
    return _C.setting("RECORD_UNTUNED") == "1"


def set_max_tuning_duration(duration: int) -> None:
    """Milliseconds that screening may spend on one solution; negative counts as 0."""
    _C.set_setting("MAX_TUNING_DURATION_MS", str(max(0, int(duration))))


def get_max_tuning_duration() -> int:
    """Milliseconds that screening may spend on one solution."""
    return int(_C.setting("MAX_TUNING_DURATION_MS"))


def set_max_tuning_iterations(iterations: int) -> None:
    """Calls that screening may spend on one solution (at least one is made)."""
    _C.set_setting("MAX_TUNING_ITERATIONS", str(max(0, int(iterations))))


def get_max_tuning_iterations() -> int:
    """Calls that screening may spend on one solution."""
    return int(_C.setting("MAX_TUNING_ITERATIONS"))


def set_rotating_buffer_size(buffer_size: int) -> None:
    """MiB that the operands of a problem rotate over; negative: the device's last cache."""
    _C.set_setting("ROTATING_BUFFER_SIZE", str(max(-1, int(buffer_size))))


def get_rotating_buffer_size(device: str = "cpu") -> int:
    """BYTES that the operands of a problem rotate over on a device."""
    size = int(_C.setting("ROTATING_BUFFER_SIZE"))
    if size >= 0:
        return size * 1024 * 1024
    from tunedops.device import parse_device

    return _C.cache_bytes(parse_device(device))


def set_numerical_check_tolerances(
    enable: bool, atol: float | None = None, rtol: float | None = None
) -> None:
    """Whether a finalist's output is checked, and how closely.

    Args:
        enable: check at all (the default).
        atol: absolute tolerance; None: what the problem's types and depth allow.
        rtol: relative tolerance; given together with ``atol``.

    Raises:
        ValueError: only one tolerance is given, or one is not positive.
    """
    if (atol is None) != (rtol is None):
        raise ValueError("set_numerical_check_tolerances: give both tolerances or none")
    if atol is not None and rtol is not None:
        if not (atol > 0 and rtol > 0):
            raise ValueError(
                "set_numerical_check_tolerances: tolerances must be positive, "
                f"got atol={atol}, rtol={rtol}"
            )
        value = f"{float(atol)!r}_{float(rtol)!r}" if enable else "0"
    else:
        value = "1" if enable else "0"
    _C.set_setting("NUMERICAL_CHECK", value)


def start_from_environment() -> None:
    """Acts on ``TUNEDOPS_ENABLED``; nothing else is read, and no device is touched."""
    atexit.register(_C.on_exit)
    if os.environ.get("TUNEDOPS_ENABLED") is not None and is_enabled():
        _C.install_routing()
