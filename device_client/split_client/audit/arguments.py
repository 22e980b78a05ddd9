"""The flags of ``split-client audit``, without what the audit itself needs to be loaded."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from dataclasses import dataclass
from pathlib import Path

_LARGEST_EPSILON = 1e4
_MOST_MINUTES = 1e5


@dataclass(frozen=True, slots=True)
class AuditRequest:
    """The values of the command's own flags."""

    prompts: Path | None = None
    json: Path | None = None
    plot: Path | None = None
    seed: int = 0
    quick: bool = False
    minutes: float | None = None
    epsilons: tuple[float, ...] = (1.0,)
    language: str | None = None

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


def _minutes(text: str) -> float:
    """Raises ArgumentTypeError, whose text is what argparse shows."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.0 < value <= _MOST_MINUTES:
        raise ArgumentTypeError(f"{text!r} is no number above 0 and up to {_MOST_MINUTES:g}; try 5")
    return value


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
