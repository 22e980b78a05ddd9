"""What every audit of a model learns from public texts, learnt once for many audits.

It takes most of the time of a small audit, and is the same whatever is audited: texts, their words
in the model's tokens, and counts of those. Nothing of it changes once it is made.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeVar

import pytest

from split_client.audit import layout
from split_client.audit.attacks.knowledge import PublicModel
from split_client.audit.attacks.ngram import trained
from split_client.audit.attacks.ngram.counting import Snippet
from split_client.audit.attacks.ngram.smoothed import Smoothed
from split_client.audit.texts.sources import Texts

_T = TypeVar("_T")


class LearntOnce:
    """Stands in for what learns, and asks it for what it was not asked for yet."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._texts = layout.public_texts
        self._words, self._messages = trained._words, trained._messages
        self._known: dict[Hashable, Any] = {}
        # Whose identities name what is known: none may go before it is forgotten.
        self._held: list[object] = []
        patch.setattr(layout, "public_texts", self.texts)
        patch.setattr(trained, "_words", self.words)
        patch.setattr(trained, "_messages", self.messages)
        patch.setattr(trained, "Smoothed", self.smoothed)

    def forget(self) -> None:
        """Have everything learnt anew."""
        self._known.clear()
        self._held.clear()

    def texts(self) -> Texts:
        return self._once("texts", self._texts)

    def words(self, model: PublicModel, texts: Texts) -> list[Snippet]:
        self._held.append(texts)
        key = ("words", _digest(model), id(texts.words), id(texts.pairs))
        return self._once(key, lambda: list(self._words(model, texts)))

    def messages(
        self, model: PublicModel, texts: Sequence[str], lead: tuple[int, ...]
    ) -> list[Snippet]:
        key = ("messages", _digest(model), tuple(texts), lead)
        return self._once(key, lambda: self._messages(model, texts, lead))

    def smoothed(self, snippets: Sequence[Snippet], vocabulary: int, longest: int) -> Smoothed:
        self._held.append(snippets)
        ends = (id(snippets[0]), id(snippets[-1]), len(snippets)) if snippets else ()
        key = ("smoothed", ends, vocabulary, longest)
        return self._once(key, lambda: Smoothed(snippets, vocabulary, longest))

    def _once(self, key: Hashable, learn: Callable[[], _T]) -> _T:
        if key not in self._known:
            self._known[key] = learn()
        found: _T = self._known[key]
        return found


def _digest(model: PublicModel) -> str:
    """What every connection to a server of this model finds."""
    return model._ends.manifest.digest
