"""Sampling settings from flags and from ``/set``."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

from split_client.config.reply import ReplyConfig
from split_client.errors import ClientError
from split_client.generation.sampling.params import SamplingParams
from split_client.terminal.input.draft_file import draft_text

FLOATS = (
    "temperature",
    "top_p",
    "min_p",
    "repetition_penalty",
    "presence_penalty",
    "frequency_penalty",
)
WHOLE = ("top_k", "seed")
_OFF = {"seed": None}


class SettingInvalid(ClientError):
    """A setting that does not exist, or a value that it cannot take."""

    code = "setting_invalid"


def expected_from(config: ReplyConfig) -> str | None:
    """The text of ``--draft-file``. Raises SettingInvalid, DraftFileInvalid, InputNotText."""
    if config.draft_file is None:
        return None
    if config.drafts == "off":
        raise SettingInvalid("--draft-file is of no use with --drafts off; leave one of them out")
    return draft_text(config.draft_file)


def sampling_from(config: ReplyConfig, defaults: SamplingParams) -> SamplingParams:
    """``defaults`` of the model with what the user gave. Raises InvalidSamplingParameter."""
    given = {name: getattr(config, name) for name in (*FLOATS, *WHOLE)}
    changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if config.logit_bias:
        changes["logit_bias"] = read_bias(config.logit_bias)
    return dataclasses.replace(defaults, **changes)


def read_bias(entries: Iterable[str]) -> dict[int, float]:
    """``ID=NUMBER`` entries as a map. Raises SettingInvalid."""
    bias: dict[int, float] = {}
    for entry in entries:
        token, separator, value = entry.partition("=")
        try:
            bias[int(token)] = float(value)
        except ValueError:
            separator = ""
        if not separator:
            raise SettingInvalid(f"logit bias {entry!r} is not TOKEN_ID=NUMBER, like 42=-5")
    return bias


def whole(name: str, text: str, most: int) -> int:
    """A whole number from 1 to ``most``. Raises SettingInvalid."""
    # More digits than the limit has are not worth reading, and Python refuses thousands of them.
    short = text.isdecimal() and len(text) <= len(str(most))
    if not short or not 1 <= int(text) <= most:
        raise SettingInvalid(f"{name} is a whole number from 1 to {most}, not {text[:40]!r}")
    return int(text)


def changed(params: SamplingParams, name: str, text: str) -> SamplingParams:
    """``params`` with one setting changed by hand.

    Raises SettingInvalid, InvalidSamplingParameter.
    """
    try:
        if name == "logit_bias":
            value: Any = read_bias(text.split()) if text != "none" else {}
        elif text == "none" and name in _OFF:
            value = _OFF[name]
        elif name in FLOATS:
            value = float(text)
        else:
            value = int(text)
    except ValueError:
        kind = "a whole number" if name in WHOLE else "a number"
        raise SettingInvalid(f"{name} is {kind}, not {text!r}") from None
    return dataclasses.replace(params, **{name: value})
