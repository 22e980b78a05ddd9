"""What the replies of a chat are asked to be."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from split_client.chat.brightness.errors import BrightnessInvalid
from split_client.chat.brightness.rows import Mode, mode_of
from split_client.chat.calling import CallMaker
from split_client.chat.conversation import Conversation
from split_client.chat.drafting import ChatDrafts
from split_client.chat.redacting.redaction import ChatRedaction
from split_client.chat.reply_maker import DEFAULT_MAX_TOKENS, ReplyMaker
from split_client.generation.sampling.params import SamplingParams
from split_client.generation.sequence import Sequence
from split_client.generation.speculation.wanted import Drafts, drafts_of
from split_client.generation.stops import stop_texts
from split_client.grammar.form import Form, form_of
from split_client.noise.conversation import NoisedConversation
from split_client.noise.rules import require_no_drafts
from split_client.redaction.errors import RedactionInvalid
from split_client.redaction.settings import RedactionSettings
from split_client.tools.tool import Tool
from split_wire.attention import AttentionRequest


class ChatSettings:
    """The part of :class:`ChatSession` that may be changed at any time.

    ``params`` (None: the model's own), ``max_tokens``, ``stop`` and ``attention`` (which attention
    the events of a reply's tokens bring; None: none), ``adapter``: a name, "auto" (chosen for each
    reply by the user's newest message) or None, and ``expected``: a text that the next reply is
    thought to be, but for differences, or None. ``alternatives``: whether what the tokens of
    replies were chosen from is kept, on this device, so that they know what could have come.
    """

    def __init__(
        self,
        maker: ReplyMaker,
        conversation: Conversation,
        sequence: Sequence,
        noise: NoisedConversation | None,
        drafts: ChatDrafts,
        calls: CallMaker | None,
    ) -> None:
        self._maker = maker
        self._sequence = sequence
        self._drafts = drafts
        self.conversation = conversation
        self.noise = noise
        self.calls = calls
        self.params: SamplingParams | None = None
        self.max_tokens = DEFAULT_MAX_TOKENS
        self._stop: tuple[str, ...] = ()
        self._form: Form | None = None
        self.attention: AttentionRequest | None = None
        self.expected: str | None = None
        self.adapter: str | None = None
        self.alternatives = True
        self._brighten: Mode | None = None

    @property
    def redaction(self) -> ChatRedaction:
        """What goes out with surrogates in place of values; off unless it is switched on."""
        return self.conversation.redaction

    def redact(self, settings: RedactionSettings | bool | None = True) -> None:
        """From the next message on the model is given surrogates (docs/redaction.md); False or
        None: what there is. What was sent before has been sent.

        Raises RedactionInvalid where brightness is gathered, which is of texts as they are.
        """
        if settings is True:
            settings = self.redaction.settings or RedactionSettings()
        if settings and self._brighten is not None:
            raise RedactionInvalid("brightness is gathered; switch that off first")
        self.redaction.switch(settings or None)
        if settings:
            # What other chats said is known to the server, but not from this one.
            self._drafts.alone()

    @property
    def brighten(self) -> Mode | None:
        """Which attention the brightness of the chat is gathered from while replies are made:
        "mean", "maximum", "weighted" or "last"; None: it stays as it is. Every token has a step of
        its own then, without drafts. Setting it raises BrightnessInvalid.
        """
        return self._brighten

    @brighten.setter
    def brighten(self, mode: str | None) -> None:
        if mode is not None and self.redaction.on:
            raise BrightnessInvalid(
                "cannot be gathered with redaction, where other texts travel; /redact off first"
            )
        self._brighten = None if mode is None else mode_of(mode)

    @property
    def stop(self) -> tuple[str, ...]:
        """The texts before which a reply ends; a text that is set alone is one of them."""
        return self._stop

    @stop.setter
    def stop(self, stop: str | Iterable[str]) -> None:
        self._stop = stop_texts(stop)

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools that replies may call; functions that are set become tools.

        Raises ToolsInvalid.
        """
        return () if self.calls is None else self.calls.tools

    @tools.setter
    def tools(self, tools: Iterable[Tool | Callable[..., object]]) -> None:
        if self.calls is None:
            raise RuntimeError("this chat has no model that could call tools")
        self.calls.tools = tuple(tools)
        self.conversation.tools = self.calls.documents()

    @property
    def tool_choice(self) -> str:
        """``auto``, ``required``, ``none``, or the name of the tool that the reply is to call.

        Raises ToolChoiceInvalid.
        """
        return "auto" if self.calls is None else self.calls.choice

    @tool_choice.setter
    def tool_choice(self, choice: str) -> None:
        if self.calls is not None:
            self.calls.choice = choice

    @property
    def drafts(self) -> Drafts:
        """How many tokens each step guesses: "auto" (as many as pay), "off" or a number.

        Setting it raises InvalidSamplingParameter, and NoiseForbids for a number with noise.
        """
        return self._drafts.drafts

    @drafts.setter
    def drafts(self, drafts: Drafts) -> None:
        wanted = drafts_of(drafts)
        if self.noise is not None and wanted != "off":
            require_no_drafts("drafts")
        self._drafts.drafts = wanted

    def forget_drafts(self) -> None:
        """Nothing of this chat is remembered for drafts, but for what all chats share."""
        self._drafts.forget()

    @property
    def most_drafts(self) -> int:
        """As many as a step of this server may guess; opens the session."""
        return self._sequence.interactive_rows - 1

    @property
    def form(self) -> Form | None:
        """What replies are to be; None: any text. A dict, or a class with ``model_json_schema``,
        that is set is a JSON schema. Setting it raises GrammarInvalid.
        """
        return self._form

    @form.setter
    def form(self, form: Any) -> None:
        self._form = form_of(form)

    def take_form(self, form: Any) -> None:
        """Set ``form`` once it is compiled, so that one that cannot be used is refused before a
        message is written. Takes about a second for each form. Raises GrammarInvalid and its kinds.
        """
        wanted = form_of(form)
        if wanted is not None:
            self._maker.ends.forms.constraint(self.redaction.form(wanted) or wanted)
        self._form = wanted
