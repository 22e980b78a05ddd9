"""``/set``: what is sampled and shown."""

from __future__ import annotations

from dataclasses import dataclass

from split_client.api import ChatSession, SplitClient
from split_client.config.reply import LONGEST_REPLY
from split_client.generation.speculation.wanted import drafts_of
from split_client.terminal.commands.command import Command, Group, Next
from split_client.terminal.output.screen import Screen
from split_client.terminal.output.theme import NAMES
from split_client.terminal.sampling import FLOATS, WHOLE, SettingInvalid, changed, whole

_SWITCH = {"on": True, "off": False}


@dataclass(slots=True)
class Settings:
    """Sampling of the chat, look of the screen."""

    client: SplitClient
    chat: ChatSession
    screen: Screen

    def group(self) -> Group:
        what = "show or change a setting, such as /set temperature 0.7 or /set markdown off"
        return Group("Settings", (Command(("set",), "set [NAME VALUE]", what, self.set),))

    def set(self, text: str) -> Next:
        name, _, value = text.partition(" ")
        if value:
            self._change(name.replace("-", "_"), value.strip())
        elif name:
            raise SettingInvalid(f"/set {name} needs a value, such as /set temperature 0.7")
        self._show()
        return "stay"

    def _change(self, name: str, value: str) -> None:
        chat = self.chat
        if name == "max_tokens":
            chat.max_tokens = whole(name, value, LONGEST_REPLY)
        elif name == "stop":
            chat.stop = () if value == "none" else (value,)
        elif name == "drafts":
            chat.drafts = drafts_of(value)
        elif name == "markdown":
            self.screen.markdown = _SWITCH[_one_of(name, value, tuple(_SWITCH))]
        elif name == "theme":
            self.screen.use_theme(_one_of(name, value, NAMES))
        elif name in (*FLOATS, *WHOLE, "logit_bias"):
            chat.params = changed(chat.params or self.client.default_params, name, value)
        else:
            raise SettingInvalid(f"there is no setting {name[:40]!r}; /set shows them")

    def _show(self) -> None:
        params = self.chat.params or self.client.default_params
        shown = [f"{name} {getattr(params, name):g}" for name in (*FLOATS, "top_k")]
        shown.append(f"seed {'none' if params.seed is None else params.seed}")
        shown.append(f"max_tokens {self.chat.max_tokens}")
        shown.append(f"stop {' '.join(map(repr, self.chat.stop)) or 'none'}")
        shown.append(f"drafts {self.chat.drafts}")
        if params.logit_bias:
            shown.append(f"logit_bias of {len(params.logit_bias)} tokens")
        shown.append(f"markdown {'on' if self.screen.markdown else 'off'}")
        shown.append(f"theme {self.screen.theme_name}")
        self.screen.note(" · ".join(shown))


def _one_of(name: str, value: str, words: tuple[str, ...]) -> str:
    if value not in words:
        raise SettingInvalid(f"{name} is one of {', '.join(words)}, not {value[:40]!r}")
    return value
