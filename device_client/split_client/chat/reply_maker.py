"""From a prompt to a reply: sampler, limits and the decode loop put together."""

from __future__ import annotations

import threading
from collections.abc import Iterator

from split_client.chat.formed import Formed
from split_client.chat.question import question_in
from split_client.chat.reply import Reply
from split_client.chat.steering.begun import Begun
from split_client.chat.steering.tokens import MOST_BYTES, TokenLog
from split_client.errors import Cancelled, PromptEmpty, PromptTooLong
from split_client.generation.constraint import Constraint
from split_client.generation.editing.moving import Question, last_rows
from split_client.generation.errors import InvalidSamplingParameter
from split_client.generation.loop import Event, Finished, Limits, decode
from split_client.generation.sampling.params import SamplingParams
from split_client.generation.sampling.sampler import Sampler
from split_client.generation.sequence import Sequence
from split_client.generation.speculation.drafter import Drafter
from split_client.grammar.form import Form
from split_client.model.ends import DeviceEnds
from split_client.noise.rules import require_blind_sampling
from split_client.transport.base import Traffic
from split_wire.attention import AttentionRequest, AttentionWeights

DEFAULT_MAX_TOKENS = 1024
# Characters of a text that a reply is thought to be; what lies behind them is not looked at.
MOST_EXPECTED = 1 << 20


class ReplyMaker:
    """Makes replies of one model; setting ``cancel`` ends the one that is being made.

    ``noised``: the prompt is sent with noise, so nothing else may tell of it.
    """

    def __init__(
        self, ends: DeviceEnds, traffic: Traffic, cancel: threading.Event, *, noised: bool = False
    ) -> None:
        self.ends = ends
        self._noised = noised
        self._traffic = traffic
        self._cancel = cancel

    def reply(
        self,
        sequence: Sequence,
        prompt: list[int],
        params: SamplingParams | None,
        max_tokens: int,
        stop: tuple[str, ...],
        attention: AttentionRequest | None = None,
        *,
        drafter: Drafter | None = None,
        form: Form | None = None,
        calls: Constraint | None = None,
        question: str = "",
        asked: str = "",
        begun: Begun | None = None,
        states: bool = True,
    ) -> Reply:
        """The reply to ``prompt``, made as it is read; ``params`` None are the model's own.

        ``attention``: which attention the events of its tokens bring. ``drafter``: guesses what
        follows; a prompt with noise goes without. ``form``: what the reply is to be, None any text;
        ``calls``: what holds calls of tools to their grammar in a reply without a form;
        ``question``: the message that the prompt ends with, where it is one; ``begun``: what is
        there of the reply, which goes on from it; ``asked``: what the question asks of documents
        that come before it in the message; ``states``: whether those that tokens are chosen from
        are kept for their alternatives.

        A cancel that came since :meth:`resume` ends it.

        Raises PromptEmpty, PromptTooLong, InvalidSamplingParameter, NoiseForbids, GrammarInvalid,
        BranchInvalid where the form does not permit what is begun at once, and while it is read the
        errors of the decode loop.
        """
        manifest = self.ends.manifest
        if not prompt:
            raise PromptEmpty
        start = [] if begun is None else begun.ids
        length = len(prompt) + len(start)
        if length > manifest.max_context:
            raise PromptTooLong(length, manifest.max_context)
        params = self.ends.defaults if params is None else params
        if self._noised:
            require_blind_sampling(params)
        constraint = None if form is None else self.ends.forms.constraint(form)()
        sampler = Sampler(self.ends.head, params)
        held = calls if constraint is None else constraint
        if begun is not None and held is not None:
            begun.tell(held, manifest.eos_token_ids)
        sequence.edits.question = self._question(question)
        sequence.documents.question = self._question(asked or question)
        limits = Limits(manifest.eos_token_ids, max_tokens, stop)
        events = decode(
            sequence,
            sampler,
            self.ends.tokenizer,
            prompt,
            limits,
            begun=start,
            attention=attention,
            drafter=None if self._noised else drafter,
            constraint=held,
            cancelled=self._cancel.is_set,
        )
        reply = Reply(_until_cancelled(events), length, self._traffic)
        reply.log = TokenLog(
            self.ends.head,
            self.ends.tokenizer,
            prompt,
            () if begun is None else begun.kept,
            MOST_BYTES if states else 0,
        )
        if form is not None and constraint is not None:
            reply.formed = Formed(form, lambda: constraint.whole)
        return reply

    def resume(self) -> None:
        """Take back a cancel of what was made before; whoever begins a reply says so before he
        makes its prompt, which takes long enough for somebody to change his mind.
        """
        self._cancel.clear()

    def expected(self, text: str | None) -> list[int] | None:
        """Ids of a text that a reply is thought to be; None of one that is not known.

        Raises InvalidSamplingParameter for what is no text.
        """
        if not isinstance(text, str | None):
            raise InvalidSamplingParameter("expected", type(text).__name__, "a text, or None")
        if not text:
            return None
        head, tokenizer = self.ends.head, self.ends.tokenizer
        # A tokenizer may know more ids than there are rows.
        ids = [i for i in tokenizer.encode(text[:MOST_EXPECTED]) if i < head.rows.rows]
        return ids[: self.ends.manifest.max_context]

    def _question(self, text: str) -> Question:
        return question_in(self.ends.tokenizer.decode, text) if text.strip() else last_rows

    def attention(
        self, sequence: Sequence, ids: list[int], request: AttentionRequest
    ) -> AttentionWeights:
        """The attention of the last of ``ids``: one step, of one row when they are cached.

        Of more ids than the model has room for the first are taken. Raises the backend's errors.
        """
        self._cancel.clear()
        extended = sequence.cache(ids[: sequence.max_context], request)
        if extended.attention is None:
            raise RuntimeError("the backend left out the attention that it was asked for")
        return extended.attention


def _until_cancelled(events: Iterator[Event]) -> Iterator[Event]:
    """A cancelled wait for the server ends a reply like a cancelled token does."""
    try:
        yield from events
    except Cancelled:
        yield Finished("cancelled", "")
