"""A page of another site can do nothing to a server that asks for no token but link to it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from tests.server_process import STREAM_PATH, RunningServer, running_server
from tests.web_folder import web_folder

# Another site, and another port of the same one.
_FOREIGN_HOSTS = ["localhost", "127.0.0.1"]

_SOCKET = """([url, protocols]) => new Promise((resolve) => {
    const socket = new WebSocket(url, protocols);
    socket.onopen = () => resolve('open');
    socket.onerror = () => resolve('failed');
})"""
_FETCH = """([url, options]) => fetch(url, options).then(
    async (answer) => `${answer.type} ${answer.status} ${(await answer.text()).length}`,
    (error) => error.name,
)"""
_ELEMENT = """([kind, url]) => new Promise((resolve) => {
    const made = document.createElement(kind);
    made.onload = () => resolve('loaded');
    made.onerror = () => resolve('failed');
    made[kind === 'link' ? 'href' : 'src'] = url;
    if (kind === 'link') made.rel = 'stylesheet';
    document.body.append(made);
})"""


class _Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>foreign</title><body>")

    def log_message(self, *_: Any) -> None:
        """Not of interest."""


@pytest.fixture(scope="module")
def server(tiny_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    folder = web_folder(tmp_path_factory.mktemp("web"))
    with running_server(tiny_path, web_root=str(folder)) as running:
        yield running


@pytest.fixture(scope="module")
def foreign_port() -> Iterator[int]:
    foreign = ThreadingHTTPServer(("127.0.0.1", 0), _Page)
    # A connection that the browser opened to no purpose must not be waited for.
    foreign.daemon_threads = True
    thread = threading.Thread(target=foreign.serve_forever)
    thread.start()
    yield foreign.server_address[1]
    foreign.shutdown()
    foreign.server_close()
    thread.join()


@pytest.fixture(scope="module")
def context(chromium: Browser) -> Iterator[BrowserContext]:
    opened = chromium.new_context()
    yield opened
    opened.close()


@pytest.fixture(scope="module", params=_FOREIGN_HOSTS)
def foreign(
    request: pytest.FixtureRequest, context: BrowserContext, foreign_port: int
) -> Iterator[Page]:
    """A page of somebody else's in a browser that also reaches the server."""
    page = context.new_page()
    page.goto(f"http://{request.param}:{foreign_port}/")
    yield page
    page.close()


def _socket_url(server: RunningServer) -> str:
    return f"ws://127.0.0.1:{server.port}{STREAM_PATH}"


def test_the_own_page_can_do_what_the_others_cannot(
    context: BrowserContext, server: RunningServer
) -> None:
    page = context.new_page()
    page.goto(f"{server.url}/")
    assert page.evaluate(_SOCKET, [_socket_url(server), ["split.v1"]]) == "open"
    assert page.evaluate(_FETCH, ["/weights/manifest.json", {}]).startswith("basic 200 ")
    page.close()


@pytest.mark.parametrize(
    "protocols", [["split.v1"], ["split.v1", "split.bearer.YS10b2tlbi1vZi1lbm91Z2gtbGVuZ3Ro"], []]
)
def test_a_foreign_page_opens_no_socket(
    protocols: list[str], foreign: Page, server: RunningServer
) -> None:
    assert foreign.evaluate(_SOCKET, [_socket_url(server), protocols]) == "failed"


@pytest.mark.parametrize(
    "path", ["/weights/manifest.json", "/weights/tokenizer.json", "/", "/health"]
)
@pytest.mark.parametrize("mode", ["cors", "no-cors"])
def test_a_foreign_page_reads_nothing(
    mode: str, path: str, foreign: Page, server: RunningServer
) -> None:
    read = foreign.evaluate(_FETCH, [server.url + path, {"mode": mode}])
    assert read == "TypeError"


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        ("script", "/weights/manifest.json"),
        ("img", "/icons/icon.png"),
        ("script", "/service-worker.js"),
        ("link", "/app/BUILD/app.css"),
    ],
)
def test_a_foreign_page_embeds_nothing(
    kind: str, path: str, foreign: Page, server: RunningServer
) -> None:
    assert server.parts.web is not None
    url = server.url + path.replace("BUILD", server.parts.web.build)
    assert foreign.evaluate(_ELEMENT, [kind, url]) == "failed"


@pytest.mark.parametrize("path", ["/", "/pair"])
def test_a_foreign_page_frames_nothing(path: str, foreign: Page, server: RunningServer) -> None:
    with foreign.expect_response(server.url + path) as framed:
        foreign.evaluate(_ELEMENT, ["iframe", server.url + path])
    assert framed.value.status == 403
    frame = foreign.main_frame.child_frames[-1]
    assert "forbidden_origin" in frame.content() or frame.url.startswith("chrome-error:")


@pytest.mark.parametrize("path", ["/", "/pair"])
def test_a_link_of_a_foreign_page_opens_the_page_and_keeps_no_hold_on_it(
    path: str, foreign: Page, server: RunningServer
) -> None:
    with foreign.expect_popup() as opened:
        foreign.evaluate("url => { window.held = window.open(url); }", server.url + path)
    opened.value.wait_for_load_state()
    assert opened.value.title() == "t"
    assert opened.value.evaluate("window.opener") is None
    foreign.wait_for_function("window.held.closed")
    opened.value.close()


def test_a_link_to_anything_else_is_refused(
    context: BrowserContext, foreign: Page, server: RunningServer
) -> None:
    page = context.new_page()
    page.goto(foreign.url)
    # Not its response alone: Chromium may never close a page that is between two documents.
    with page.expect_navigation() as answer:
        page.evaluate("url => { location.href = url; }", f"{server.url}/weights/manifest.json")
    assert answer.value.status == 403
    page.close()
