"""The line editor's keys, and what its Tab key does. Imported only where a person types."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import ANSI
from prompt_toolkit.history import History
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.shortcuts import CompleteStyle
from prompt_toolkit.styles import Style
from prompt_toolkit.utils import get_cwidth

from split_client.owner_file import reason
from split_client.terminal.input.block import is_open
from split_client.terminal.input.history import HistoryFile

# Columns of the prompt and of what tells how full the context is.
_METER = 30
_STYLE = Style.from_dict({"bottom-toolbar": "noreverse"})


class Offered(Completer):
    """Completes what was begun to one of the whole lines that ``offer`` names."""

    def __init__(self, offer: Callable[[str], Sequence[str]]) -> None:
        self._offer = offer

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterator[Completion]:
        """One for each line."""
        del complete_event
        line = document.text_before_cursor
        for whole in self._offer(line):
            yield Completion(whole, start_position=-len(line))


class Kept(History):
    """The editor's history over a file; ``failed`` is why the file could not be written."""

    def __init__(self, file: HistoryFile) -> None:
        super().__init__()
        self._file = file
        self.failed: str | None = None

    def load_history_strings(self) -> Iterator[str]:
        """The newest first, as the editor wants them."""
        yield from reversed(self._file.entries())

    def store_string(self, string: str) -> None:
        """Another chat that writes at the same moment is not waited for."""
        try:
            self._file.add(string)
        except BlockingIOError:
            pass
        except OSError as error:
            self.failed = f"{self._file.path}: {reason(error)}"


def new_session(
    prompt: Callable[[], str],
    continued: str,
    offer: Callable[[str], Sequence[str]],
    history: Kept | None = None,
    meter: Callable[[str], str] = lambda _: "",
) -> PromptSession[str]:
    """A line editor; ``prompt`` with its SGR sequences, ``continued`` stands before later lines,
    ``meter`` of the text so far at the right, below where there is no room.

    ``history`` None: of this chat alone, in memory.
    """
    session: PromptSession[str] = PromptSession(
        lambda: ANSI(prompt()),
        multiline=True,
        key_bindings=_keys(),
        prompt_continuation=continued,
        enable_open_in_editor=False,
        history=history,
        completer=Offered(offer),
        complete_while_typing=False,
        # A menu would keep rows free below every prompt.
        complete_style=CompleteStyle.READLINE_LIKE,
        style=_STYLE,
    )
    _measure(session, meter)
    return session


def _measure(session: PromptSession[str], meter: Callable[[str], str]) -> None:
    """Show what ``meter`` says at the right of a short text, below one that needs the room."""
    buffer = session.default_buffer

    def told() -> ANSI:
        return ANSI(meter(buffer.text))

    def place(_: object) -> None:
        columns = session.app.output.get_size().columns
        is_long = "\n" in buffer.text or get_cwidth(buffer.text) > columns - _METER
        session.rprompt, session.bottom_toolbar = (None, told) if is_long else (told, None)

    session.app.before_render += place


def _keys() -> KeyBindings:
    """Enter sends; in a block, with Alt, or behind a backslash it begins a new line."""
    keys = KeyBindings()

    @keys.add("enter")
    def _enter(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if is_open(buffer.text):
            buffer.newline(copy_margin=False)
        elif buffer.document.text_before_cursor.endswith("\\"):
            buffer.delete_before_cursor()
            buffer.newline(copy_margin=False)
        else:
            buffer.validate_and_handle()

    @keys.add("escape", "enter")
    def _new_line(event: KeyPressEvent) -> None:
        event.current_buffer.newline(copy_margin=False)

    return keys
