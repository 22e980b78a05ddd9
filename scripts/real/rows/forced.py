"""Replies of a schema through the product's own forms and drafts: forced tokens, round trips."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jsonschema
import numpy as np
import torch
from numpy.typing import NDArray

from scripts.bench.report import median
from scripts.real.figures import Figure, Figures, of, require
from scripts.real.models.counted import Counted, CountedDevice
from scripts.real.models.ours import Middle
from scripts.real.models.served import request
from scripts.real.models.stock import states, stock
from scripts.real.setting import END, Setting, counter
from scripts.real.texts.passages import PASSAGES
from scripts.real.texts.schemas import SCHEMAS
from split_client.chat.drafting import Drafting
from split_client.generation.constraint import Constraint
from split_client.grammar.form import JsonSchema
from split_client.grammar.forms import Forms

_MOST = 120
_PASSAGES = 4


@dataclass(frozen=True, slots=True)
class _Asked:
    kind: str
    prompt: list[int]
    form: Callable[[], Constraint]


def measure(setting: Setting) -> Figures:
    """Greedy replies under each schema, with drafts and without."""
    asked = _asked(setting)
    replies = _replies(setting, asked)
    model, masks = stock(setting.folder), list[float]()
    whole = 0
    for one, reply in zip(asked, replies, strict=True):
        masks += _follow(setting, model, one, reply)
        whole += _valid(setting, one.kind, reply)
    took = f"{median(masks):.2f} ms, 95% within {float(np.quantile(masks, 0.95)):.2f} ms"
    return Figures(
        "all tokens are Hugging Face's likeliest that the mask allows, and the masks of forced "
        "ones have one bit; replies that ended are valid by the package jsonschema, "
        f"{of(whole, len(asked))}",
        (
            *(_figure(kind, asked, replies) for kind in SCHEMAS),
            Figure("a mask over 49,152 tokens, processor time", took),
        ),
    )


def _asked(setting: Setting) -> list[_Asked]:
    def source() -> str:
        return (setting.folder / "tokenizer.json").read_text("utf-8")

    forms = Forms(source, len(setting.table), frozenset({END}))
    return [
        _Asked(
            kind,
            setting.ids(request(f"{wish}\n\n{text}")),
            forms.constraint(JsonSchema.of(schema)),
        )
        for kind, (wish, schema) in SCHEMAS.items()
        for text in PASSAGES[:_PASSAGES]
    ]


def _replies(setting: Setting, asked: list[_Asked]) -> list[Counted]:
    middle, drafting = Middle(setting.folder, "float32"), Drafting("auto", "chat")
    device = CountedDevice(middle, setting.table, setting.tokenizer, END, drafting)
    tell, made = counter("replies", len(asked)), list[Counted]()
    for one in asked:
        made.append(device.reply(one.prompt, _MOST, one.form()))
        tell(len(made))
    return made


def _follow(setting: Setting, model: Any, one: _Asked, reply: Counted) -> list[float]:
    """Milliseconds of each mask along a reply, whose tokens are checked on the way."""
    hidden = states(model, one.prompt + reply.ids[:-1])[len(one.prompt) - 1 :]
    constraint, masks = one.form(), list[float]()
    for at, (token, forced, state) in enumerate(zip(reply.ids, reply.forced, hidden, strict=True)):
        mask, took = _mask(constraint, _MOST - at)
        masks.append(took)
        allowed = torch.from_numpy(np.array(mask))
        if forced:
            require(int(allowed.sum()) == 1, "a forced token is one of several")
        logits = (setting.table @ state).masked_fill(~allowed, -torch.inf)
        require(int(logits.argmax()) == token, "a token is not the likeliest that is allowed")
        constraint.accept(token)
    return masks


def _mask(constraint: Constraint, left: int) -> tuple[NDArray[np.bool_] | None, float]:
    """The mask where so many tokens are left, and its milliseconds of processor time."""
    began = time.thread_time()
    mask = constraint.allowed(left)
    return mask, 1e3 * (time.thread_time() - began)


def _valid(setting: Setting, kind: str, reply: Counted) -> bool:
    """Whether the reply is whole; one that is not cut is of its schema."""
    try:
        jsonschema.validate(json.loads(setting.text(reply.ids)), SCHEMAS[kind][1])
    except (ValueError, jsonschema.ValidationError):
        require(len(reply.ids) == _MOST, f"a reply is not of its schema {kind}")
        return False
    return True


def _figure(kind: str, asked: list[_Asked], replies: list[Counted]) -> Figure:
    made = [reply for one, reply in zip(asked, replies, strict=True) if one.kind == kind]
    tokens, forced = sum(len(one.ids) for one in made), sum(sum(one.forced) for one in made)
    # Without drafts every token that is no forced one has a step of its own.
    return Figure(
        f"{kind}, {len(made)} replies",
        f"{of(forced, tokens)} tokens forced; {tokens / (tokens - forced):.2f} a round trip, "
        f"{tokens / sum(one.steps for one in made):.2f} with drafts",
    )
