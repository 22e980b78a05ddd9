"""What was shown of a reply since its last white space."""

from __future__ import annotations

from typing import Final

from split_client.redaction.undoing.addresses import begins, run_at_end

# More than the characters that decide whether a surrogate is a word or a number of its own, and
# than an address needs to begin.
_SEEN: Final = 64
_MOST: Final = 2048


class Shown:
    """``end``: its last characters. Of a run without end a part is kept."""

    def __init__(self) -> None:
        self._run = self.end = ""
        self._begun = False
        self._read = 0

    def add(self, text: str) -> None:
        """That was shown as well."""
        run = run_at_end(text)
        if len(run) == len(text):
            run = self._run + run
        else:
            self._begun, self._read = False, 0
        if len(run) > _MOST:
            # One more, as what an address begins with is no part of a word.
            self._begun, self._read = self._begun or begins(run, self._read), 1
            run = run[-_SEEN - 1 :]
        self._run, self.end = run, run[-_SEEN:]

    def leads_on(self, text: str) -> bool:
        """Whether what comes behind ``text``, which is shown next, stands in an address."""
        run = run_at_end(text)
        if len(run) == len(text):
            return self._begun or begins(self._run + run, self._read)
        return begins(run)
