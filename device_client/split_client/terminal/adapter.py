"""``/adapter``: which adapters there are, and which one the replies of a chat are made with."""

from __future__ import annotations

from dataclasses import dataclass

from split_client.adapters.choice import AdapterInfo
from split_client.adapters.chooser import AUTO, NONE
from split_client.adapters.errors import UnknownAdapter
from split_client.api import ChatSession, SplitClient
from split_client.terminal.output.sanitise import one_line
from split_client.terminal.output.screen import Screen

_IN_THE_CLEAR = "applied by the server in the clear: the server sees the name"
_ENCRYPTED = "evaluated by the adapter host on ciphertexts under this device's key"
_BY_WORDS = "auto, chosen on this device by the words of each message"
_SHOWN_WORDS = 6
_LONGEST = 100


@dataclass(slots=True)
class AdapterView:
    """One chat's adapters and the way to the screen."""

    client: SplitClient
    chat: ChatSession
    screen: Screen

    def command(self, text: str) -> None:
        """``NAME``, ``auto`` or ``none`` sets it for the next replies; nothing shows the list.

        Raises UnknownAdapter, AdapterListInvalid and the errors of a connection.
        """
        if text:
            self._set(text)
        else:
            self._show()

    def note_used(self) -> None:
        """Tell which adapter the last reply was made with, where it was chosen by its words."""
        if self.chat.adapter == AUTO:
            self.screen.note(f"adapter: {self.chat.adapter_used or 'none, no word asked for one'}")

    def _set(self, text: str) -> None:
        wanted = text.lower() if text.lower() in (AUTO, NONE) else text
        names = [adapter.name for adapter in self.client.adapters] if wanted != NONE else []
        if wanted not in (AUTO, NONE, *names):
            raise UnknownAdapter(wanted, names)
        self.chat.adapter = None if wanted == NONE else wanted
        self._show_choice()

    def _show(self) -> None:
        for adapter in self.client.adapters:
            self.screen.note(f"{adapter.name}: {one_line(adapter.description, _LONGEST)}")
            self.screen.note(f"  rank {adapter.rank}, {_words(adapter)}")
        if not self.client.adapters:
            self.screen.note("there are no adapters here")
        self._show_choice()

    def _show_choice(self) -> None:
        wanted = self.chat.adapter
        if wanted is None:
            self.screen.note("adapter: none; replies are those of the model alone")
            return
        chosen = [adapter for adapter in self.client.adapters if wanted in (AUTO, adapter.name)]
        if not chosen:
            self.screen.note(f"adapter: {wanted}; there is none to choose from")
            return
        how = _ENCRYPTED if all(adapter.encrypted for adapter in chosen) else _IN_THE_CLEAR
        self.screen.note(f"adapter: {_BY_WORDS if wanted == AUTO else wanted}; {how}")


def _words(adapter: AdapterInfo) -> str:
    """Some of the words that ``auto`` chooses it by."""
    shown = ", ".join(one_line(word, 30) for word in adapter.keywords[:_SHOWN_WORDS])
    more = len(adapter.keywords) - _SHOWN_WORDS
    return f"chosen by words such as {shown}" if more > 0 else f"chosen by: {shown or 'no words'}"
