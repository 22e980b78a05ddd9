"""The page with an engine that needs no model, under the headers of the real server."""

from __future__ import annotations

import functools
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, expect

from split_server.http.web.page import POLICY
from tests.web.browsing import MILLISECONDS, node
from tests.web.chat_page import ChatPage

CONNECTING = "Connecting to the server…"
_WEB = Path(__file__).parents[2] / "web"
# The test's own tool, not the page, is what the policy of the server would refuse.
_POLICY = {name: value for name, value in POLICY.items() if name != "Permissions-Policy"}


class _Handler(SimpleHTTPRequestHandler):
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


@contextmanager
def opened(browser: Browser, url: str, **options: Any) -> Iterator[ChatPage]:
    """The page in a context of its own; at its end there was no error in it."""
    context = browser.new_context(**options)
    try:
        page = context.new_page()
        chat = ChatPage(page, touch=bool(options.get("has_touch")))
        page.set_default_timeout(MILLISECONDS)
        page.on("console", lambda message: _note(chat, message.type, message.text))
        page.goto(url)
        page.wait_for_selector("#composer")
        yield chat
        assert chat.errors == []
    finally:
        context.close()


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
