"""The compiled module: the control plane of the one TuningContext, and fast entries.

Devices are ``("cpu", 0)`` or ``("cuda", index)``. Functions raise ValueError for
arguments that do not fit and RuntimeError for what cannot be done.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import torch
from torch import Tensor

_T = TypeVar("_T")

_Device = tuple[str, int]
# As the fields of tunedops.results.Result.
_Result = tuple[
    str,
    str,
    str,
    float | None,
    float | None,
    bool,
    str | None,
    int | None,
    float | None,
    float | None,
    str | None,
]

# op, params, solution, time_ms, default_ms, timing, samples, spread, margin, date
_Row = tuple[
    str,
    str,
    str,
    float | None,
    float | None,
    str | None,
    int | None,
    float | None,
    float | None,
    str | None,
]

class TuneOutcome:
    """What tuning one problem found."""

    solution: str
    time_ms: float
    default_ms: float
    elapsed_ms: float
    failure: str  # empty: something was decided
    measurements: list[tuple[str, float, int, str]]  # solution, ms, samples, refusal
    disturbed: bool  # by other work on the machine: the times are no good
    searched: int  # configs that were tried beyond those that kernels propose
    spread: float  # and samples: as in tunedops.results.Result
    samples: int
    timing: str
    margin: float
    date: str

built_with_cuda: bool

# Switches: names are those of the environment without TUNEDOPS_.
def setting(name: str, /) -> str: ...
def set_setting(name: str, value: str, /) -> None: ...
def describe_settings() -> list[list[str]]: ...  # name, value, default, origin, meaning
def install_routing() -> None: ...
def remove_routing() -> None: ...
def routing_is_installed() -> bool: ...

# Overlays: choices inside blocks. Those that lie on something lie on this thread's.
def forced_overlay(solution: str, /) -> int: ...
def replay_overlay(on_miss: str | None, /) -> int: ...
def is_replaying() -> bool: ...
def record_overlay() -> int: ...
def end_record_overlay(overlay: int, /) -> list[tuple[_Device, str, str]]: ...  # op, params
def exchange_overlay(overlay: int, /) -> int: ...  # the one before
def block_begins() -> None: ...
def block_ends() -> None: ...
def current_overlay() -> int: ...
def add_overlay_results(
    choices: list[tuple[str, str, str]], devices: list[_Device], /
) -> int: ...  # op, params, solution; the number of these results
def remove_overlay_results(results: int, /) -> None: ...
def lay_overlay(results: int, below: int, /) -> int: ...

# Results and files.
def set_filename(name: str, insert_ordinal: bool, /) -> None: ...
def filename(device: _Device, /) -> str: ...
def read_file(device: _Device, path: str | None, /) -> bool: ...
def write_file() -> bool: ...
def write_file_to(device: _Device, path: str, /) -> bool: ...
def write_file_on_exit(value: bool, /) -> None: ...
def on_exit() -> None: ...
def results(device: _Device, /) -> list[_Result]: ...
def validators(device: _Device, /) -> dict[str, str]: ...
def erase(device: _Device, op: str, params: str, /) -> bool: ...
def clear() -> None: ...
def parse_results(
    text: str, /
) -> tuple[dict[str, str], list[_Result], list[str]]: ...  # validators, rows, complaints
def format_results(
    validators: dict[str, str],
    rows: list[_Row],
    /,
) -> str: ...
def check_file(device: _Device, path: str, /) -> list[str]: ...
def stored(device: _Device, op: str, params: str, /) -> _Result | None: ...
def stored_anywhere(device: _Device, op: str, params: str, /) -> _Result | None: ...
def explain(
    device: _Device, op: str, params: str, /
) -> tuple[
    str,  # who decides
    str,  # what runs
    str,  # what is to be said of it
    list[tuple[str, str, str, str, float | None, float | None]],  # as explain.TierAnswer
    list[tuple[str, str]],  # kernel, why it refuses
]: ...
def save_to_cache(device: _Device, rows: list[_Row], /) -> str: ...  # the file
def cached(device: _Device, /) -> list[_Result]: ...
def cache_filename(device: _Device, /) -> str: ...  # or empty
def clear_cache(device: _Device, /) -> None: ...
def set_packaged_databases(folder: str, /) -> None: ...

# Calls that are not run. An operand is a tensor that is there, or what would be: sizes, strides,
# dtype, device, alignment, whether it is conjugated.
_Operand = Tensor | tuple[Any, ...]

def bind_call(
    op: str,
    is_checked: bool,
    self: _Operand | None,
    mat1: _Operand,
    mat2: _Operand,
    out: _Operand | None,
    *,
    in_place: bool = False,
    beta: complex = 1,
    alpha: complex = 1,
    activation: str = "none",
    use_gelu: bool = False,
    out_dtype: torch.dtype | None = None,
    like: tuple[str, str] | None = None,  # a key, whose flags and threads are taken
) -> tuple[str, str] | str: ...  # the key, or why there is none
def operands_of_key(device: _Device, op: str, params: str, /) -> dict[str, Any]: ...

# Tuning.
def key_of(
    mat1: Tensor, mat2: Tensor, bias: Tensor | None = None, activation: str = "none"
) -> tuple[str, str] | None: ...
def is_problem(device: _Device, op: str, params: str, /) -> bool: ...
def key_hint(device: _Device, op: str, params: str, /) -> str: ...  # why it is none, if known
def tune(device: _Device, op: str, params: str, persist: bool, /) -> TuneOutcome: ...
def measure(
    device: _Device,
    op: str,
    params: str,
    search: str | None,
    budget_ms: float | None,
    kernels: list[str],
    /,
) -> TuneOutcome: ...  # keeps nothing
def call_as_in_key(
    device: _Device, op: str, params: str, function: Callable[[], _T], /
) -> _T: ...  # while torch's flags and threads are as `tune` has them
def refusals(device: _Device, op: str, params: str, /) -> list[tuple[str, str]]: ...
def is_forked() -> bool: ...
def unusable(device: _Device, op: str, params: str, solution: str, /) -> str: ...  # or empty
def candidates(device: _Device, op: str, params: str, /) -> list[str]: ...  # Default first

# Facts.
def kernel_names(device: _Device, /) -> list[str]: ...
def has_backend(type: str, /) -> bool: ...
def device_name(device: _Device, /) -> str: ...
def cache_bytes(device: _Device, /) -> int: ...
def scatter_blocks(device: int, seed: int, stream: int, /) -> None: ...
def parallel_threads() -> int: ...
def isa() -> str: ...
def set_isa_limit(name: str | None, /) -> None: ...

# Fast entries: a Tensor, or NotImplemented where the dispatcher is needed. What ran is noted in the
# slot, if there is one.
def mm(self: Tensor, mat2: Tensor, slot: CallSlot | None = None, /) -> Any: ...
def bmm(self: Tensor, mat2: Tensor, slot: CallSlot | None = None, /) -> Any: ...
def addmm(
    self: Tensor,
    mat1: Tensor,
    mat2: Tensor,
    beta: complex,
    alpha: complex,
    slot: CallSlot | None = None,
    /,
) -> Any: ...
def baddbmm(
    self: Tensor,
    batch1: Tensor,
    batch2: Tensor,
    beta: complex,
    alpha: complex,
    slot: CallSlot | None = None,
    /,
) -> Any: ...
def linear(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    activation: str,
    slot: CallSlot | None = None,
    /,
) -> Any: ...

# shape, strides, dtype, storage, offset in it
_Noted = tuple[tuple[int, ...], tuple[int, ...], torch.dtype, int, int]

class CallSlot:
    """What the last call of an op object was."""

    def note(
        self,
        mat1: Tensor,
        mat2: Tensor,
        term: Tensor | None,
        result: Tensor,
        has_out: bool,
        beta: complex,
        alpha: complex,
        /,
    ) -> None: ...
    def note_layer(
        self, input: Tensor, weight: Tensor, bias: Tensor | None, result: Tensor, activation: str, /
    ) -> None: ...
    def facts(
        self,
    ) -> (
        tuple[
            list[_Noted | None],  # mat1, mat2, term, result
            _Device,
            bool,  # has_out
            float,  # beta
            float,  # alpha
            str,  # activation
            int,  # precision flags
            str | None,  # solution
            str,  # tier, or empty
        ]
        | None
    ): ...
