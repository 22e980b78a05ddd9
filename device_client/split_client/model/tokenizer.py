"""Text to token ids and back, with the model's own tokenizer file."""

from __future__ import annotations

from pathlib import Path

from split_client.errors import TokenizerInvalid
from split_client.tokenizer.bounded import is_bounded
from split_client.tokenizer.confined import ConfinedEngine
from split_client.tokenizer.cuts import Cuts, cuts_of
from split_client.tokenizer.document import read_document
from split_client.tokenizer.engine import Engine, LibraryEngine
from split_client.tokenizer.plain import Plain, without_marks


class ModelTokenizer:
    """``rows``: how many ids have an embedding; a file that makes others is refused. ``cuts``:
    where long texts may be cut, None where that is not known.

    Control tokens written out in a text become control tokens, as they do in Hugging Face's
    default.
    """

    def __init__(self, engine: Engine, rows: int, cuts: Cuts | None = None) -> None:
        self._engine = engine
        self.cuts = cuts
        if engine.size > rows:
            engine.close()
            raise TokenizerInvalid(f"it has more tokens than the model's {rows} embeddings")
        self._control = engine.control
        self._plain = Plain(engine.added, self._has_control)

    @classmethod
    def open(cls, path: Path, rows: int, *, trusted: bool = False) -> ModelTokenizer:
        """Read a ``tokenizer.json``. Raises TokenizerInvalid.

        What is not known to be bounded runs in a process with limits, unless whoever chose the
        model is ``trusted``.
        """
        document = read_document(path)
        cuts = None if document is None else cuts_of(document)
        if trusted or (document is not None and is_bounded(document)):
            return cls(LibraryEngine.open(path), rows, cuts)
        confined = ConfinedEngine(path)
        confined.open()
        return cls(confined, rows, cuts)

    def to_json(self) -> str:
        """The text of its file, without truncation and padding. Raises TextTooCostly."""
        return self._engine.to_json()

    def longest_token(self) -> int | None:
        """Bytes of text that one id stands for at most; None where that is not known."""
        return None if self.cuts is None else self.cuts.longest

    def encode(self, text: str, *, add_special_tokens: bool = False) -> list[int]:
        """Ids of ``text``; ``add_special_tokens`` adds what a plain prompt begins with.

        Raises TextTooCostly.
        """
        return self._engine.encode(without_surrogates(text), add_special_tokens)

    def decode(self, ids: list[int], skip_special_tokens: bool = True) -> str:
        """The text of ``ids``; ids without a token (padding rows of the model) have none.

        Raises TextTooCostly.
        """
        return self._engine.decode(ids, skip_special_tokens)

    def encode_after(self, ids: list[int], text: str) -> list[int] | None:
        """Ids of ``text`` as it continues ``ids``, None where only the whole text can tell.

        The two sides of a control token never merge. Elsewhere they may, and some tokenizers begin
        a text with a space of their own. Raises TextTooCostly.
        """
        before = self._control.get(ids[-1]) if ids else None
        if before is not None:
            joined = self.encode(before + text)
            return joined[1:] if joined[:1] == ids[-1:] else None
        rest = self.encode(text)
        after = self._control.get(rest[0]) if rest else None
        return rest if after is not None and text.startswith(after) else None

    @property
    def control(self) -> dict[int, str]:
        """Texts of control tokens by id."""
        return self._control

    def plain(self, text: str) -> str:
        """``text`` of a stranger with marks in it, so that :meth:`encode_marked` makes no control
        token of it. Raises TextTooCostly.
        """
        return self._plain.marked(without_surrogates(text))

    def encode_marked(self, ids: list[int], text: str) -> list[int] | None:
        """Ids of ``text`` as it continues ``ids``, where what stands between the marks of
        :meth:`plain` is encoded by itself; None where only the whole text can tell.

        Raises TextTooCostly.
        """
        first, *rest = without_marks(text)
        made = self.encode_after(ids, first) if ids else self.encode(first)
        # Behind a control token a text is not taken for the beginning of one.
        before = next(iter(self._control), None)
        for part in rest if made is not None else ():
            after = None if before is None else self.encode_after([before], part)
            made = [*(made or []), *(self.encode(part) if after is None else after)]
        return made

    def _has_control(self, text: str) -> bool:
        return not self._control.keys().isdisjoint(self.encode(text))

    def close(self) -> None:
        """End its process, if it has one."""
        self._engine.close()


def without_surrogates(text: str) -> str:
    """``text`` with ``?`` for lone surrogates (from a file name or a broken pipe), which are no
    text and have no UTF-8.
    """
    return text.encode("utf-8", "replace").decode("utf-8")
