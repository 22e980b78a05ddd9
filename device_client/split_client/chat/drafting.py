"""What the drafts of chats are made of, and how long that is remembered."""

from __future__ import annotations

from collections.abc import Sequence

from split_client.generation.speculation.costs import StepCosts
from split_client.generation.speculation.drafter import Drafter
from split_client.generation.speculation.length import AdaptiveLength, DraftLength, FixedLength
from split_client.generation.speculation.memo import Memo
from split_client.generation.speculation.suffix import Suffix
from split_client.generation.speculation.wanted import DraftMemory, Drafts


class ChatDrafts:
    """The drafts of one chat; none while ``drafts`` is "off".

    ``shared``: earlier replies of all chats with the server; None: the chat remembers its own,
    those included that were taken back. ``costs``: what steps take, whichever chat's they are.
    """

    def __init__(self, drafts: Drafts, shared: Memo | None, costs: StepCosts) -> None:
        self._drafts = drafts
        self._shared, self._costs = shared, costs
        self._memo: Memo | None = None
        self._drafter: Drafter | None = None

    @property
    def drafts(self) -> Drafts:
        """How many are wanted; another number changes nothing of what is remembered."""
        return self._drafts

    @drafts.setter
    def drafts(self, drafts: Drafts) -> None:
        if drafts != self._drafts:
            self._drafts, self._drafter = drafts, None

    def drafter(self, expected: Sequence[int] | None = None) -> Drafter | None:
        """That of the next reply, which is thought to be ``expected``; None: no drafts."""
        if self._drafts == "off":
            return None
        if self._drafter is None:
            memo = self._own() if self._shared is None else self._shared
            self._drafter = Drafter([Suffix(), memo], self._length(), memo)
        self._drafter.expect(expected)
        return self._drafter

    def alone(self) -> None:
        """From now on guesses are made of this chat alone."""
        if self._shared is not None:
            self._shared = None
            self.forget()

    def forget(self) -> None:
        """Nothing of the chat is remembered, but for what all chats share."""
        self._drafter = self._memo = None

    def _own(self) -> Memo:
        if self._memo is None:
            self._memo = Memo()
        return self._memo

    def _length(self) -> DraftLength:
        if isinstance(self._drafts, int):
            return FixedLength(self._drafts)
        length = AdaptiveLength()
        length.costs = self._costs
        return length


class Drafting:
    """Of one client: ``drafts`` of its chats, and with the ``memory`` "server" what they share."""

    def __init__(self, drafts: Drafts, memory: DraftMemory) -> None:
        self.drafts = drafts
        self.memory = memory
        self._costs = StepCosts()
        self._shared = Memo()

    def chat(self) -> ChatDrafts:
        """Those of a new chat."""
        shared = self._shared if self.memory == "server" else None
        return ChatDrafts(self.drafts, shared, self._costs)

    def anew(self) -> Drafting:
        """The same settings, and no memory: for another connection."""
        return Drafting(self.drafts, self.memory)

    def forget(self) -> None:
        """Nothing that chats share is remembered."""
        self._shared.forget()


NO_DRAFTS = Drafting("off", "chat")
