"""The flags of ``split-client audit``, without what the audit itself needs to be loaded."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from dataclasses import dataclass
from pathlib import Path

_LARGEST_EPSILON = 1e4
_MOST_MINUTES = 1e5
_LARGEST_PART = 1e3
_MOST_TEXTS = 4096


@dataclass(frozen=True, slots=True)
class AuditRequest:
    """The values of the command's own flags.

    ``parts``: of the clipping norm, noise of the only modes there are then; ``single``: one sending
    of each message alone; ``beam``: texts that are followed by models, None: as many as usual.
    """

    prompts: Path | None = None
    json: Path | None = None
    plot: Path | None = None
    seed: int = 0
    quick: bool = False
    minutes: float | None = None
    epsilons: tuple[float, ...] = (1.0,)
    language: str | None = None
    parts: tuple[float, ...] = ()
    single: bool = False
    beam: int | None = None

    @classmethod
    def of(cls, options: Namespace) -> AuditRequest:
        """The flags that :func:`add_audit_arguments` added."""
        return cls(
            options.prompts,
            options.json,
            options.plot,
            options.seed,
            options.quick,
            options.minutes,
            tuple(options.epsilon or (1.0,)),
            options.language,
            tuple(options.part or ()),
            options.single,
            options.beam,
        )


def add_audit_arguments(parser: ArgumentParser) -> None:
    """The command's own flags."""
    parser.add_argument("--prompts", type=Path, metavar="FILE", help="messages of your own, JSON")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures there")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw use against recovery, SVG")
    parser.add_argument("--seed", type=int, default=0, help="repeats the figures (default: 0)")
    parser.add_argument(
        "--epsilon",
        type=_epsilon,
        action="append",
        metavar="EPS",
        help="noise for this epsilon of one token, may be repeated (default: 1)",
    )
    parser.add_argument(
        "--part",
        type=_part,
        action="append",
        metavar="X",
        help="noise of X times the clipping norm, may be repeated: these modes alone",
    )
    parser.add_argument(
        "--single",
        action="store_true",
        help="one sending of each message alone: all the time goes into attacks on it, none into "
        "further sendings, edits, use and the game",
    )
    parser.add_argument(
        "--beam",
        type=_beam,
        metavar="N",
        help="texts that models follow at a time: more find more and take longer (default: 32, 24 "
        "with --quick)",
    )
    parser.add_argument(
        "--language",
        metavar="URL",
        help="a server of another model, which the attacks take for their language model beside "
        "the audited one; it makes them stronger",
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="few messages and modes: about a minute for the embedded model, some for one of 135 "
        "million parameters; without it some ten times as long",
    )
    parser.add_argument(
        "--minutes",
        type=_minutes,
        metavar="N",
        help="end within so many minutes; what does not fit is measured on less and said so",
    )


def _part(text: str) -> float:
    """Raises ArgumentTypeError, whose text is what argparse shows."""
    return _number(text, _LARGEST_PART, "0.1 or 0.3")


def _beam(text: str) -> int:
    """Raises ArgumentTypeError, whose text is what argparse shows."""
    try:
        value = int(text)
    except ValueError:
        value = 0
    if not 0 < value <= _MOST_TEXTS:
        raise ArgumentTypeError(f"{text!r} is no whole number from 1 to {_MOST_TEXTS}; try 32")
    return value


def _number(text: str, most: float, example: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.0 < value <= most:
        raise ArgumentTypeError(f"{text!r} is no number above 0 and up to {most:g}; try {example}")
    return value


def _minutes(text: str) -> float:
    """Raises ArgumentTypeError, whose text is what argparse shows."""
    return _number(text, _MOST_MINUTES, "5")


def _epsilon(text: str) -> float:
    """Raises ArgumentTypeError, whose text is what argparse shows."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.0 < value < _LARGEST_EPSILON:
        raise ArgumentTypeError(
            f"{text!r} is no number above 0 and below {_LARGEST_EPSILON:g}; try 1 or 8"
        )
    return value
