"""Where a reply goes on: from its end, or from a token that is another one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Protocol

from split_client.chat.message import Message
from split_client.chat.steering.answers import Answered
from split_client.chat.steering.begun import Begun
from split_client.chat.steering.errors import BranchInvalid, NothingToContinue
from split_client.chat.steering.prompt import Prompt
from split_client.chat.steering.tokens import Kept, TokenLog


class Redacts(Protocol):
    """What the texts of a chat go out through."""

    def text(self, text: str) -> str: ...


class Chat(Protocol):
    """A chat that ends with a reply."""

    @property
    def messages(self) -> tuple[Message, ...]: ...
    def before_reply(self) -> Prompt: ...
    def spelled(self, prompt: Prompt, content: str) -> list[int]: ...
    @property
    def redaction(self) -> Redacts: ...


class Speller(Protocol):
    """A tokenizer."""

    def decode(self, ids: list[int], skip_special_tokens: bool = True) -> str: ...
    def encode_after(self, ids: list[int], text: str) -> list[int] | None: ...


def begun_reply(
    chat: Chat, answered: Answered | None, speller: Speller, ends: Iterable[int]
) -> tuple[Prompt, Begun]:
    """The prompt of the reply that ``chat`` ends with, and all of that reply but a token that ends
    it.

    Raises NothingToContinue, and what rendering the chat raises.
    """
    prompt = chat.before_reply()
    last = chat.messages[-1]
    if last.tool_calls:
        raise NothingToContinue("the reply calls tools; answer them, or say something")
    if answered is not None:
        kept = _kept(answered)
        while kept and kept[-1].token in ends:
            kept.pop()
        # A stop text is no part of what a reply says, but of its tokens.
        said = chat.redaction.text(last.content)
        if kept and speller.decode([each.token for each in kept]) == said:
            return _prompt(prompt, answered), Begun(tuple(kept))
    ids = chat.spelled(prompt, last.content)
    if not ids:
        raise NothingToContinue("the reply has no text")
    return prompt, Begun.of(ids)


def branched(
    chat: Chat,
    answered: Answered | None,
    speller: Speller,
    at: int,
    token: int | str,
    rows: int,
) -> tuple[Prompt, Begun]:
    """The same up to token ``at`` of the reply, which is ``token``: an id below ``rows``, or the
    text of one.

    Raises NothingToContinue where the tokens of the reply are not known, BranchInvalid, and what
    rendering the chat raises.
    """
    if answered is None:
        raise NothingToContinue(
            "the tokens of the newest reply are not known: it is none of this session, or the "
            "chat was changed since; answer again first"
        )
    kept = _kept(answered)
    if not 0 <= at < len(kept):
        raise BranchInvalid(f"the reply has the tokens 0 to {len(kept) - 1}, and no {at}")
    before = [*answered.ids[: answered.prompt_tokens + at]]
    chosen = token
    if isinstance(token, str):
        out = chat.redaction.text
        chosen = _spelled(answered.log, speller, at, token, before, out)
    if not isinstance(chosen, int) or isinstance(chosen, bool) or not 0 <= chosen < rows:
        raise BranchInvalid(f"the model has the tokens 0 to {rows - 1}, and no {chosen}")
    begun = Begun((*kept[:at], Kept(chosen, kept[at].state)))
    return _prompt(chat.before_reply(), answered), begun


def _spelled(
    log: TokenLog | None,
    speller: Speller,
    at: int,
    text: str,
    before: list[int],
    out: Callable[[str], str],
) -> int:
    """The token that says ``text``: an alternative if there is one, else the only one of it."""
    likely = () if log is None else log.tokens()[at].alternatives
    for wanted in (text, text.strip()):
        for each in likely:
            if wanted and wanted in (each.text, each.text.strip()):
                return each.token
    ids = speller.encode_after(before, out(text)) or []
    if len(ids) != 1:
        raise BranchInvalid(
            f"{text[:40]!r} is {len(ids)} tokens there and not one; "
            "choose an alternative, or change the text of the reply"
        )
    return ids[0]


def _kept(answered: Answered) -> list[Kept]:
    """The tokens of a reply, with their states where there is a log."""
    log = answered.log
    if log is not None and len(log.kept) == len(answered.reply):
        return list(log.kept)
    return [Kept(token) for token in answered.reply]


def _prompt(prompt: Prompt, answered: Answered) -> Prompt:
    """``prompt`` with the ids that the reply was made for."""
    return replace(prompt, ids=[*answered.ids[: answered.prompt_tokens]])
