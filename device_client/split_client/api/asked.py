"""What a program asks for, in the forms that programs write it: messages, stops, sampling words."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypedDict

from split_client.chat.message import Message
from split_client.chat.reading import message_in
from split_client.errors import MessageInvalid
from split_client.generation.sampling.params import SamplingParams
from split_client.generation.stops import stop_texts
from split_client.grammar.form import Form, form_of
from split_wire.attention import AttentionRequest

_NAMES = tuple(field.name for field in dataclasses.fields(SamplingParams))

Messages: TypeAlias = str | Sequence[Mapping[str, Any]]
"""Maps of role and content, the last of them the user's; a text is one message of the user."""


class SamplingWords(TypedDict, total=False):
    """Single sampling settings, as :class:`SamplingParams` has them; None: as without the word."""

    temperature: float | None
    top_k: int | None
    top_p: float | None
    min_p: float | None
    repetition_penalty: float | None
    presence_penalty: float | None
    frequency_penalty: float | None
    seed: int | None
    logit_bias: Mapping[int, float] | None
    banned: frozenset[int] | None
    repetition_range: int | None


@dataclass(frozen=True, slots=True)
class Asked:
    """One reply that is wanted: the text to continue, or the messages to answer.

    ``expected``: a text that it is thought to be, but for differences.
    """

    prompt: str | tuple[Message, ...]
    params: SamplingParams | None
    words: Mapping[str, Any]
    max_tokens: int
    stop: tuple[str, ...]
    attention: AttentionRequest | None
    expected: str | None
    form: Form | None

    @classmethod
    def of(
        cls,
        prompt: str | tuple[Message, ...],
        params: SamplingParams | None,
        words: SamplingWords,
        max_tokens: int,
        stop: str | Iterable[str],
        attention: AttentionRequest | None,
        expected: str | None = None,
        form: Any = None,
    ) -> Asked:
        """Raises InvalidSamplingParameter, GrammarInvalid; TypeError for a word that is none."""
        given = given_words(words)
        texts, wanted = stop_texts(stop), form_of(form)
        return cls(prompt, params, given, max_tokens, texts, attention, expected, wanted)

    def sampling(self, defaults: SamplingParams) -> SamplingParams:
        """The words over the params over the model's ``defaults``."""
        return sampling_of(self.params, self.words, defaults)


def given_words(words: SamplingWords) -> dict[str, Any]:
    """The words that say something, in their ranges.

    Raises InvalidSamplingParameter, and TypeError for a word that is none.
    """
    for name in words:
        if name not in _NAMES:
            near = difflib.get_close_matches(name, _NAMES, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise TypeError(f"{name!r} is no sampling setting{hint}")
    given: dict[str, Any] = {name: value for name, value in words.items() if value is not None}
    SamplingParams(**given)
    return given


def sampling_of(
    params: SamplingParams | None, words: Mapping[str, Any], defaults: SamplingParams
) -> SamplingParams:
    """``words`` over ``params``, or where there are none over ``defaults``."""
    return dataclasses.replace(defaults if params is None else params, **words)


def messages_of(given: Messages) -> tuple[Message, ...]:
    """The messages of a chat. Raises MessageInvalid."""
    if isinstance(given, str):
        return (Message("user", given),)
    return tuple(_message(index, message) for index, message in enumerate(given))


def _message(index: int, given: Mapping[str, Any]) -> Message:
    message = message_in(given) if isinstance(given, Mapping) else None
    if message is None:
        raise MessageInvalid(index)
    if isinstance(message, str):
        raise MessageInvalid(index, message)
    return message
