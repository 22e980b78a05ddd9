"""What a chat needs of a model to spell its messages: template, tokenizer, form of calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from split_client.model.ends import DeviceEnds
from split_client.tools.families import CallForm


class Renderer(Protocol):
    """A chat template; ``tools`` are given to it where there are any."""

    def render(
        self,
        messages: list[dict[str, Any]],
        *,
        tools: list[dict[str, Any]] | None = None,
        add_generation_prompt: bool = True,
    ) -> str:
        """The prompt's text."""


class Encoder(Protocol):
    """A tokenizer."""

    def encode(self, text: str, *, add_special_tokens: bool = False) -> list[int]:
        """Ids of a text."""

    def encode_after(self, ids: list[int], text: str) -> list[int] | None:
        """Ids of ``text`` as it continues ``ids``, None where only the whole text can tell."""

    def encode_marked(self, ids: list[int], text: str) -> list[int] | None:
        """As :meth:`encode_after`, of a text with what :meth:`plain` made; no ids: of the whole."""

    def plain(self, text: str) -> str:
        """``text`` of a stranger, of which no control token comes."""

    def decode(self, ids: list[int], skip_special_tokens: bool = True) -> str:
        """The text of ids."""


@dataclass(frozen=True, slots=True)
class Spelling:
    """How a model spells tools: the ``form`` of its template's calls, None where that knows no
    tools, and the texts of the tokens that end a turn.
    """

    form: CallForm | None = None
    ends: tuple[str, ...] = ()


def ends_of_turns(ends: DeviceEnds) -> tuple[str, ...]:
    """Texts of the tokens that end a turn of the model."""
    ids = sorted(ends.manifest.eos_token_ids)
    return tuple(ends.tokenizer.decode([token], skip_special_tokens=False) for token in ids)
