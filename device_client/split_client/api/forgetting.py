"""What the server keeps of this user, told and deleted."""

from __future__ import annotations

from split_client.api.asked import Messages, messages_of
from split_client.api.redacting import RedactingClient
from split_client.chat.bound import TextBound
from split_client.chat.conversation import Conversation, Message
from split_client.chat.ends import ends_of
from split_client.chat.redacting.redaction import ChatRedaction
from split_client.chat.spelling import Spelling, ends_of_turns
from split_client.generation.sequence import Sequence as TokenSequence
from split_client.model.forgetting import Forgotten
from split_client.tools.families import call_form_of
from split_client.transport.known import KnownServers
from split_client.transport.server_cache import (
    Purged,
    ServerCache,
    fetch_server_cache,
    purge_server_cache,
)


class ForgettingClient(RedactingClient):
    """The part of :class:`SplitClient` that has the server delete what it keeps."""

    def forget(self, messages: Messages) -> Forgotten:
        """Have the server delete what it keeps of a chat with these ``messages``, for example one
        that was saved: the turns of this device, as far as they can be made again from the texts.
        Other chats of this client that begin with the same turns send all of theirs again. Not for
        a chat that was sent with noise: the names of its plain rows would tell of them.

        Raises NotForgotten and what :meth:`chat` raises.
        """
        said = self._given(messages_of(messages))
        return self._forget(self._connected().sequence()[0], said)

    def forget_all(self) -> Purged | None:
        """Have the server delete all that it keeps of this user in memory and on disk; None where
        it does not know how. Open chats send all of theirs again.

        Raises AnswerInvalid and the errors of a connection.
        """
        wanted, model = self._wanted, self._connected()
        self.resume()
        self.forget_drafts()
        model.forget_open()
        salt = model.salt
        return purge_server_cache(wanted.endpoint, wanted.token, salt, wanted.patience.connect)

    def route_anew(self) -> None:
        """Connections from here on have another routing id, which does not link them with earlier
        ones. Behind a balancer they may reach another machine: open chats send all of theirs again,
        and what the machine before keeps is out of reach.
        """
        id = KnownServers().route_anew(self._wanted.endpoint)
        if self._model is not None:
            self._model.channel.reroute(id)

    def server_keeps(self) -> ServerCache | None:
        """What the server says that it keeps of this user; None where it does not say.

        Raises AnswerInvalid and the errors of a connection.
        """
        wanted = self._wanted
        return fetch_server_cache(wanted.endpoint, wanted.token, wanted.patience.connect)

    def forget_drafts(self) -> None:
        """Nothing of earlier replies is remembered for drafts of other chats."""
        self._drafting.forget()

    def _forget(self, sequence: TokenSequence, messages: tuple[Message, ...]) -> Forgotten:
        self.resume()
        self.forget_drafts()
        model = self._connected()
        # Rows with noise are not asked for by name, so nobody needs to know which they were.
        blind = model.noise is not None or self.server_cache == "off"
        empty = self._new_conversation(None)
        ends = [] if blind else ends_of(messages, empty, model.ends.tokenizer)
        return model.forget(sequence, ends)

    def _new_conversation(
        self, system: str | None, redaction: ChatRedaction | None = None
    ) -> Conversation:
        ends = self.ends
        bound = TextBound(ends.manifest.max_context, ends.tokenizer.longest_token)
        template = ends.template()
        spelling = Spelling(call_form_of(template.source), ends_of_turns(ends))
        return Conversation(template, ends.tokenizer, system, bound, spelling, redaction)
