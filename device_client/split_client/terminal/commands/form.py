"""``/form``: what replies of the chat are to be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from split_client.api import ChatSession
from split_client.grammar.form import Choice, Form, JsonObject, Regex, checked_form
from split_client.terminal.commands.command import Command, Group, Next
from split_client.terminal.form import described, grammar_in, schema_in
from split_client.terminal.output.sanitise import one_line
from split_client.terminal.output.screen import Screen
from split_client.terminal.paths import unquoted
from split_client.terminal.sampling import SettingInvalid

_USAGE = "/form is followed by schema FILE, json, regex R, grammar FILE, choice A | B or none"


@dataclass(slots=True)
class Forms:
    """The form of the chat's replies, which stays until it is changed."""

    chat: ChatSession
    screen: Screen

    def group(self) -> Group:
        what = "what replies are: schema FILE, json, regex R, grammar FILE, choice A | B, none"
        return Group("Form of replies", (Command(("form",), "form [WHAT]", what, self.form),))

    def form(self, text: str) -> Next:
        if text:
            kind, _, rest = text.partition(" ")
            self.chat.take_form(self._read(kind, rest.strip()))
        form = self.chat.form
        told = "replies have any form" if form is None else f"replies are {described(form)}"
        self.screen.note(one_line(told))
        return "stay"

    def _read(self, kind: str, rest: str) -> Form | None:
        if kind in ("none", "json") and not rest:
            return JsonObject() if kind == "json" else None
        readers: dict[str, Callable[[str], Form]] = {
            "schema": lambda path: schema_in(unquoted(path)),
            "regex": lambda pattern: checked_form(Regex(pattern)),
            "grammar": lambda path: grammar_in(unquoted(path)),
            "choice": lambda texts: checked_form(Choice(tuple(map(str.strip, texts.split("|"))))),
        }
        if kind not in readers or not rest:
            raise SettingInvalid(_USAGE)
        return readers[kind](rest)
