"""The tokens of a reply by how unlikely they were."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TextIO

from split_client.api import ReplyToken
from split_client.terminal.output.brightness import BEGINNINGS, styled
from split_client.terminal.output.fold import columns
from split_client.terminal.output.heat_map import shaded
from split_client.terminal.output.sanitise import sanitise
from split_client.terminal.output.width import measure

_LONGEST_NAME = 30


def surprise(probability: float | None) -> int | None:
    """0 (likely) to 4 for a probability; None where it is not known."""
    return None if probability is None else sum(probability < each for each in BEGINNINGS)


def surprise_lines(tokens: Iterable[ReplyToken], out: TextIO) -> list[str]:
    """The text with every token as bright as it was unlikely; control tokens are left out."""
    spans = ((token.text, surprise(token.probability)) for token in tokens if not token.control)
    return shaded(spans, columns(out) - 1, measure)


def surprise_legend() -> str:
    """One line: the levels and the probabilities below which they begin."""
    begins = [f" <{share * 100:.0f} " for share in reversed(BEGINNINGS)]
    labels = [f" ≥{BEGINNINGS[-1] * 100:.0f} ", *begins]
    return f"{''.join(styled(label, at) for at, label in enumerate(labels))} % likely"


def named(text: str) -> str:
    """A token between quotes, on one line; white space alone is made visible."""
    harmless = sanitise(text)
    name = harmless if harmless.strip() else harmless.replace(" ", "␣")
    name = name.replace("\n", "↵").replace("\t", "⇥")
    return f"“{name[:_LONGEST_NAME]}”"
