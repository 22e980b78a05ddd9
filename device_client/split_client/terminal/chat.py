"""``split-client chat``."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, suppress
from datetime import datetime
from functools import partial

from split_client.api import ChatSession, SplitClient
from split_client.chat.reply import Reply
from split_client.config.chat import ChatConfig
from split_client.errors import ChatTextTooLong, ClientError, PromptTooLong, ServerRefused
from split_client.generation.loop import TokenEvent
from split_client.generation.speculation.wanted import Drafts
from split_client.presets.folder import PresetFolder
from split_client.saved_chats.document import SavedConversation, load_conversation
from split_client.saved_chats.folder import ChatFolder
from split_client.saved_chats.names import is_path
from split_client.terminal.adapter import AdapterView
from split_client.terminal.arguments import ChatRequest
from split_client.terminal.attention import AttentionView
from split_client.terminal.commands.chats import show_said
from split_client.terminal.commands.line import CommandLine, Folders
from split_client.terminal.form import note_cut
from split_client.terminal.input.block import block
from split_client.terminal.input.history import HistoryFile
from split_client.terminal.input.interrupt import stops_reply
from split_client.terminal.input.reader import PromptReader, Reader, reader_for
from split_client.terminal.input.unseen import keys_unseen
from split_client.terminal.output.redaction import redaction_line
from split_client.terminal.output.sanitise import one_line
from split_client.terminal.output.screen import Screen
from split_client.terminal.output.words import fewer_drafts_line, status_line
from split_client.terminal.paths import expanded
from split_client.terminal.sampling import expected_from, sampling_from
from split_client.terminal.switching.carry import carry, samplings
from split_client.terminal.switching.chosen import model_words
from split_client.terminal.switching.way import Way
from split_client.terminal.tools.chat_tools import ChatTools, bound_tools
from split_client.terminal.tools.confirming import Confirmation
from split_client.terminal.tools.either import require_one
from split_client.terminal.verified import verified_line
from split_client.transport.reach.causes import TOKEN_REVOKED
from split_wire.errors import SplitError, Unauthorized

_TOO_LONG = (PromptTooLong, ChatTextTooLong)


def run_chat(config: ChatConfig, request: ChatRequest, screen: Screen) -> None:
    """Chat until the end of input.

    Raises PresetError, SavedChatError and what connecting raises.
    """
    screen.markdown = config.markdown
    screen.use_theme(config.theme)
    folders = Folders(ChatFolder(config.chats), PresetFolder(config.presets))
    system = folders.presets.text(config.system) if config.system else None
    saved = _wanted(request, folders.chats)
    expected = expected_from(config)
    require_one(request.form, request.tools)
    way = Way(config, screen, chosen=request.model_named)
    with bound_tools(request.tools, screen) as (tools, runs), ExitStack() as opened:
        client = way.open(_read(saved, folders.chats))
        opened.callback(client.close)
        opened.callback(way.close)
        chat = client.conversation(system)
        chat.params = sampling_from(config, client.default_params)
        chat.max_tokens, chat.stop, chat.form = config.max_tokens, config.stop, request.form
        chat.expected = expected
        chat.context.policy = config.context
        chat.context.set_budget(config.context_budget)
        if screen.interactive:
            url = client.endpoint.url
            screen.note(f"{one_line(client.manifest.name)} at {url} · /help for commands")
            if chat.redaction.on:
                screen.note(redaction_line(chat.redaction))
        reader = reader_for(screen, HistoryFile() if config.history else None)
        loop = ChatLoop(client, chat, reader, screen, folders, way)
        loop.autosave = config.autosave
        if tools:
            chat.tools = tools
            loop.use_tools(runs, request.tools.choice)
        if saved is not None:
            loop.load(saved)
        if way.next is None:
            loop.run(request.message)
        first = None if way.next is None else request.message
        while (following := way.take()) is not None:
            opened.callback(following.close)
            loop = loop.at(following)
            loop.run(first)
            first = None


def _wanted(request: ChatRequest, chats: ChatFolder) -> str | None:
    """The saved chat that goes on, None for a new one; looked for before anything connects.

    Raises NoChats, ChatUnknown, ChatsFolderFailed.
    """
    if request.newest:
        return chats.newest().name
    if request.load is not None and not is_path(request.load):
        return chats.find(request.load).name
    return request.load


def _read(name: str | None, chats: ChatFolder) -> SavedConversation | None:
    """The saved chat that goes on. Raises ConversationFileInvalid, ChatUnknown."""
    if name is None:
        return None
    return load_conversation(expanded(name)) if is_path(name) else chats.load(name)[1]


class ChatLoop:
    """Reads, answers, and survives every error of a single turn.

    ``autosave``: keep the chat after every reply. ``completion``: what the Tab key offers.
    ``tools``: what runs the tools that replies call.
    """

    def __init__(
        self,
        client: SplitClient,
        chat: ChatSession,
        reader: Reader,
        screen: Screen,
        folders: Folders | None = None,
        way: Way | None = None,
    ) -> None:
        self._client, self._chat, self._reader, self._screen = client, chat, reader, screen
        self._folders, self._way = folders or Folders(), way
        self._attention = AttentionView(client, chat, screen)
        self._adapter = AdapterView(client, chat, screen)
        self._commands = CommandLine(
            client, chat, screen, self._attention, self._adapter, self._folders, way
        )
        self.completion = self._commands.completion
        self.meter = self._commands.meter.told
        if isinstance(reader, PromptReader):
            reader.offer, reader.meter = self.completion.offer, self.meter
        self.autosave = False
        self.tools: ChatTools | None = None
        self._tools_run: tuple[dict[str, str], str] = ({}, "auto")
        self._leaving = False
        self._drafts_told: Drafts = "auto"

    def use_tools(self, runs: dict[str, str], choice: str) -> None:
        """Run the chat's tools where a person lets them; ``runs``: what does so, in words."""
        chat, self._tools_run = self._chat, (runs, choice)
        chat.tool_choice = choice
        asking = Confirmation(self._screen, runs, redacts=lambda: chat.redaction.on)
        chat.conversation.on_anew.append(asking.forget)
        self.tools = ChatTools(chat, self._screen, asking, choice)

    def at(self, client: SplitClient) -> ChatLoop:
        """This chat, going on with another model; the client so far is closed."""
        chat, commands = client.conversation(), self._commands
        config = None if self._way is None else self._way.config
        loop = ChatLoop(client, chat, self._reader, self._screen, self._folders, self._way)
        chat.tools = self._chat.tools
        if self.tools is not None:
            loop.use_tools(*self._tools_run)
        for line in carry(self._chat, chat, *samplings(config, self._client, client)):
            self._screen.note(line)
        commands.hand_over(loop._commands, noised=self._chat.noise is not None)
        loop.autosave, loop._attention.on = self.autosave, self._attention.on
        loop._drafts_told = self._drafts_told
        self._client.close()
        self._screen.note(
            f"the chat goes on with {model_words(client)} at {client.endpoint.url}; its next "
            "message sends all of it"
        )
        return loop

    def load(self, name: str) -> None:
        """Go on with a saved chat, system message included. Raises SavedChatError."""
        before = self._chat.conversation.system
        self._commands.chats.load(name)
        if before is not None and before != self._chat.conversation.system:
            self._screen.note("the saved chat's own system message counts; /system changes it")

    def run(self, first: str | None = None) -> None:
        """Until /quit, the end of input, or Ctrl-C twice; ``first`` is said before anything."""
        if first is not None:
            if self._screen.interactive:
                show_said(first, self._screen)
            self._try(lambda: self._say(first))
        while (message := self._read()) is not None:
            if not self._try(partial(self._turn, message)):
                return

    def _try(self, turn: Callable[[], bool]) -> bool:
        """Whether the chat goes on, which it does after errors."""
        try:
            with keys_unseen():
                return turn()
        except (ClientError, SplitError) as error:
            self._screen.error(_said(error), error.code)
        except KeyboardInterrupt:
            self._screen.note("broken off; /retry answers again, /continue goes on with a reply")
        return True

    def _read(self) -> str | None:
        turns = self._commands.turns
        draft, turns.draft = turns.draft, ""
        self._count()
        while True:
            try:
                message = self._reader.read(draft)
            except KeyboardInterrupt:
                if self._leaving:
                    return None
                self._leaving, draft = True, ""
                self._screen.note("Ctrl-C again or Ctrl-D leaves")
            else:
                self._leaving = False
                return message

    def _count(self) -> None:
        # What is wrong with the chat is told when it is answered.
        with suppress(ClientError):
            self._commands.meter.refresh()

    def _turn(self, message: str) -> bool:
        """Whether the chat goes on."""
        text = message.strip()
        if not text:
            return True
        written = block(message)
        if written is not None:
            return self._say(written)
        if text.startswith("//"):
            return self._say(text[1:])
        return self._command(text) if text.startswith("/") else self._say(message)

    def _say(self, message: str) -> bool:
        files, documents = self._commands.files, list[str]()
        if self._client.server_cache == "approximate":
            # A question is computed behind what it asks about, which the server may know.
            documents = files.taken()
        text = files.with_message(message)
        self._commands.visible.before(text)
        self._answer(lambda: self._chat.send(text, documents))
        return True

    def _answer(self, begin: Callable[[], Reply]) -> None:
        """Replies until one calls no tool."""
        if self.tools is None:
            self._show(begin)
            return
        self.tools.begin()
        while self.tools.ran(self._show(begin)):
            begin = self._chat.answer

    def _command(self, text: str) -> bool:
        following = self._commands.run(text)
        if following == "answer":
            turns = self._commands.turns
            begin, turns.begin = turns.begin or self._chat.answer, None
            self._answer(begin)
        return following not in ("switch", "quit")

    def _show(self, begin: Callable[[], Reply]) -> Reply:
        screen = self._screen
        # JSON and its like are no markdown.
        screen.begin_reply(verbatim=self._chat.form is not None)
        with stops_reply(self._client.cancel):
            reply = begin()
            try:
                self._say_on(reply)
            except ServerRefused as error:
                if reply.token_ids or not self._attention.gives_up(error):
                    raise
                reply = begin()
                self._say_on(reply)
            finally:
                screen.end_reply()
                self._commands.server.tally.take(reply.stats)
        if screen.interactive:
            seen, context = self._commands.visible.after(), self._commands.context.after()
            screen.note(
                status_line(reply, self._chat.max_tokens, seen, "/continue goes on", context)
            )
            if self._chat.verified is not None:
                screen.note(verified_line(self._chat.verified))
            self._adapter.note_used()
        self._tell_fewer_drafts()
        note_cut(reply, screen)
        if self.autosave and reply.token_ids:
            self._commands.chats.autosave(datetime.now())
        if self._attention.on and reply.finish_reason != "cancelled":
            self._attention.show()
        return reply

    def _say_on(self, reply: Reply) -> None:
        """Read a reply to its end, onto the screen."""
        self._screen.reply(reply.beginning)
        for event in reply.events():
            if isinstance(event, TokenEvent):
                self._commands.server.rows += event.rows
            self._screen.reply(event.text)

    def _tell_fewer_drafts(self) -> None:
        """Once for each number that is asked for, when a session says how many there may be."""
        wanted = self._chat.drafts
        if wanted == self._drafts_told:
            return
        self._drafts_told = wanted
        most = self._chat.most_drafts if isinstance(wanted, int) else 0
        line = fewer_drafts_line(wanted, most)
        if line is not None:
            self._screen.note(line)


def _said(error: ClientError | SplitError) -> str:
    """The error, and what helps in a chat."""
    if isinstance(error, _TOO_LONG):
        return f"{error}; /drop oldest leaves the oldest out, /new begins a new chat"
    if error.code == Unauthorized.code:
        # It was let in before.
        return f"{TOKEN_REVOKED.message}; /save NAME keeps this chat, then {TOKEN_REVOKED.advice}"
    return str(error)
