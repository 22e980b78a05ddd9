"""Completion by the Tab key of a line that begins with a slash."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from split_client.chat.brightness.rows import MODES
from split_client.chat.context.pruning import POLICIES
from split_client.errors import ClientError
from split_client.presets.folder import PresetFolder
from split_client.saved_chats.folder import ChatFolder
from split_client.saved_chats.names import folded
from split_client.terminal.paths import completed
from split_client.terminal.sampling import FLOATS, WHOLE

_SETTINGS = (*FLOATS, *WHOLE, "logit_bias", "markdown", "max_tokens", "stop", "theme")
_FORMS = ("choice", "grammar", "json", "none", "regex", "schema")
_POLICIES = ("attention", "dead", "keep-recent", "tools")
_MOST = 50


class Completion:
    """Names of commands, and behind some names of chats, presets, models, settings, files."""

    def __init__(
        self,
        names: Iterable[str],
        chats: ChatFolder,
        presets: PresetFolder,
        models: Callable[[], Iterable[str]] = tuple,
    ) -> None:
        self._names = sorted(names)

        def chat_names(_: str) -> list[str]:
            return [file.name for file in chats.files()]

        self._behind: Mapping[str, Callable[[str], Iterable[str]]] = {
            "file": completed,
            "load": chat_names,
            "save": chat_names,
            "delete": chat_names,
            "rename": chat_names,
            "model": lambda _: models(),
            "form": lambda _: _FORMS,
            "context": lambda _: (*POLICIES, "budget "),
            "brightness": lambda _: (*MODES, "off"),
            "drop": lambda _: ("oldest",),
            "hide": lambda _: _POLICIES,
            "set": lambda _: _SETTINGS,
            "system": lambda _: [f"@{preset.name}" for preset in presets.all()[0]],
        }

    def offer(self, line: str) -> list[str]:
        """Whole lines that begin with ``line``; none where nothing fits or a folder fails."""
        if not line.startswith("/") or line.startswith("//") or "\n" in line:
            return []
        name, space, rest = line[1:].partition(" ")
        if not space:
            return [f"/{known}" for known in self._names if known.startswith(name.lower())]
        begun = folded(rest.lstrip())
        behind = self._behind.get(name.lower())
        try:
            words = () if behind is None else behind(rest.lstrip())
        except ClientError:
            return []
        return [f"/{name} {word}" for word in words if folded(word).startswith(begun)][:_MOST]
