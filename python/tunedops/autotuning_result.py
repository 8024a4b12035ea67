"""The outcome of tuning, held in the hand: looked at, shipped, merged, and used in one block.

It maps problems to what was tried for each. ``with result:`` puts an overlay over everything
that is stored; where that lies, and how a backward pass finds it, is in csrc/python/bind_overlays.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterator, Mapping
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, TextIO

from tunedops import _C
from tunedops.bound_arguments import BoundArguments
from tunedops.environments import (
    Environments,
    devices_like,
    difference,
    environments_of,
    same_devices,
)
from tunedops.measurement import Measured, Measurement
from tunedops.overlay import Block, begin, end
from tunedops.text_files import read_text, replace_text

if TYPE_CHECKING:
    from rich.table import Table


# Results whose blocks go on, by thread: they stay alive until the blocks end, whoever forgets them.
_blocks = threading.local()


def _begun_here() -> list[tuple[AutotuningResult, Block]]:
    begun: list[tuple[AutotuningResult, Block]] = _blocks.__dict__.setdefault("begun", [])
    return begun


class AutotuningResult(Mapping[BoundArguments, tuple[Measurement, ...]]):
    """What :func:`tunedops.autotune` found: problem to all that was tried, the best first.

    In ``with result:`` its choices govern the block: products of this thread, and of a backward
    pass that is called there, take them before anything that is stored. Blocks nest, the
    innermost wins, and what it says nothing of the outer ones decide, then what is stored. The
    same object can be used any number of times, within itself and from several threads (the
    first block of a process begins before other threads multiply: it registers kernels). Nothing
    is tuned in the block because of it: that takes :func:`tunedops.enable`. With
    ``TUNEDOPS_ENABLED=0`` set, the block has no effect. Do not ``await`` or ``yield`` in it: what
    runs meanwhile on the thread would be governed too.

    GPUs of one model share choices; of one problem on two of them, the last counts.

    Immutable. ``a | b`` holds both, ``b``'s where both have one.
    """

    def __init__(
        self,
        measured: Mapping[BoundArguments, Measured],
        failures: Mapping[BoundArguments, str] | None = None,
        environments: Environments | None = None,
    ) -> None:
        """For those who do not get one from :func:`tunedops.autotune`.

        Args:
            measured: what was tried for each problem.
            failures: problems that could not be tuned, and why.
            environments: the validators of each kind of device; None: those of here.
        """
        self._measured = dict(measured)
        self._failures = dict(failures or {})
        devices = {bound.device for bound in self._measured}
        found = environments_of(devices) if environments is None else environments
        self._environments = {kind: dict(validators) for kind, validators in found.items()}
        self._lock = threading.Lock()
        self._overlay_results: int | None = None

    # --- What it holds ---------------------------------------------------------------

    def __getitem__(self, bound: BoundArguments) -> tuple[Measurement, ...]:
        return self._measured[bound].measurements

    def __iter__(self) -> Iterator[BoundArguments]:
        return iter(self._measured)

    def __len__(self) -> int:
        return len(self._measured)

    def best(self, bound: BoundArguments) -> Measurement:
        """The solution to use for a problem; KeyError if there is none."""
        return self._measured[bound].best

    @property
    def measured(self) -> Mapping[BoundArguments, Measured]:
        """Each problem with torch's own time beside what was tried."""
        return MappingProxyType(self._measured)

    @property
    def failures(self) -> Mapping[BoundArguments, str]:
        """Problems that could not be tuned, and why. They are no part of the mapping."""
        return MappingProxyType(self._failures)

    @property
    def validators(self) -> Mapping[str, Mapping[str, str]]:
        """By kind of device (``cpu``, ``cuda``), the environment that the choices depend on."""
        return {kind: MappingProxyType(dict(v)) for kind, v in self._environments.items()}

    def __or__(self, other: AutotuningResult) -> AutotuningResult:
        if not isinstance(other, AutotuningResult):
            return NotImplemented
        same_devices(self._environments, other._environments)
        failures = {b: why for b, why in self._failures.items() if b not in other._measured}
        failures |= {b: why for b, why in other._failures.items() if b not in self._measured}
        environments = {**self._environments, **other._environments}
        return AutotuningResult(self._measured | other._measured, failures, environments)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AutotuningResult):
            return NotImplemented
        return (
            self._measured == other._measured
            and self._failures == other._failures
            and self._environments == other._environments
        )

    __hash__ = None  # type: ignore[assignment]  # as any mapping

    # --- Using it --------------------------------------------------------------------

    def __reduce__(self) -> tuple[object, ...]:
        return (AutotuningResult, (self._measured, self._failures, self._environments))

    def __enter__(self) -> AutotuningResult:
        block = begin(_C.lay_overlay(self._results_of_overlay(), _C.current_overlay()))
        _begun_here().append((self, block))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        begun = _begun_here()
        mine = [i for i, (result, _) in enumerate(begun) if result is self]
        if not mine:
            raise RuntimeError("with result: the block ends on another thread than it began on")
        end(begun.pop(mine[-1])[1])

    def _results_of_overlay(self) -> int:
        """Their number in the compiled context, until this object is gone."""
        if self._overlay_results is not None:
            return self._overlay_results
        reason = difference(self._environments)
        if reason is not None:
            raise RuntimeError(f"with result: it is of another environment: {reason}")
        rows = [(*bound.key, m.best.solution) for bound, m in self._measured.items()]
        places = [
            place for kind, v in self._environments.items() for place in devices_like(kind, v)
        ]
        with self._lock:
            if self._overlay_results is None:
                self._overlay_results = _C.add_overlay_results(rows, places)
                weakref.finalize(self, _C.remove_overlay_results, self._overlay_results)
        return self._overlay_results

    # --- Keeping it ------------------------------------------------------------------

    def dumps(self) -> str:
        """JSON with a version and the environment, which :meth:`loads` reads."""
        from tunedops.autotuning_json import write

        return write(self._measured, self._failures, self._environments)

    @classmethod
    def loads(cls, text: str, *, check: bool = True) -> AutotuningResult:
        """What :meth:`dumps` wrote.

        Args:
            text: the JSON.
            check: False: also a result of another environment, to look at; it cannot be used.

        Raises:
            ValueError: it is no such JSON, or of another version, or of another environment
                (device, torch, library): the message says which, what it has, and what is here.
        """
        from tunedops.autotuning_json import read

        measured, failures, environments = read(text)
        if check:
            reason = difference(environments)
            if reason is not None:
                raise ValueError(f"loads: the result is of another environment: {reason}")
        return cls(measured, failures, environments)

    def dump(self, file: str | os.PathLike[str] | TextIO) -> None:
        """:meth:`dumps` into a file: its path, or one that is open for text."""
        text = self.dumps()
        if isinstance(file, (str, os.PathLike)):
            replace_text(file, text)
        else:
            file.write(text)

    @classmethod
    def load(cls, file: str | os.PathLike[str] | TextIO, *, check: bool = True) -> AutotuningResult:
        """:meth:`loads` of a file: its path, or one that is open for text."""
        if isinstance(file, (str, os.PathLike)):
            text = read_text(file)
            try:
                return cls.loads(text, check=check)
            except ValueError as error:
                raise ValueError(f"{os.fspath(file)}: {error}") from error
        return cls.loads(file.read(), check=check)

    def to_csv(self) -> str:
        """The winners as a results file of one kind of device, validators first.

        Raises:
            ValueError: the result is of a CPU and of GPUs, which have a file each.
        """
        from tunedops.autotuning_csv import write

        return write(self._measured, self._environments)

    @classmethod
    def from_csv(cls, file: str | os.PathLike[str], *, check: bool = True) -> AutotuningResult:
        """The rows of a results file.

        Args:
            file: its path.
            check: as in :meth:`loads`.

        Raises:
            ValueError: a row is no problem, or (with ``check``) the file is of another
                environment.
        """
        from tunedops.autotuning_csv import read

        measured, environments = read(file)
        if check:
            reason = difference(environments)
            if reason is not None:
                raise ValueError(f"{os.fspath(file)}: it is of another environment: {reason}")
        return cls(measured, None, environments)

    # --- Looking at it ---------------------------------------------------------------

    def table(self) -> Table:
        """A rich table: each problem, its times and its solution."""
        from tunedops.autotuning_table import table_of

        return table_of(self._measured)

    def __repr__(self) -> str:
        count = len(self._measured)
        faster = sum(m.best.solution != "Default" for m in self._measured.values())
        kinds = ", ".join(v.get("DEVICE", kind) for kind, v in self._environments.items())
        lost = f", {len(self._failures)} failed" if self._failures else ""
        return (
            f"<AutotuningResult: {count} problem{'s' * (count != 1)} on {kinds or 'no device'}, "
            f"{faster} faster than torch{lost}>"
        )

    def _repr_html_(self) -> str:
        """For notebooks."""
        from tunedops.autotuning_table import html_of

        return html_of(self._measured)
