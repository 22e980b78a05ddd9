"""Values out of texts, and back into them: the rules of docs/redaction.md for one map."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from split_client.redaction.entries import Entries, Entry
from split_client.redaction.errors import RedactionInvalid
from split_client.redaction.finding.looked import Looked
from split_client.redaction.kinds import Found
from split_client.redaction.known_values import KnownValues
from split_client.redaction.passing import Pass, Replaced, first_written
from split_client.redaction.settings import RedactionSettings
from split_client.redaction.spotting import Spotter
from split_client.redaction.surrogates.making import CountTokens, Spoken, spoken_in, surrogate

SECRET_BYTES: Final = 32


class Redactor:
    """``secret``: 32 bytes of this chat; ``count``: tokens of a text. For one thread.

    ``redacted`` raises RedactionExhausted, and has changed nothing then.
    """

    def __init__(
        self,
        settings: RedactionSettings,
        secret: bytes | None = None,
        entries: Iterable[Entry] = (),
        count: CountTokens = lambda _: 0,
    ) -> None:
        self.secret = secrets.token_bytes(SECRET_BYTES) if secret is None else secret
        if len(self.secret) != SECRET_BYTES:
            raise RedactionInvalid(f"a secret has {SECRET_BYTES} bytes")
        self._count = count
        self.entries = Entries()
        self._known = KnownValues()
        self._forms = lru_cache(maxsize=4096)(spoken_in)
        for entry in entries:
            self.entries.add(entry)
            self._known.add(entry)
        self._settings = settings
        self._known.own(settings.names)

    @property
    def settings(self) -> RedactionSettings:
        return self._settings

    @settings.setter
    def settings(self, settings: RedactionSettings) -> None:
        """Entries stay, also those of kinds that are looked for no more."""
        self._settings = settings
        self._known.own(settings.names)

    def redacted(self, text: str, chat: Sequence[str] = ()) -> str:
        """``text`` with surrogates in place of values, which are in the map from then on.

        ``chat``: texts in which no surrogate may occur.
        """
        passing = self._pass(text, chat)
        for entry in passing.new:
            self.entries.add(entry)
            self._known.add(entry)
        return passing.text

    def preview(self, text: str, chat: Sequence[str] = ()) -> tuple[str, list[Replaced]]:
        """What would go out, and what of it are surrogates; the map stays as it is."""
        passing = self._pass(text, chat)
        return passing.text, passing.replaced

    @property
    def surrogates(self) -> Spotter:
        """Looks for the surrogates of the map."""
        return self._known.surrogates

    def _pass(self, text: str, chat: Sequence[str]) -> Pass:
        looked = Looked.at(text, self._settings.regions)
        found = self._known.found(looked, self._settings)
        passing = Pass(looked, self.entries, lambda: self._spoken([*chat, text]))
        passing.replace(found, self._made)
        return passing

    def _made(self, found: Found, looked: Looked, spoken: Spoken) -> Entry:
        made = surrogate(self.secret, found, looked, spoken, self._count)
        return Entry(found.kind, found.key, first_written(found), made, found.rule)

    def _spoken(self, texts: Sequence[str]) -> Spoken:
        forms = [self._forms(text) for text in texts]
        known = self._known
        return Spoken(
            [numbers for numbers, _ in forms],
            [plain for _, plain in forms],
            set(known.of_numbers),
            set(known.of_names),
            set(known.of_texts),
        )
