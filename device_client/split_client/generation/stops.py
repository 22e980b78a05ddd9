"""Stop strings over streamed text."""

from __future__ import annotations

from collections.abc import Iterable

from split_client.generation.errors import InvalidSamplingParameter


def stop_texts(stop: str | Iterable[str]) -> tuple[str, ...]:
    """The stop strings of a caller: a text is one of them, never its letters.

    Raises InvalidSamplingParameter.
    """
    texts = (stop,) if isinstance(stop, str) else tuple(stop)
    for text in texts:
        if not isinstance(text, str):
            raise InvalidSamplingParameter("stop", text, "a text, or a list of texts")
    return texts


class StopFilter:
    """Lets text through up to the first stop string; a tail that may begin one is held back."""

    def __init__(self, stops: Iterable[str]) -> None:
        self._stops = tuple(stop for stop in stops if stop)
        self._held = ""
        # The stop text that was found.
        self.matched = ""

    @property
    def stopped(self) -> bool:
        """Whether a stop text was found."""
        return bool(self.matched)

    def push(self, text: str) -> str:
        """The part of the text so far that is safe to show. After a stop everything is dropped."""
        if self.stopped:
            return ""
        self._held += text
        found = [(at, stop) for stop in self._stops if (at := self._held.find(stop)) >= 0]
        if found:
            at, self.matched = min(found)
            return self._release(at)
        return self._release(len(self._held) - self._possible_start())

    def flush(self) -> str:
        """The text that was held back, once no more follows."""
        return "" if self.stopped else self._release(len(self._held))

    def _release(self, length: int) -> str:
        text, self._held = self._held[:length], self._held[length:]
        return text

    def _possible_start(self) -> int:
        """Length of the longest tail that is a proper prefix of a stop string."""
        longest = max((len(stop) for stop in self._stops), default=1) - 1
        for length in range(min(longest, len(self._held)), 0, -1):
            if any(stop.startswith(self._held[-length:]) for stop in self._stops):
                return length
        return 0
