"""A whole chat in an engine that is not Chromium's: Firefox, where it is installed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server_process import running_server
from tests.web.whole_chat import firefox
from tests.web.whole_chat.test_in_chromium import FIRST, SECOND, expected

_ARTEFACTS = Path(__file__).parents[3] / ".artefacts" / "web"
_PRESS = """(name) => {
  const named = (button) => (button.ariaLabel ?? button.textContent).trim().startsWith(name);
  const found = [...document.querySelectorAll('button')].find(
    (button) => named(button) && !button.disabled && button.getClientRects().length);
  found?.click();
  return found !== undefined;
}"""
_CHOOSE = """(text) => {
  const label = [...document.querySelectorAll('label')].find((one) => one.textContent === text);
  label?.click();
  return label !== undefined;
}"""
_WRITABLE = "() => document.querySelector('#composer')?.focus() === undefined"
_WHOLE = """(count) => {
  const named = (name) => document.querySelectorAll(`button[aria-label="${name}"]`).length;
  if (named('Copy reply') !== count || named('Stop the reply')) return '';
  return [...document.querySelectorAll('article[aria-label=Reply] .text')].at(-1).innerText;
}"""
_DIALOG = "() => document.querySelector('dialog').innerText"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        firefox.installed() is None,
        reason="no Firefox is installed (Debian: apt-get install firefox-esr)",
    ),
]


@pytest.fixture
def tab(tmp_path: Path) -> Iterator[firefox.Tab]:
    with firefox.firefox(tmp_path) as running:
        yield running


def _reply(tab: firefox.Tab, message: str, count: int) -> str:
    """The text of the reply to ``message``, the ``count``-th one of its chat, in one line."""
    tab.until(_WRITABLE)
    tab.type(message)
    tab.until(_PRESS, "Send")
    return " ".join(tab.until(_WHOLE, count).split())


def _seen(tab: firefox.Tab) -> str:
    """What the page tells of its connection and its ends."""
    tab.until(_PRESS, "What the server sees")
    tab.until("() => /\\d workers?/.test(document.querySelector('dialog')?.innerText)")
    text: str = tab.call(_DIALOG)
    tab.until(_PRESS, "Close")
    return " ".join(text.split())


def test_firefox_downloads_chats_over_both_carriers_and_keeps_chat_and_model(
    tab: firefox.Tab, web_root: Path
) -> None:
    tab.resize(360, 740)
    with running_server(web_root=str(web_root)) as server:
        tab.goto(server.url)
        tab.until(_PRESS, "Download")
        first = _reply(tab, FIRST, 1)
        assert first == expected(FIRST)
        assert "Carried by websocket" in _seen(tab)
        tab.picture(_ARTEFACTS / "firefox-chat.png")
        tab.until(_PRESS, "Settings")
        tab.until(_CHOOSE, "HTTP")
        tab.until(_PRESS, "Close")
        assert _reply(tab, SECOND, 2) == expected(FIRST, first, SECOND)
        assert "Carried by http" in _seen(tab)
        tab.reload()
        assert tab.until(_WHOLE, 2)
        assert "Download" not in tab.call("() => document.body.innerText")
