"""tunedops: the fastest correct kernel for every matrix product of a program.

Products are called as :data:`tunedops.mm` and its kin, or reach us through
``torch.mm``, ``nn.Linear``, ``@`` and so on once :func:`tunedops.enable` was called.
Choices are kept in a CSV that people can read and edit.
"""

from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as _version

import torch  # noqa: F401  (its libraries must be loaded before ours)

from tunedops import _C as _C
from tunedops import cache, fakes, traces
from tunedops.autotune import autotune, get_bound_args
from tunedops.autotuning_result import AutotuningResult
from tunedops.bound_arguments import BoundArguments, NotTunableError
from tunedops.bound_json import bound_args_from_json
from tunedops.explain import Explanation, TierAnswer, explain, explanation
from tunedops.install_paths import get_databases, get_include, get_workloads
from tunedops.measurement import Measured, Measurement
from tunedops.offline import tune_gemm_in_file
from tunedops.offline_gpus import mgpu_tune_gemm_in_file
from tunedops.ops import Op, addmm, baddbmm, bmm, linear, mm
from tunedops.overlay import force, replay_only
from tunedops.results import (
    Result,
    clear,
    delete,
    get_filename,
    get_results,
    get_validators,
    read_file,
    set_filename,
    summary,
    write_file,
    write_file_on_exit,
)
from tunedops.signature_call import SignatureCall, TensorFacts, Traffic
from tunedops.switches import (
    enable,
    get_max_tuning_duration,
    get_max_tuning_iterations,
    get_rotating_buffer_size,
    is_enabled,
    record_untuned_enable,
    record_untuned_is_enabled,
    remove_routing,
    set_max_tuning_duration,
    set_max_tuning_iterations,
    set_numerical_check_tolerances,
    set_rotating_buffer_size,
    start_from_environment,
    tuning_enable,
    tuning_is_enabled,
)
from tunedops.tensor_spec import TensorSpec

try:
    __version__ = _version("tunedops")
except PackageNotFoundError:  # a source tree that was built without egg_info
    __version__ = "0+unknown"

__all__ = [
    "AutotuningResult",
    "BoundArguments",
    "Explanation",
    "Measured",
    "Measurement",
    "NotTunableError",
    "Op",
    "Result",
    "SignatureCall",
    "TensorFacts",
    "TensorSpec",
    "TierAnswer",
    "Traffic",
    "addmm",
    "autotune",
    "baddbmm",
    "bmm",
    "bound_args_from_json",
    "cache",
    "clear",
    "delete",
    "enable",
    "explain",
    "explanation",
    "force",
    "get_bound_args",
    "get_databases",
    "get_filename",
    "get_include",
    "get_max_tuning_duration",
    "get_max_tuning_iterations",
    "get_results",
    "get_rotating_buffer_size",
    "get_validators",
    "get_workloads",
    "is_enabled",
    "linear",
    "mgpu_tune_gemm_in_file",
    "mm",
    "read_file",
    "record_untuned_enable",
    "record_untuned_is_enabled",
    "remove_routing",
    "replay_only",
    "set_filename",
    "set_max_tuning_duration",
    "set_max_tuning_iterations",
    "set_numerical_check_tolerances",
    "set_rotating_buffer_size",
    "summary",
    "traces",
    "tune_gemm_in_file",
    "tuning_enable",
    "tuning_is_enabled",
    "write_file",
    "write_file_on_exit",
]

fakes.register()
_C.set_packaged_databases(str(get_databases()))
start_from_environment()
