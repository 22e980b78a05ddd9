"""The page with an engine that needs no model, under the headers of the real server."""

from __future__ import annotations

import functools
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from playwright.sync_api import Browser, Page, expect

from split_server.http.web.page import POLICY
from tests.web.browsing import MILLISECONDS, node
from tests.web.chat_page import ChatPage

CONNECTING = "Connecting to the server…"
# A page of the same origin with nothing in it.
_NOTHING = "nothing.html"
_WEB = Path(__file__).parents[2] / "web"
# The test's own tool, not the page, is what the policy of the server would refuse.
_POLICY = {name: value for name, value in POLICY.items() if name != "Permissions-Policy"}


# As a server of one model lists it.
_MODELS = b'{"models":[{"name":"tiny","path":"/m/tiny","first":true,"state":"loaded"}],"version":1}'


class _Handler(SimpleHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path != "/api/v1/models":
            return super().do_GET()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(_MODELS)))
        self.end_headers()
        self.wfile.write(_MODELS)
        return None

    def end_headers(self) -> None:
        for name, value in _POLICY.items():
            self.send_header(name, value)
        super().end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Silent."""


@contextmanager
def fake_page(folder: Path) -> Iterator[str]:
    """Build the page into ``folder`` and serve it; gives its URL."""
    tool = _WEB / "test/tools/fake_page/build.mjs"
    subprocess.run([node(), tool, folder], cwd=_WEB, check=True)
    (folder / _NOTHING).touch()
    handler = functools.partial(_Handler, directory=folder)
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    # A connection that the browser opened to no purpose must not be waited for.
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Kept:
    """A page that tests of one browser use one after another: a context and the processes of its
    own take a second. Between them its storage is emptied, and what it was made of is gone.
    """

    def __init__(self, browser: Browser, url: str, options: dict[str, Any]) -> None:
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.chat = ChatPage(self.page, touch=bool(options.get("has_touch")))
        self.page.on("console", lambda message: _note(self.chat, message.type, message.text))
        self._origin = "/".join(url.split("/")[:3])
        self._options = options
        self._tools = self.context.new_cdp_session(self.page)
        self.spoilt = False
        # What these do cannot be undone.
        self.page.add_init_script = self._spoils(self.page.add_init_script)
        self.context.add_init_script = self._spoils(self.context.add_init_script)
        self.context.new_cdp_session = self._spoils(self.context.new_cdp_session)

    def _spoils(self, method: Callable[..., Any]) -> Callable[..., Any]:
        """``method``, after which the page is used by no other test."""

        def called(*arguments: Any, **named: Any) -> Any:
            self.spoilt = True
            return method(*arguments, **named)

        return called

    def clear(self) -> None:
        """Nothing of a test is left for the next one."""
        for other in self.context.pages:
            if other != self.page:
                other.close()
        self.page.unroute_all()
        self.context.unroute_all()
        self.context.clear_permissions()
        self.context.set_offline(False)
        self.page.goto(f"{self._origin}/{_NOTHING}")
        self.page.evaluate("sessionStorage.clear()")
        # A service worker stays, without its files, as long as it serves a page.
        self.page.goto("about:blank")
        what = {"origin": self._origin, "storageTypes": "all"}
        self._tools.send("Storage.clearDataForOrigin", what)
        self.page.emulate_media(
            media="null",
            color_scheme=self._options.get("color_scheme", "null"),
            reduced_motion=self._options.get("reduced_motion", "null"),
        )
        self.page.set_viewport_size(self._options["viewport"])
        self.chat.errors.clear()


# By browser, and by what its pages are opened with.
_KEPT: WeakKeyDictionary[Browser, dict[str, _Kept]] = WeakKeyDictionary()


@contextmanager
def opened(
    browser: Browser, url: str, *, fresh: bool = False, **options: Any
) -> Iterator[ChatPage]:
    """The page as if in a context of its own; at its end there was no error in it.

    ``fresh``: really in one, for tests that measure.
    """
    kept = {} if fresh else _KEPT.setdefault(browser, {})
    key = f"{url.partition('?')[0]} {sorted(options.items())}"
    # A test that fails leaves nothing to the next.
    held = kept.pop(key, None) or _Kept(browser, url, options)
    try:
        held.page.set_default_timeout(MILLISECONDS)
        held.page.goto(url)
        held.page.wait_for_selector("#composer")
        yield held.chat
        assert held.chat.errors == [], held.chat.errors
        if not (fresh or held.spoilt):
            held.clear()
            kept[key] = held
    finally:
        if kept.get(key) is not held:
            held.context.close()


def _note(chat: ChatPage, kind: str, text: str) -> None:
    # Browsers tell of a header that counts on secure origins only.
    if kind in ("error", "warning") and "Cross-Origin-Opener-Policy" not in text:
        chat.errors.append(text)


def answered(chat: ChatPage, text: str, replies: int = 1) -> None:
    """Send a message and wait for the end of its reply."""
    expect(chat.page.locator("#status")).not_to_have_text(CONNECTING)
    chat.write(text)
    expect(chat.page.get_by_role("button", name="Copy reply")).to_have_count(replies)


def at(page: Page, url: str, engine: str) -> None:
    """Open the page again with an engine of another kind."""
    page.goto(f"{url}?engine={engine}")
    page.wait_for_selector("#composer")
    expect(page.locator("#status")).not_to_have_text(CONNECTING)
