"""The brightness of a chat as it is now: by message, part and token, and as a file."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from split_client.chat.brightness.dimmest import is_known
from split_client.chat.brightness.errors import BrightnessInvalid
from split_client.chat.brightness.gathering import Gathering
from split_client.chat.brightness.places import Looks, looks_of
from split_client.chat.brightness.runs import part_of, values_in
from split_client.chat.context.units import Unit, units_of
from split_client.chat.message import Message
from split_client.model.token_pieces import pieces_of
from split_client.model.tokenizer import ModelTokenizer
from split_client.owner_file import reason, write_whole

FORMAT: Final = "gatelink.brightness"


@dataclass(frozen=True, slots=True)
class BrightToken:
    """A token's ``text``, and its brightness of 0 to 65,535."""

    text: str
    brightness: int


class ChatBrightness:
    """Of ``chat``; ``looked``: what its newest reply looked at, where that is known."""

    def __init__(
        self, chat: Sequence[Message], tokenizer: ModelTokenizer, looked: Gathering | None
    ) -> None:
        self._chat, self._tokenizer, self._looked = tuple(chat), tokenizer, looked

    @property
    def known(self) -> bool:
        """Whether any reply has looked at any of the chat; else all is as it began."""
        return is_known(self._chat)

    @property
    def messages(self) -> tuple[int, ...]:
        """Of each message, as of a part that is all of it."""
        return tuple(
            part_of(values_in(each.brightness, len(each.content)), 0, len(each.content))
            for each in self._chat
        )

    def units(self, message: int) -> tuple[tuple[Unit, int], ...]:
        """Of each part of a message, from 0. Raises BrightnessInvalid where there is none."""
        found = self._at(message)
        values = values_in(found.brightness, len(found.content))
        return tuple((unit, part_of(values, unit.start, unit.stop)) for unit in units_of(found))

    def tokens(self, message: int) -> tuple[BrightToken, ...]:
        """Of each token of a message; of those that share a character, one of them all.

        Raises BrightnessInvalid where there is none.
        """
        found, at, made = self._at(message), 0, list[BrightToken]()
        values = values_in(found.brightness, len(found.content))
        for piece in pieces_of(self._tokenizer, self._tokenizer.encode(found.content)):
            own = values[at : at + len(piece.text)]
            at += len(piece.text)
            if len(own):
                made.append(BrightToken(piece.text, int(own.max())))
        return tuple(made)

    @property
    def looks(self) -> Looks | None:
        """Which parts the reply at the end of the chat looked at; None where it is not known."""
        return None if self._looked is None or not self._looked.rows else looks_of(self._looked)

    def document(self) -> dict[str, Any]:
        """All of it, with the rows of the newest reply, as JSON has it."""
        rows = [] if self._looked is None else self._looked.rows
        return {
            "format": FORMAT,
            "version": 1,
            "messages": [
                {
                    "role": message.role,
                    "brightness": whole,
                    "tokens": [[token.text, token.brightness] for token in self.tokens(number)],
                    "parts": [[unit.start, unit.stop, own] for unit, own in self.units(number)],
                }
                for number, (message, whole) in enumerate(
                    zip(self._chat, self.messages, strict=True)
                )
            ],
            "mode": None if self._looked is None else self._looked.mode,
            "rows": [
                {
                    "length": row.length,
                    "positions": row.positions.tolist(),
                    "shares": row.shares.tolist(),
                }
                for row in rows
            ],
        }

    def save(self, path: str | Path) -> None:
        """Write it as JSON, or as arrays of numpy, by the ending ``.json`` or ``.npz``; readable by
        you only. Shares are parts of 2^24. Raises BrightnessInvalid, also where the file exists.
        """
        try:
            path = Path(path).expanduser()
        except RuntimeError as error:
            raise BrightnessInvalid(f"{path}: there is no such user on this machine") from error
        if path.suffix not in (".json", ".npz"):
            raise BrightnessInvalid("brightness is written to a file that ends in .json or .npz")
        data = self._json() if path.suffix == ".json" else self._npz()
        try:
            write_whole(path, data, replace=False)
        except FileExistsError as error:
            raise BrightnessInvalid(f"{path} exists; choose another name") from error
        except OSError as error:
            raise BrightnessInvalid(f"{path} cannot be written: {reason(error)}") from error

    def _json(self) -> bytes:
        return (json.dumps(self.document(), ensure_ascii=False) + "\n").encode("utf-8", "replace")

    def _npz(self) -> bytes:
        tokens = [
            (number, token) for number in range(len(self._chat)) for token in self.tokens(number)
        ]
        rows = [] if self._looked is None else self._looked.rows
        sizes = np.cumsum([0, *(len(row.positions) for row in rows)])
        file = io.BytesIO()
        np.savez(
            file,
            message=np.array([number for number, _ in tokens], np.int32),
            text=np.array([token.text for _, token in tokens], np.str_),
            brightness=np.array([token.brightness for _, token in tokens], np.uint16),
            row_start=sizes.astype(np.int64),
            row_length=np.array([row.length for row in rows], np.int32),
            positions=np.concatenate([np.zeros(0, np.int64), *(row.positions for row in rows)]),
            shares=np.concatenate([np.zeros(0, np.int64), *(row.shares for row in rows)]),
        )
        return file.getvalue()

    def _at(self, message: int) -> Message:
        if not 0 <= message < len(self._chat):
            raise BrightnessInvalid(
                f"there is no message {message + 1}; there are {len(self._chat)}"
            )
        return self._chat[message]
