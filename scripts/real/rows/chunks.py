"""A passage's keys and values used again at another place, in Hugging Face's caches."""

from __future__ import annotations

from dataclasses import dataclass

import torch
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
    sums, right, tell = {kind: _Sum() for kind in _KINDS}, 0, counter("passages", len(cases))
    for number, case in enumerate(cases, 1):
        before, whole = DynamicCache(), DynamicCache()
        states(model, case.old + case.chunk, before)
        states(model, case.new + case.chunk, whole)
        read = _Read(case, before, whole, base)
        _check(read)
        mixed = {kind: read.mixed(*options) for kind, options in _KINDS.items()}
        reply = greedy(model, setting.table, whole, case.tail, _ANSWER, _END)
        whole.crop(-(whole.get_seq_length() - len(case.new + case.chunk)))
        clean = states(model, case.tail + reply[:-1], whole)[len(case.tail) - 1 :]
        right += case.answer in setting.text(reply).lower()
        for kind, (cache, rest) in mixed.items():
            one, ids = sums[kind], rest + reply[:-1]
            forced = states(model, ids, cache)[len(rest) - 1 :]
            one.use += likeness(clean, forced, setting.table)
            cache.crop(-len(ids))
            found = greedy(model, setting.table, cache, rest, _ANSWER, _END)
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


@dataclass(frozen=True, slots=True)
class _Read:
    """The passage read ``before`` behind the old beginning, and behind the new one (``whole``);
    ``base``: rope_theta.
    """

    case: _Case
    before: DynamicCache
    whole: DynamicCache
    base: float

    def mixed(self, turn: bool, first: int, last: int) -> tuple[DynamicCache, list[int]]:
        """A cache of the new beginning and the old passage, its keys turned or not, whose ``first``
        positions are new and whose ``last`` are missing; the ids that are still to be computed.
        """
        case, cache = self.case, DynamicCache()
        start, stop = len(case.old) + first, len(case.old) + len(case.chunk) - last
        by, begun = len(case.new) - len(case.old), len(case.new) + first
        for index, (old, new) in enumerate(zip(self.before.layers, self.whole.layers, strict=True)):
            keys, values = old.keys[:, :, start:stop], old.values[:, :, start:stop]
            keys = turned(keys, by, self.base) if turn else keys
            cache.update(
                torch.cat([new.keys[:, :, :begun], keys], 2),
                torch.cat([new.values[:, :, :begun], values], 2),
                index,
            )
        kept = case.chunk[len(case.chunk) - last :] if last else []
        return cache, [*kept, *case.tail]


def _check(read: _Read) -> None:
    """Keys of the first layer depend on token and position alone."""
    cache, _ = read.mixed(True, 0, 0)
    apart = float((cache.layers[0].keys - read.whole.layers[0].keys).abs().max())
    require(apart < 1e-3, f"turned keys differ by {apart:.1e}")


def _words(one: _Sum, cases: int) -> str:
    same, right = of(one.same, cases), of(one.right, cases)
    return f"KL {one.use.mean_kl:.2g}; same answer {same}; right {right}"
