# SPDX-License-Identifier: Apache-2.0
"""The command line: `python -m fedlearn_edu demo`.

Exit status: 0 after success, 1 if published numbers were not reproduced, 2 if something
was asked for that cannot be done, which is said in one line on stderr.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn, final

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
    chosen = parser.parse_args(arguments)
    if chosen.command is None:
        parser.print_help()
        return 0
    options = Options(chosen.data, chosen.rounds, chosen.out, chosen.seed)
    try:
        return _demo(options)
    except BrokenPipeError:  # somebody who reads the first lines only, such as `head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (FedLearnError, OSError) as error:
        line = "; ".join(" ".join(part.split()) for part in f"{error}".splitlines())
        print(f"{parser.prog} {chosen.command}: error: {line}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130


def _demo(options: Options) -> int:
    # Only the demo itself needs the language, pictures and (seconds later) TensorFlow.
    from fedlearn_edu.demo.story import tell

    return 0 if tell(options, say=_say) else 1


def _say(line: str) -> None:
    print(line, flush=True)


def _build_parser() -> argparse.ArgumentParser:
    default = Options()
    parser = _Parser(
        prog="python -m fedlearn_edu",
        description="Federated computation you can open, step through and draw.",
    )
    commands = parser.add_subparsers(dest="command", title="commands")
    demo = commands.add_parser(
        "demo",
        help="ten clients that each know one digit learn all ten together",
        description="Federated evaluation and averaging on one-digit-per-client data.",
    )
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
    return parser


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
