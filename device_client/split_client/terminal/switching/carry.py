"""A chat that goes on with another model: what of it comes along."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace

from split_client.adapters.chooser import AUTO
from split_client.api import ChatSession, SamplingParams, SplitClient
from split_client.config.reply import ReplyConfig
from split_client.noise.words import OTHER_NOISE_LINE
from split_client.terminal.sampling import sampling_from


def carry(
    old: ChatSession, new: ChatSession, before: SamplingParams, after: SamplingParams
) -> list[str]:
    """Give ``new`` the messages and settings of ``old``, and return what is to be said of it.

    ``before``, ``after``: the sampling that each began with. What is the other model's stays
    behind: the ids of its tokens, what it looked at, its adapter; the map of redaction is the
    chat's. Raises what a setting raises.
    """
    redaction = old.redaction
    document = redaction.document()
    new.redact(redaction.settings if redaction.on else None)
    new.conversation.replace(replace(message, brightness="") for message in old.messages)
    new.redaction.load(document)
    new.params = _sampling(old.params or before, before, after)
    new.max_tokens, new.stop, new.form = old.max_tokens, old.stop, old.form
    new.expected, new.alternatives = old.expected, old.alternatives
    new.attention, new.brighten = old.attention, old.brighten
    new.context.be_like(old.context)
    if new.noise is None:
        new.drafts = old.drafts
    return [*_left_behind(old, new)]


def samplings(
    config: ReplyConfig | None, before: SplitClient, after: SplitClient
) -> tuple[SamplingParams, SamplingParams]:
    """With which chats of the two clients begin: what is recommended, and what is configured."""
    if config is None:
        return before.default_params, after.default_params
    return sampling_from(config, before.default_params), sampling_from(config, after.default_params)


def _sampling(now: SamplingParams, before: SamplingParams, after: SamplingParams) -> SamplingParams:
    """``after`` with what was changed since ``before``; biases are of ids of tokens."""
    changed = {
        field.name: getattr(now, field.name)
        for field in fields(SamplingParams)
        if getattr(now, field.name) != getattr(before, field.name)
    }
    return replace(after, **{**changed, "logit_bias": {}, "banned": frozenset()})


def _left_behind(old: ChatSession, new: ChatSession) -> Iterator[str]:
    if old.adapter not in (None, AUTO):
        yield f"adapter {old.adapter} is the other model's; /adapter lists those of this one"
    if old.params is not None and old.params.logit_bias:
        yield "logit biases are of the other model's tokens and stay behind"
    if new.noise is not None and new.messages:
        yield OTHER_NOISE_LINE
