"""Tokens that a grammar forces while the model answers, and the time of a mask."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import jsonschema
import numpy as np
import torch

from scripts.bench.report import median
from scripts.bench.timing import timed
from scripts.real.figures import Figure, Figures, of, require
from scripts.real.models.ours import Middle
from scripts.real.models.served import request
from scripts.real.setting import Setting, say
from scripts.real.texts.passages import PASSAGES
from scripts.real.texts.schemas import SCHEMAS
from split_client.grammar.constraint import JsonConstraint
from split_client.grammar.json import compiled, rules_of
from split_client.grammar.vocabulary import Vocabulary
from split_server.kv.cache import KVCache

_MOST = 120
_END = 2


@dataclass
class _Reply:
    """One reply while it is made; ``forced``: tokens that were not chosen; ``waiting``: tokens that
    the grammar has forced and that are still to come.
    """

    kind: str
    cache: KVCache
    constraint: JsonConstraint
    matcher: Any
    last: int
    made: list[int] = field(default_factory=list)
    forced: int = 0
    waiting: list[int] = field(default_factory=list)
    masks: list[float] = field(default_factory=list)


def measure(setting: Setting) -> Figures:
    """Greedy replies under each schema, all at once."""
    source = (setting.folder / "tokenizer.json").read_text("utf-8")
    vocabulary = Vocabulary(source, len(setting.table), frozenset({_END}))
    middle = Middle(setting.folder, "float32")
    replies = [
        _begun(setting, middle, vocabulary, kind, f"{wish}\n\n{text}")
        for kind, (wish, _) in SCHEMAS.items()
        for text in PASSAGES[:4]
    ]
    running = list(replies)
    while running:
        rows = middle.next([one.cache for one in running], setting.rows([r.last for r in running]))
        for one, state in zip(running, rows, strict=True):
            _choose(one, vocabulary, state @ setting.table.T)
        running = [one for one in running if not one.constraint.finished and len(one.made) < _MOST]
    whole = [one for one in replies if one.constraint.finished or one.made[-1] == _END]
    for one in whole:
        _check(setting, one)
    say(f"{len(whole)} of {len(replies)} replies are whole")
    masks = [ms for one in replies for ms in one.masks]
    rows_ = [_figure(kind, [one for one in replies if one.kind == kind]) for kind in SCHEMAS]
    time = f"{median(masks):.2f} ms, 95% within {float(np.quantile(masks, 0.95)):.2f} ms"
    return Figures(
        f"replies that ended are valid by the package jsonschema, {of(len(whole), len(replies))}",
        (*rows_, Figure("a mask over 49,152 tokens", time)),
    )


def _begun(
    setting: Setting, middle: Middle, vocabulary: Vocabulary, kind: str, text: str
) -> _Reply:
    make = compiled(vocabulary, rules_of(SCHEMAS[kind][1]))
    constraint, cache, ids = make(), KVCache(), setting.ids(request(text))
    middle.states(setting.rows(ids[:-1]), cache)
    # The constraint keeps its matcher to itself; a second one of the same beginning tells of runs.
    return _Reply(kind, cache, constraint, make()._matcher, ids[-1])


def _choose(one: _Reply, vocabulary: Vocabulary, logits: torch.Tensor) -> None:
    """The next token: the grammar's where it leaves no choice, else the likeliest it allows."""
    one.waiting = one.waiting or list(one.matcher.compute_ff_tokens())
    one.masks.append(timed(lambda: vocabulary.mask(one.matcher)).ms)
    allowed = torch.from_numpy(np.array(one.constraint.allowed(_MOST - len(one.made))))
    if one.waiting:
        one.last, one.forced = one.waiting.pop(0), one.forced + 1
        require(bool(allowed[one.last]), "a forced token is not allowed")
    else:
        one.last = int(logits.masked_fill(~allowed, -torch.inf).argmax())
    one.made.append(one.last)
    one.constraint.accept(one.last)
    one.matcher.consume_token(one.last)


def _check(setting: Setting, one: _Reply) -> None:
    text = setting.text(one.made)
    try:
        jsonschema.validate(json.loads(text), SCHEMAS[one.kind][1])
    except (ValueError, jsonschema.ValidationError):
        require(False, f"a reply is not of its schema {one.kind}")


def _figure(kind: str, replies: list[_Reply]) -> Figure:
    tokens, forced = sum(len(one.made) for one in replies), sum(one.forced for one in replies)
    return Figure(f"{kind}, {len(replies)} replies", f"{of(forced, tokens)} tokens forced")
