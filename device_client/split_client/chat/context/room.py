"""The context of one chat: its budget, what is dropped of it, and how room is made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from split_client.chat.context.errors import ContextFull, ContextInvalid, ContextTooSmall
from split_client.chat.context.fill import Fill, TokenCounter, about
from split_client.chat.context.pruning import (
    POLICIES,
    Chat,
    Place,
    Policy,
    Pruned,
    candidates,
    pruned,
    target_of,
    without,
)
from split_client.chat.context.travelling import travelling
from split_client.chat.context.units import units_of
from split_client.chat.message import Message
from split_client.errors import ChatTextTooLong, PromptTooLong

# Room for a reply that is made before it is asked for.
_MOST_RESERVED = 8
# A token has at least so many characters in the mean of any text that anybody writes.
_CHARACTERS = 2


class Conversation(Protocol):
    """The messages, and what they become."""

    @property
    def messages(self) -> Chat: ...
    def count(self, messages: Sequence[Message]) -> int: ...
    def ids_of(self, messages: Sequence[Message]) -> list[int]: ...
    def go_to(self, messages: Sequence[Message]) -> None: ...


@dataclass(frozen=True, slots=True)
class Proposal:
    """What would be dropped, and of the prompt then ``sent`` tokens travel again, of which
    ``moved`` about are kept at other places (approximate reuse), and with noise are charged anew.
    """

    pruned: Pruned
    sent: int
    moved: int = 0


class ChatContext:
    """``policy``: what happens when the context is full. ``ask``: ``ask`` is called with what
    ``oldest`` would drop and decides; without it, or where it declines, the prompt is refused.
    ``oldest``: the oldest units go. ``dimmest``: those that ``dimmest`` puts first, which is given
    the chat and what may go, the oldest first. ``pinned``: everything that is not pinned.

    ``told`` is called with what was dropped. ``limit``: positions of the model; ``reuse``: of which
    ids how many are held, and how many others would be moved.
    """

    def __init__(
        self,
        conversation: Conversation,
        counter: TokenCounter,
        limit: Callable[[], int],
        reuse: Callable[[list[int]], tuple[int, int]],
        dimmest: Callable[[Chat, list[Place]], list[Place]] = lambda _, places: places,
    ) -> None:
        self._conversation, self._counter = conversation, counter
        self._limit, self._reuse, self._dimmest = limit, reuse, dimmest
        self._policy: Policy = "ask"
        self._budget: int | None = None
        self.ask: Callable[[Proposal], bool] | None = None
        self.told: Callable[[Proposal], None] = lambda _: None
        self._declined = False

    @property
    def policy(self) -> Policy:
        return self._policy

    @policy.setter
    def policy(self, policy: str) -> None:
        """Raises ContextInvalid."""
        found = next((each for each in POLICIES if each == policy), None)
        if found is None:
            raise ContextInvalid(f"a policy is one of {', '.join(POLICIES)}, not {policy[:40]!r}")
        self._policy, self._declined = found, False

    @property
    def budget(self) -> int:
        """Tokens; the model's where none is set."""
        most = self._limit()
        return most if self._budget is None else min(self._budget, most)

    def set_budget(self, tokens: int | None) -> None:
        """Have it so many tokens, None: as many as the model has. Raises ContextInvalid."""
        if tokens is not None and (isinstance(tokens, bool) or not 64 <= tokens <= 1 << 31):
            raise ContextInvalid(f"a budget has at least 64 tokens, not {tokens}")
        self._budget, self._declined = tokens, False

    def be_like(self, other: ChatContext) -> None:
        """Have the policy of another chat, and its budget where one is set."""
        self._policy, self._budget, self._declined = other._policy, other._budget, False

    def fill(self) -> Fill:
        """How full it is now. Raises what rendering the chat raises."""
        chat, tokens = self._conversation.messages, self._tokens()
        if tokens is None:
            counts = about(chat)
            return Fill(counts, sum(counts), self.budget, exact=False)
        return Fill(self._counter.each(chat), tokens, self.budget)

    def tokens(self, text: str) -> int:
        """Tokens of a text, the one that is being written for example."""
        return self._counter.of(text) if text else 0

    def again(self) -> tuple[int, int]:
        """Of the chat as it is now: how many tokens the next message sends again, and how many
        others are moved. Raises as :meth:`Conversation.ids_of`.
        """
        ids = self._conversation.ids_of(self._conversation.messages)
        held, moved = self._reuse(ids)
        return max(0, len(ids) - held - moved), moved

    def drop(self, message: int, unit: int | None = None) -> None:
        """Leave a message out, or one unit of it (both from 0), immune or not.

        Raises ContextInvalid.
        """
        chat = self._conversation.messages
        units = units_of(self._at(chat, message))
        if unit is not None and not 0 <= unit < len(units):
            raise ContextInvalid(f"message {message + 1} has {len(units)} parts, and no {unit + 1}")
        gone = units if unit is None else units[unit : unit + 1]
        self._be(without(chat, ((message, each) for each in gone)))

    def restore(self, message: int | None = None) -> int:
        """Give the model a message, or the whole chat, as it was; how many messages that changes.

        Raises ContextInvalid.
        """
        chat = self._conversation.messages
        if message is not None:
            self._at(chat, message)
        wanted = range(len(chat)) if message is None else (message,)
        found = [index for index in wanted if chat[index].dropped]
        if found:
            self._be(
                tuple(
                    replace(each, dropped=()) if index in found else each
                    for index, each in enumerate(chat)
                )
            )
        return len(found)

    def pin(self, message: int, pinned: bool = True) -> None:
        """Have no policy drop any of a message. Raises ContextInvalid."""
        chat = list(self._conversation.messages)
        chat[message] = replace(self._at(tuple(chat), message), pinned=pinned)
        self._be(tuple(chat))

    def propose(self, policy: Policy | None = None, target: int | None = None) -> Proposal | None:
        """What ``policy`` (None: that of the chat) would drop now, to about three quarters of the
        budget; None where nothing may go. Nothing is changed.
        """
        chat = self._conversation.messages
        wanted = self._policy if policy is None else policy
        target = target_of(self.budget) if target is None else target
        chat, tokens, before = self._countable(chat, target, wanted)
        # All unpinned go at once; others as many as are too many.
        least = 0 if wanted == "pinned" else target
        order = self._order(chat, wanted)
        found = pruned(chat, order, self._conversation.count, self._counter.of, least, tokens)
        found = replace(found, before=before)
        if found.chat == self._conversation.messages:
            return None
        ids = self._conversation.ids_of(found.chat)
        held, moved = self._reuse(ids)
        return Proposal(found, len(ids) - held - moved, moved)

    def take(self, proposal: Proposal) -> None:
        """Drop what was proposed."""
        self._be(proposal.pruned.chat)
        self.told(proposal)

    def make_room(self, reply: int) -> None:
        """Before a reply of at most so many tokens: drop what the policy wants where the prompt
        leaves too little room for it.

        Raises ContextFull, ContextTooSmall, and what rendering the chat raises.
        """
        if self._policy == "ask" and self.ask is None and self._budget is None:
            return
        budget, tokens = self.budget, self._tokens()
        room = max(1, min(reply, budget // _MOST_RESERVED))
        if tokens is not None and tokens + room <= budget:
            self._declined = False
            return
        over = tokens is None or tokens > budget
        if self._policy == "ask":
            if self.ask is None or (self._declined and not over):
                self._refuse(tokens, budget)
                return
            proposal = self.propose("oldest")
            if proposal is None or not self.ask(proposal):
                self._declined = True
                self._refuse(tokens, budget)
                return
        else:
            proposal = self.propose()
        if proposal is not None:
            self.take(proposal)
            tokens = proposal.pruned.tokens
        if tokens is None or tokens > budget:
            raise ContextTooSmall(budget if tokens is None else tokens, budget)

    def _refuse(self, tokens: int | None, budget: int) -> None:
        """Beyond the model's own positions the reply is refused by itself."""
        if tokens is not None and tokens > budget and budget < self._limit():
            raise ContextFull(tokens, budget)

    def _tokens(self) -> int | None:
        """Of the prompt; None where nothing could hold it."""
        try:
            return self._conversation.count(self._conversation.messages)
        except (PromptTooLong, ChatTextTooLong):
            return None

    def _order(self, chat: Chat, policy: Policy) -> list[Place]:
        """What may go, that which goes first at first."""
        places = candidates(chat)
        return self._dimmest(chat, places) if policy == "dimmest" else places

    def _countable(self, chat: Chat, target: int, policy: Policy) -> tuple[Chat, int, int]:
        """``chat`` without the first units that ``policy`` drops where it is too long for a
        template, its tokens now and before.
        """
        tokens = self._tokens()
        if tokens is not None:
            return chat, tokens, tokens
        before = sum(about(chat))
        room = target * _CHARACTERS
        length = sum(message.size for message in travelling(chat))
        gone = list[Place]()
        for place in self._order(chat, policy):
            if length <= room:
                break
            gone.append(place)
            length -= place[1].stop - place[1].start
        chat = without(chat, gone)
        try:
            return chat, self._conversation.count(chat), before
        except (PromptTooLong, ChatTextTooLong) as error:
            raise ContextTooSmall(before, self.budget) from error

    def _be(self, chat: Chat) -> None:
        if chat != self._conversation.messages:
            self._conversation.go_to(chat)

    @staticmethod
    def _at(chat: Chat, message: int) -> Message:
        if not 0 <= message < len(chat):
            raise ContextInvalid(f"there is no message {message + 1}; there are {len(chat)}")
        return chat[message]
