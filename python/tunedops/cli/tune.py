"""``tune``: tunes the products of files and keeps the winners."""

from __future__ import annotations

import argparse
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import tunedops
from tunedops import _C
from tunedops.cli.device import add_device_to, device_of
from tunedops.cli.errors import CliError
from tunedops.cli.output import say, visible
from tunedops.cli.problems import Problem, read_problems
from tunedops.cli.processor_share import ProcessorShare
from tunedops.cli.tune_report import Outcome, print_report, print_table
from tunedops.results import Result
from tunedops.search import SEARCHES
from tunedops.table import make_console
from tunedops.workloads import COLUMNS

if TYPE_CHECKING:
    from tunedops.cli.argparse_types import Commands


_MOST_NAMED = 20


def add_to(commands: Commands) -> None:
    """Adds the command to the parser."""
    parser = commands.add_parser(
        "tune",
        help="tune the products of files",
        description="Tunes each product of the files and writes the winners into a "
        "results file, each as soon as it is known. Products that have a result there "
        "are shown and not tuned again, unless that was timed while other work held the "
        "processors (`busy` in tables, `-busy` in the file). The limits of tuning are "
        "environment variables; `doctor` lists them.",
    )
    parser.add_argument(
        "workloads",
        metavar="WORKLOADS",
        nargs="+",
        help=f"a workload (CSV with the header {','.join(COLUMNS)}), an untuned file or "
        "a results file ('op,params' lines), or bound arguments (JSON, as trace-to-bound-args "
        "writes them); its content tells which. Of several files each product is tuned once",
    )
    add_device_to(parser)
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="the results file, exactly as named (default: the one that a program in "
        "this folder would use)",
    )
    parser.add_argument(
        "--retune",
        action="store_true",
        help="tune all products that have a result, too (those that were timed on a busy machine "
        "are tuned again without it)",
    )
    parser.add_argument(
        "--search",
        choices=SEARCHES,
        help="which configs to try: those that kernels propose, also what a search leads to "
        "within the limits, or all, which on a GPU takes minutes for each product (default: as "
        "TUNEDOPS_SEARCH says, else guided)",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Reads and checks everything, then tunes, then prints the table."""
    device = device_of(arguments)
    listed = read_problems(arguments.workloads, device)
    problems = listed.problems
    if _C.setting("READ_ONLY") == "1":
        raise CliError("TUNEDOPS_READ_ONLY is set, so nothing is tuned or written")
    results_file = open_results(arguments.output, device)
    if "TUNEDOPS_GRAPH_REPLAY" not in os.environ:
        # No other thread of this process uses a GPU, so nothing forbids graphs.
        _C.set_setting("GRAPH_REPLAY", "1")
    if arguments.search is not None:
        set_search(arguments.search)
    say_what_is_left_out(listed.left_out)

    outcomes: dict[Problem, Outcome] = {}
    if not arguments.retune:
        outcomes = stored_outcomes(problems, device)
    waiting = [problem for problem in problems if problem not in outcomes]
    share = ProcessorShare()
    with interrupt_flag() as interrupted:
        tune_all(waiting, device, outcomes, interrupted)
    saved = not any(o.how == "tuned" for o in outcomes.values()) or _C.write_file()

    print_table(problems, outcomes)
    # A file that came to belong to another environment meanwhile has changed its name.
    results_file = _C.filename(device)
    if not saved:
        raise CliError(f"not all results could be saved in '{results_file}'")
    if interrupted.is_set():
        left = sum(problem not in outcomes for problem in problems)
        say(
            f"interrupted with {left} of {len(problems)} products left; '{results_file}' "
            "keeps what was found"
        )
        return 130
    print_report(list(outcomes.values()), share if device[0] == "cpu" else None)
    if os.path.exists(results_file):
        print(f"results: {results_file}")
    has_failed = any(o.how == "failed" for o in outcomes.values())
    return 1 if has_failed or listed.left_out else 0


def say_what_is_left_out(sentences: list[str]) -> None:
    """Names lines that are not tuned, the first of very many."""
    for sentence in sentences[:_MOST_NAMED]:
        say(f"{sentence}; it is left out")
    if len(sentences) > _MOST_NAMED:
        say(f"{len(sentences) - _MOST_NAMED} more lines are left out")


def open_results(output: str | None, device: tuple[str, int]) -> str:
    """Settles on the results file, reads it, and sees whether it can be written.

    Returns:
        The file in use: beside the one asked for, if that is another environment's.

    Raises:
        CliError: it cannot be written.
    """
    if output is not None:
        named = os.environ.get("TUNEDOPS_FILENAME")
        if named is not None and named != output:
            raise CliError(
                f"-o {output}: TUNEDOPS_FILENAME={named} is set and names another file; "
                "unset it or leave out -o"
            )
        if not output:
            raise CliError("-o: the name is empty")
        tunedops.set_filename(output)
    check_writable(_C.filename(device))
    _C.results(device)  # reads the file, which may lead to the one beside it
    path = _C.filename(device)
    check_writable(path)
    return path


def check_writable(path: str) -> None:
    """Raises CliError if `path` cannot become or stay a results file."""
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise CliError(f"cannot write '{path}': there is no folder '{folder}'")
    if os.path.islink(path):
        raise CliError(f"cannot write '{path}': it is a link; name its target")
    if os.path.exists(path) and not os.path.isfile(path):
        raise CliError(f"cannot write '{path}': it is not a regular file")
    try:
        # The lock that every writer takes: what permissions say is not all there is.
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        os.close(os.open(f"{path}.lock", flags, 0o644))
    except OSError as error:
        raise CliError(f"cannot write '{path}': {error.strerror}") from error


def set_search(search: str) -> None:
    """Obeys ``--search``, which the environment must not contradict."""
    variable = "TUNEDOPS_SEARCH"
    if os.environ.get(variable, search) != search:
        raise CliError(
            f"--search {search} and {variable}={os.environ[variable]} contradict each other; "
            "give one of them"
        )
    _C.set_setting("SEARCH", search)


def stored_outcomes(problems: list[Problem], device: tuple[str, int]) -> dict[Problem, Outcome]:
    """The outcomes of those that have a result already that other work did not disturb."""
    outcomes = {}
    for problem in problems:
        row = _C.stored(device, *problem.key)
        result = Result(*row) if row is not None else None
        if result is not None and not result.was_disturbed:
            outcomes[problem] = Outcome(
                "stored",
                result.solution,
                result.time_ms,
                result.default_ms,
                result.spread,
                result.samples,
                result.timing,
            )
    return outcomes


@contextmanager
def interrupt_flag() -> Iterator[threading.Event]:
    """Inside, Ctrl-C sets the event, so that the product at work is finished and kept."""
    event = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield event
        return
    before = signal.signal(signal.SIGINT, lambda *_: event.set())
    try:
        yield event
    finally:
        signal.signal(signal.SIGINT, before)


def tune_all(
    problems: list[Problem],
    device: tuple[str, int],
    outcomes: dict[Problem, Outcome],
    interrupted: threading.Event,
) -> None:
    """Tunes the problems in their order into `outcomes`, until interrupted."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    console = make_console(stderr=True)
    bar = Progress(
        MofNCompleteColumn(),
        BarColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.description}", markup=False),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    with bar:
        task = bar.add_task("", total=len(problems))
        for problem in problems:
            bar.update(task, description=visible(problem.label))
            outcomes[problem] = tune_one(problem, device)
            bar.advance(task)
            if interrupted.is_set():
                return


def tune_one(problem: Problem, device: tuple[str, int]) -> Outcome:
    """Tunes one problem and keeps the result, in the file too."""
    try:
        found = _C.tune(device, *problem.key, True)
    except (RuntimeError, ValueError) as error:
        return Outcome("failed", str(error).partition("\n")[0])
    if found.failure:
        return Outcome("failed", found.failure)
    return Outcome(
        "tuned",
        found.solution,
        found.time_ms,
        found.default_ms,
        found.spread,
        found.samples,
        found.timing,
        found.elapsed_ms,
        found.searched,
    )
