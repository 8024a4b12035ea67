"""``doctor``: what this installation is made of, and which settings are in force."""

from __future__ import annotations

import argparse
import os
import platform
from typing import TYPE_CHECKING

import torch
from rich.console import Console
from rich.table import Table

import tunedops
from tunedops import _C
from tunedops.cli.busy import words_for_busy
from tunedops.cli.output import collected_warnings, visible
from tunedops.results import Result
from tunedops.table import make_console

if TYPE_CHECKING:
    from tunedops.cli.argparse_types import Commands

_PREFIX = "TUNEDOPS_"
# Read by the build, not by the package.
_BUILD_VARIABLES = ("DEBUG", "PIP", "PYTHON", "SANITIZE")


def add_to(commands: Commands) -> None:
    """Adds the command to the parser."""
    parser = commands.add_parser(
        "doctor",
        help="print devices, versions, kernels, files and settings",
        description="Prints what decides about a product here: devices, versions, "
        "kernels, threads, results files, and each setting with its value and where "
        "that comes from. Changes nothing.",
    )
    parser.set_defaults(run=run)


def run(_: argparse.Namespace) -> int:
    """Prints everything on standard output."""
    console = make_console()
    with collected_warnings() as warned:
        settings = _C.describe_settings()
        print_pairs(console, "versions", versions())
        print_pairs(console, "cpu", cpu_facts())
        print_pairs(console, "cuda", cuda_facts())
        print_pairs(console, "routing", routing_facts())
        print_settings(console, settings)
    notes = [*warned, *unknown_kernels(), *unknown_variables(settings)]
    if notes:
        console.print("notes")
    for note in notes:
        console.print(f"  {visible(note)}", soft_wrap=True)
    return 0


def print_pairs(console: Console, title: str, pairs: list[tuple[str, str]]) -> None:
    """A title, and below it names with their values, one a line."""
    console.print(title)
    width = max(len(name) for name, _ in pairs)
    for name, value in pairs:
        console.print(f"  {name:{width}}  {visible(value)}", soft_wrap=True)
    console.print()


def versions() -> list[tuple[str, str]]:
    """The versions that results may depend on."""
    return [
        ("tunedops", tunedops.__version__),
        ("torch", torch.__version__),
        ("CUDA of torch", torch.version.cuda or "none"),
        ("python", platform.python_version()),
    ]


def cpu_facts() -> list[tuple[str, str]]:
    """The processor, what runs on it, and its results file."""
    device = ("cpu", 0)
    threads, pool = _C.parallel_threads(), torch.get_num_threads()
    note = "" if threads == pool else f" (torch's pool has {pool})"
    return [
        ("name", _C.device_name(device)),
        ("instruction set", _C.isa()),
        ("threads", f"{threads}{note}"),
        ("cache", f"{_C.cache_bytes(device) / 2**20:.0f} MiB"),
        ("kernels", ", ".join(_C.kernel_names(device))),
        *results_facts(device),
    ]


def cuda_facts() -> list[tuple[str, str]]:
    """The GPUs that torch sees, and whether this build has kernels for them."""
    facts = [("backend", "built in" if _C.built_with_cuda else "not in this build")]
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if count == 0:
        facts.append(("GPUs", "torch sees none"))
    for index in range(count):
        facts.append((f"GPU {index}", torch.cuda.get_device_name(index)))
        if _C.built_with_cuda:
            facts.append(("kernels", ", ".join(_C.kernel_names(("cuda", index)))))
            facts += results_facts(("cuda", index))
    return facts


def results_facts(device: tuple[str, int]) -> list[tuple[str, str]]:
    """The results file of a device, and what becomes of it."""
    asked = _C.filename(device)
    results = [Result(*row) for row in _C.results(device)]
    used = _C.filename(device)  # reading may have led to the file beside
    facts = [("results file", asked)]
    if used != asked:
        facts.append(("used instead", used))
    if not os.path.exists(used):
        facts.append(("results", "the file does not exist yet"))
        return facts
    facts.append(("results", f"{len(results)}"))
    words = words_for_busy(results, device, used)
    if words is not None:
        facts.append(("of a busy machine", words))
    sentences = _C.check_file(device, used) if os.path.getsize(used) > 0 else []
    facts += [("not as it should be", sentence) for sentence in sentences]
    return facts


def routing_facts() -> list[tuple[str, str]]:
    """Whether torch's own products come to us, here and after `enable()`."""
    installed = _C.routing_is_installed()
    return [
        (
            "torch.mm and kin",
            "routed in this process (TUNEDOPS_ENABLED is set)"
            if installed
            else "torch's own until tunedops.enable() is called",
        )
    ]


def print_settings(console: Console, settings: list[list[str]]) -> None:
    """One setting a row: value, where it comes from, meaning."""
    table = Table(title="settings (environment variables begin with TUNEDOPS_)")
    for column in ("name", "value", "from", "meaning"):
        table.add_column(column, overflow="fold")
    for name, value, _, origin, meaning in settings:
        table.add_row(name, visible(value), origin, meaning)
    console.print(table)


def unknown_kernels() -> list[str]:
    """Names in KERNELS that no kernel has: they keep others from competing."""
    types = [kind for kind in ("cpu", "cuda") if _C.has_backend(kind)]
    known = {name for kind in types for name in _C.kernel_names((kind, 0))}
    asked = [name.strip() for name in _C.setting("KERNELS").split(",")]
    return [
        f"KERNELS names '{name}', and no kernel has that name"
        for name in asked
        if name and name not in known
    ]


def unknown_variables(settings: list[list[str]]) -> list[str]:
    """Environment variables that look like settings and are none."""
    known = {_PREFIX + name for name, *_ in settings}
    known |= {_PREFIX + name for name in _BUILD_VARIABLES}
    return [
        f"{name} is set in the environment, and there is no such setting"
        for name in sorted(os.environ)
        if name.startswith(_PREFIX) and name not in known
    ]
