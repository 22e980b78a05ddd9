"""A passage's keys and values used again at another place, in Hugging Face's caches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from transformers import DynamicCache

from scripts.real.figures import Figure, Figures, of, require
from scripts.real.measures.likelihood import NOTHING, Likeness, likeness
from scripts.real.measures.rotation import turned
from scripts.real.models.stock import greedy, states, stock
from scripts.real.setting import Setting, counter
from scripts.real.texts.facts import FACTS, FIRST, SECOND, Fact
from scripts.real.texts.passages import PASSAGES

_ANSWER, _END = 16, 2
_KINDS = {
    "as they were, not turned": (False, 0, 0),
    "turned to their new positions": (True, 0, 0),
    "turned, first 8 and last 16 positions computed anew": (True, 8, 16),
}


@dataclass(frozen=True, slots=True)
class _Case:
    """Ids: what a passage was read behind (``old``) and stands behind now (``new``), itself, what
    follows it.
    """

    old: list[int]
    new: list[int]
    chunk: list[int]
    tail: list[int]
    answer: str


@dataclass
class _Sum:
    """Over the cases."""

    use: Likeness = NOTHING
    same: int = 0
    right: int = 0


def measure(setting: Setting) -> Figures:
    """Answers to a question about a passage that was read before, behind another beginning."""
    model, cases = stock(setting.folder), [_case(setting, fact) for fact in FACTS]
    base = float(model.config.rope_parameters["rope_theta"])
    _check(model, cases[0], base)
    sums, right, tell = {kind: _Sum() for kind in _KINDS}, 0, counter("passages", len(cases))
    for number, case in enumerate(cases, 1):
        ids = case.new + case.chunk
        whole = DynamicCache()
        states(model, ids, whole)
        reply = greedy(model, setting.table, whole, case.tail, _ANSWER, _END)
        clean = states(model, ids + case.tail + reply[:-1])[len(ids) + len(case.tail) - 1 :]
        right += case.answer in setting.text(reply).lower()
        for kind, (turn, first, last) in _KINDS.items():
            by = base if turn else None
            cache, rest = _shifted(model, case, by, first, last)
            forced = states(model, rest + reply[:-1], cache)[len(rest) - 1 :]
            cache, rest = _shifted(model, case, by, first, last)
            found = greedy(model, setting.table, cache, rest, _ANSWER, _END)
            one = sums[kind]
            one.use += likeness(clean, forced, setting.table)
            one.same += found == reply
            one.right += case.answer in setting.text(found).lower()
        tell(number)
    rows = [Figure("computed anew", f"right {of(right, len(cases))}")]
    rows += [Figure(kind, _words(one, len(cases))) for kind, one in sums.items()]
    return Figures("keys turned by a shift are those computed at that place, layer 0", tuple(rows))


def _case(setting: Setting, fact: Fact) -> _Case:
    place = FACTS.index(fact)
    passage = f"{PASSAGES[place % len(PASSAGES)]} {fact.passage}\n\n"

    def encoded(text: str) -> list[int]:
        ids: list[int] = setting.tokenizer(text, add_special_tokens=False)["input_ids"]
        return ids

    tail = f"Question: {fact.question}<|im_end|>\n<|im_start|>assistant\n"
    begin = "<|im_start|>user\n"
    return _Case(
        encoded(begin + FIRST),
        encoded(begin + SECOND),
        encoded(passage),
        encoded(tail),
        fact.answer,
    )


def _shifted(
    model: Any, case: _Case, base: float | None, first: int, last: int
) -> tuple[DynamicCache, list[int]]:
    """A cache that holds the new beginning and the old passage but its ``last`` positions, turned
    by ``base`` (None: as they were); the ids that are still to be computed.
    """
    before = DynamicCache()
    states(model, case.old + case.chunk, before)
    cache = DynamicCache()
    states(model, case.new + case.chunk[:first], cache)
    start, stop = len(case.old) + first, len(case.old) + len(case.chunk) - last
    by = len(case.new) - len(case.old)
    for index, layer in enumerate(before.layers):
        keys, values = layer.keys[:, :, start:stop], layer.values[:, :, start:stop]
        cache.update(keys if base is None else turned(keys, by, base), values, index)
    kept: Sequence[int] = case.chunk[len(case.chunk) - last :] if last else ()
    return cache, [*kept, *case.tail]


def _check(model: Any, case: _Case, base: float) -> None:
    """Keys of the first layer depend on token and position alone."""
    cache, _ = _shifted(model, case, base, 0, 0)
    whole = DynamicCache()
    states(model, case.new + case.chunk, whole)
    apart = float((cache.layers[0].keys - whole.layers[0].keys).abs().max())
    require(apart < 1e-3, f"turned keys differ by {apart:.1e}")


def _words(one: _Sum, cases: int) -> str:
    same, right = of(one.same, cases), of(one.right, cases)
    return f"KL {one.use.mean_kl:.2g}; same answer {same}; right {right}"
