"""What each source guesses."""

from __future__ import annotations

from typing import Any

from scripts.vectors.drafts.texts import Numbers, edited, prose, records
from split_client.generation.speculation.drafts import DraftSource
from split_client.generation.speculation.given import Given
from split_client.generation.speculation.memo import Memo
from split_client.generation.speculation.suffix import Suffix

_MEMO_BYTES = 8192


def build() -> list[dict[str, Any]]:
    """Cases by name."""
    numbers = Numbers(1)
    text = prose(numbers, 120)
    return [
        _case("suffix: nothing to go by", Suffix(), [_grown([5]), _grown([6]), _grown([7, 8])]),
        _case("suffix: the newest of equals", Suffix(), [_grown([1, 2, 3, 4, 1, 2, 5, 6, 1, 2])]),
        _case("suffix: the most frequent before the newest", Suffix(), [_grown(_VOTED)]),
        _case("suffix: a repetition goes on beyond its end", Suffix(), [_grown([9, 7, 8] * 3)]),
        _case("suffix: a chat that is cut back", Suffix(), _cut_back(text)),
        _case("suffix: records", Suffix(), _stepwise(records(numbers, 12), 40)),
        _case("suffix: a copy with edits", Suffix(), _copied(text, edited(numbers, text))),
        _case("given: a text with edits", Given(text), _replied(edited(numbers, text)), given=text),
        _case(
            "given: nothing of it comes",
            Given(text),
            _replied([900 + i for i in range(40)]),
            given=text,
        ),
        _case(
            "memo: earlier replies", Memo(_MEMO_BYTES), _remembered(text), most_bytes=_MEMO_BYTES
        ),
        _case("memo: the oldest goes", Memo(_MEMO_BYTES), _filled(numbers), most_bytes=_MEMO_BYTES),
    ]


_VOTED = [1, 2, 3, 30, 1, 2, 3, 30, 1, 2, 4, 40, 1, 2]


def _grown(tokens: list[int], keep: int | None = None, most: int = 7) -> dict[str, Any]:
    """``keep`` of the chat, and ``tokens`` more; None: all of it."""
    return {"keep": keep, "add": tokens, "most": most}


def _cut_back(text: list[int]) -> list[dict[str, Any]]:
    return [
        _grown(text + text[:20]),
        _grown(text[60:70], keep=100),
        _grown(text[:9], keep=30),
        _grown([], keep=12),
        _grown([77, 78, 79, *text[:9]], keep=0),
    ]


def _stepwise(text: list[int], begun: int) -> list[dict[str, Any]]:
    return [_grown(text[:begun])] + [_grown([token]) for token in text[begun:]]


def _copied(text: list[int], copy: list[int]) -> list[dict[str, Any]]:
    return _stepwise([*text, 300, 301, *copy], len(text) + 2)


def _replied(reply: list[int]) -> list[dict[str, Any]]:
    return _stepwise([400, 401, *reply], 2)


def _remembered(text: list[int]) -> list[dict[str, Any]]:
    return [
        _grown([50, 51, 52]),
        {"prompt": [60, 61, 50, 51, 52], "reply": text[:40]},
        _grown([]),
        _grown(text[:5]),
        {"prompt": text[:12], "reply": [*text[12:20], 99, 98, 97]},
        _grown(text[5:20]),
        _grown(text[20:39]),
        _grown(text[39:41]),
        _grown([70, 71], keep=0),
    ]


def _filled(numbers: Numbers) -> list[dict[str, Any]]:
    """Replies until the first has gone, each asked for by its beginning."""
    replies = [numbers.ids(80, 500) for _ in range(6)]
    acts = list[dict[str, Any]]()
    for reply in replies:
        acts.append({"prompt": [], "reply": reply})
        acts += [_grown(one[:10], keep=0) for one in replies[:3]]
    return acts


def _case(
    name: str, source: DraftSource, acts: list[dict[str, Any]], **made: Any
) -> dict[str, Any]:
    tokens, told = list[int](), list[dict[str, Any]]()
    for act in acts:
        if isinstance(source, Memo) and "reply" in act:
            source.replied(act["prompt"], act["reply"])
            told.append(act)
            continue
        keep = len(tokens) if act["keep"] is None else act["keep"]
        tokens = tokens[:keep] + act["add"]
        source.follow(tokens)
        draft = source.draft(act["most"])
        expected = None if draft is None else {"match": draft.match, "tokens": list(draft.tokens)}
        told.append({"keep": keep, "add": act["add"], "most": act["most"], "expected": expected})
    return {"name": name, "source": source.name, **made, "acts": told}
