# SPDX-License-Identifier: Apache-2.0
"""The command line: `fedlearn-edu COMMAND`, or `python -m fedlearn_edu COMMAND`.

    demo      ten clients that each know one digit learn all ten together
    start     the lessons, in a folder of your own, and JupyterLab
    progress  which exercises are done, and what comes next
    doctor    whether this machine is ready, and what to do if not

Exit status: 0 after success; 1 if it is not as it should be: published numbers were
not reproduced, the doctor found a problem, JupyterLab is missing or failed; 2 if what
was asked for cannot be done, which is said in one line on stderr; 130 after Ctrl-C.
"""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn, final

from fedlearn_edu.demo.setting import DATA, Options
from fedlearn_edu.errors import FedLearnError


@final
class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, without the usage before it."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: error: {message} (see {self.prog} --help)\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit status."""
    parser = _build_parser()
    known, others = _split(sys.argv[1:] if arguments is None else arguments)
    chosen = parser.parse_args(known, argparse.Namespace(others=others))
    if chosen.command is None:
        parser.print_help()
        return 0
    try:
        run: Callable[[Any], int] = chosen.run
        return run(chosen)
    except BrokenPipeError:  # a reader of the first lines only, such as `head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (FedLearnError, OSError) as error:
        line = "; ".join(" ".join(part.split()) for part in f"{error}".splitlines())
        print(f"{parser.prog} {chosen.command}: error: {line}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130


# ------------------------------------------------------------------ commands

# Each imports what it needs, so that `--help` is quick.


def _demo(chosen: Any) -> int:
    from fedlearn_edu.demo.run import run_demo

    options = Options(chosen.data, chosen.rounds, chosen.out, chosen.seed)
    return 0 if run_demo(options, say=_say) else 1


def _start(chosen: Any) -> int:
    from fedlearn_edu.course import start

    folder = chosen.folder or start.here()
    _say(start.report(start.deliver(start.find_release(), folder), folder))
    name = start.command()
    _say(f"Next time: {name} start {folder}; also: {name} progress, {name} doctor")
    if not chosen.lab:
        return 0
    if find_spec("jupyterlab") is None:
        _say(start.NO_LAB)
        return 1
    status = start.open_lab(folder, chosen.others)
    if status > 0:  # below 0 it was ended by a signal
        _say(start.explain(status, chosen.others))
    return 1 if status else 0


def _progress(chosen: Any) -> int:
    from fedlearn_edu.course import progress_page, records
    from fedlearn_edu.course.lessons import load_all

    _say(progress_page.as_text(load_all(), records.read()))
    return 0


def _doctor(chosen: Any) -> int:
    from fedlearn_edu.course import doctor

    findings = []
    for finding in doctor.examine():
        _say(str(finding))
        findings.append(finding)
    _say(doctor.verdict(findings))
    return int(any(finding.verdict == "problem" for finding in findings))


def _say(line: str) -> None:
    print(line, flush=True)


# ------------------------------------------------------------------ arguments


def _split(arguments: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Our own arguments, and from the first option of JupyterLab on its own."""
    ours = ("-h", "--help", "--no-lab")
    if arguments[:1] == ["start"] and "--no-lab" not in arguments:
        for at, word in enumerate(arguments):
            if word.startswith("-") and word not in ours:
                return arguments[:at], arguments[at:]
    return arguments, ()


def _build_parser() -> argparse.ArgumentParser:
    is_script = Path(sys.argv[0]).stem == "fedlearn-edu"
    parser = _Parser(
        prog="fedlearn-edu" if is_script else "python -m fedlearn_edu",
        description="Federated computation you can open, step through and draw.",
        epilog="Exit status: 0 after success; 1 if it is not as it should be; "
        "2 if that cannot be done; 130 after Ctrl-C.",
    )
    commands = parser.add_subparsers(dest="command", title="commands")
    _add_demo(commands)
    _add_start(commands)
    _add_progress(commands)
    _add_doctor(commands)
    return parser


def _add_demo(commands: Any) -> None:
    default = Options()
    demo = commands.add_parser(
        "demo",
        help="ten clients that each know one digit learn all ten together",
        description="Federated evaluation and averaging on one-digit-per-client data.",
    )
    demo.set_defaults(run=_demo)
    demo.add_argument(
        "--data",
        choices=DATA,
        default=default.data,
        help="auto takes MNIST if it is here without a download, else digits28 "
        "(default: %(default)s)",
    )
    demo.add_argument(
        "--rounds",
        type=_positive,
        metavar="N",
        default=default.rounds,
        help="rounds of federated averaging (default: %(default)s)",
    )
    demo.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        default=default.out,
        help="the folder the pictures are written into (default: %(default)s)",
    )
    demo.add_argument(
        "--seed",
        type=_natural,
        metavar="S",
        default=default.seed,
        help="draw each client's examples at random; without it, the first ones",
    )


def _add_start(commands: Any) -> None:
    start = commands.add_parser(
        "start",
        help="put the lessons into a folder of your own, and open JupyterLab",
        usage="%(prog)s [-h] [--no-lab] [FOLDER] [options of JupyterLab ...]",
        description="Copies the lessons. What you changed stays as it is: a newer "
        "release of it lands beside it, as NAME.new.ipynb.",
        epilog="All options after FOLDER are passed on to JupyterLab, "
        "such as --no-browser, --port=8890 or --allow-root.",
    )
    start.set_defaults(run=_start)
    start.add_argument(
        "folder",
        type=Path,
        nargs="?",
        metavar="FOLDER",
        help="where they go (default: fedlearn-lessons, or this one if it has them)",
    )
    start.add_argument(
        "--no-lab", dest="lab", action="store_false", help="do not open JupyterLab"
    )


def _add_progress(commands: Any) -> None:
    progress = commands.add_parser(
        "progress",
        help="which exercises are done, and what comes next",
        description="What your checks and hints have left in the file that "
        "FEDLEARN_EDU_PROGRESS names (default: ~/.fedlearn_edu/progress.json).",
    )
    progress.set_defaults(run=_progress)


def _add_doctor(commands: Any) -> None:
    doctor = commands.add_parser(
        "doctor",
        help="whether this machine is ready for the lessons, and what to do if not",
        description="Looks at Python, packages, the kernel, data and lessons. Changes "
        "nothing, and asks no network.",
    )
    doctor.set_defaults(run=_doctor)


def _positive(text: str) -> int:
    return _whole_number(text, at_least=1)


def _natural(text: str) -> int:
    return _whole_number(text, at_least=0)


def _whole_number(text: str, at_least: int) -> int:
    try:
        number = int(text)
    except ValueError:
        number = at_least - 1
    if number < at_least:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a whole number of at least {at_least}"
        )
    return number


if __name__ == "__main__":
    sys.exit(main())
