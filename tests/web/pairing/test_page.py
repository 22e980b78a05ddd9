"""The pair page in a real browser, over TLS with the server's own authority."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from split_server.pairing.attempts import ATTEMPTS_PER_MINUTE
from split_server.pairing.commands import invitation
from split_server.pairing.devices import DeviceBook
from split_server.pairing.invitation import grouped
from split_server.pairing.state import StateFolder
from tests.server_process import RunningServer, running_server
from tests.web.browsing import PHONE, trusting
from tests.web.pairing.page import kept_token, refusal


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("state")


@pytest.fixture(scope="module")
def server(state: Path, tiny_path: Path, web_root: Path) -> Iterator[RunningServer]:
    """Over TLS, with pairing."""
    with running_server(tiny_path, tls="on", state=state, web_root=str(web_root)) as running:
        yield running


@pytest.fixture(autouse=True)
def _patience(request: pytest.FixtureRequest) -> None:
    """Attempts per minute are one test's subject alone."""
    if "server" in request.fixturenames:
        _pairing(request.getfixturevalue("server"))._attempts.clear()


@pytest.fixture(scope="module")
def trusted(
    chromium: Browser, server: RunningServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Browser]:
    """A browser whose user has installed the server's authority.

    It takes the other one's driver, so it starts after that and ends before.
    """
    home = tmp_path_factory.mktemp("home")
    certificate = server.doorway.certificate
    assert certificate is not None
    (home / "ca.crt").write_bytes(certificate.authority.der)
    with trusting(home / "ca.crt", home) as browser:
        yield browser


@pytest.fixture
def page(trusted: Browser) -> Iterator[Page]:
    """A phone of somebody new."""
    context = trusted.new_context(**PHONE)
    yield context.new_page()
    context.close()


def _pairing(server: RunningServer) -> Any:
    assert server.doorway.pairing is not None
    return server.doorway.pairing


def _link(server: RunningServer, state: Path) -> str:
    return invitation(StateFolder(state), server.url, time.time()).link


def test_a_link_pairs_this_browser_and_leads_to_the_chat(
    page: Page, server: RunningServer, state: Path
) -> None:
    failures: list[str] = []
    page.on("console", lambda line: failures.append(line.text) if line.type == "error" else None)
    page.on("pageerror", lambda error: failures.append(str(error)))
    link = _link(server, state)
    page.goto(link)
    expect(page.get_by_label("Code", exact=True)).to_have_value(f"{link[-52:-48]}-{link[-48:-44]}")
    expect(page.get_by_label("Name of this device")).not_to_have_value("")
    page.get_by_label("Name of this device").fill("my phone")
    page.get_by_role("button", name="Pair this device").click()
    page.wait_for_url(f"{server.url}/")
    token = kept_token(page)
    assert token is not None
    assert _pairing(server).principal(token) is not None
    assert "my phone" in {device.name for device in DeviceBook(StateFolder(state)).devices()}
    assert not failures


def test_the_code_leaves_address_bar_and_history_at_once(
    page: Page, server: RunningServer, state: Path
) -> None:
    page.goto(_link(server, state))
    expect(page.get_by_label("Code", exact=True)).not_to_have_value("")
    assert page.url == f"{server.url}/pair"
    page.goto(f"{server.url}/app-files.json")
    page.go_back()
    assert page.url == f"{server.url}/pair"


def test_the_fingerprint_of_the_link_is_shown_as_the_terminal_does(
    page: Page, server: RunningServer, state: Path
) -> None:
    page.goto(_link(server, state))
    certificate = server.doorway.certificate
    assert certificate is not None
    expected = grouped(certificate.authority.fingerprint)
    expect(page.locator("#fingerprint")).to_have_text(expected)


def test_a_code_is_good_for_one_device(page: Page, server: RunningServer, state: Path) -> None:
    link = _link(server, state)
    page.goto(link)
    page.get_by_role("button", name="Pair this device").click()
    page.wait_for_url(f"{server.url}/")
    page.evaluate("localStorage.clear()")
    page.goto(link)
    page.get_by_role("button", name="Pair this device").click()
    assert "used already" in refusal(page)
    assert kept_token(page) is None
    assert page.url == f"{server.url}/pair"


def test_a_typed_code_pairs_too(page: Page, server: RunningServer, state: Path) -> None:
    code = invitation(StateFolder(state), server.url, time.time()).code
    page.goto(f"{server.url}/pair")
    expect(page.get_by_label("Code", exact=True)).to_be_focused()
    page.keyboard.type(code.lower())
    page.keyboard.press("Enter")
    page.wait_for_url(f"{server.url}/")
    assert kept_token(page) is not None


def test_too_many_tries_are_told(page: Page, server: RunningServer) -> None:
    page.goto(f"{server.url}/pair#ZZZZ-ZZZZ")
    for _ in range(ATTEMPTS_PER_MINUTE):
        _pairing(server)._attempts._begin("127.0.0.1")
    page.get_by_role("button", name="Pair this device").click()
    assert "too many tries" in refusal(page)


def test_no_answer_is_told_and_the_code_may_be_tried_again(
    page: Page, server: RunningServer, state: Path
) -> None:
    page.goto(_link(server, state))
    page.context.set_offline(True)
    page.get_by_role("button", name="Pair this device").click()
    assert "does not answer" in refusal(page)
    page.context.set_offline(False)
    page.get_by_role("button", name="Pair this device").click()
    page.wait_for_url(f"{server.url}/")


def test_a_paired_browser_is_told_so_and_a_revoked_one_is_told_that(
    page: Page, server: RunningServer, state: Path
) -> None:
    page.goto(_link(server, state))
    page.get_by_label("Name of this device").fill("short-lived")
    page.get_by_role("button", name="Pair this device").click()
    page.wait_for_url(f"{server.url}/")
    page.goto(f"{server.url}/pair")
    expect(page.locator("#message")).to_contain_text("paired already")
    expect(page.get_by_role("link", name="Open the chat")).to_be_visible()
    DeviceBook(StateFolder(state)).revoke("short-lived")
    page.reload()
    expect(page.locator("#message")).to_contain_text("does not know it any more")
    expect(page.get_by_role("link", name="Open the chat")).to_be_hidden()


_SOCKET = """(token) => new Promise((resolve) => {
    const encoded = btoa(token).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
    const url = `wss://${location.host}/api/v1/split/stream`;
    const socket = new WebSocket(url, ['split.v1', `split.bearer.${encoded}`]);
    globalThis.ended = new Promise((told) => {
        socket.onclose = ({ code, reason }) => told([code, reason]);
    });
    socket.onopen = () => resolve(socket.protocol);
    socket.onerror = () => resolve('refused');
})"""


def test_a_paired_browser_opens_the_socket_and_is_cut_off_when_it_is_revoked(
    page: Page, server: RunningServer, state: Path
) -> None:
    page.goto(_link(server, state))
    page.get_by_label("Name of this device").fill("cut-off")
    page.get_by_role("button", name="Pair this device").click()
    page.wait_for_url(f"{server.url}/")
    token = kept_token(page)
    assert page.evaluate(_SOCKET, token) == "split.v1"
    DeviceBook(StateFolder(state)).revoke("cut-off")
    assert page.evaluate("globalThis.ended") == [1008, "revoked"]
    assert page.evaluate(_SOCKET, token) == "refused"


def test_nothing_is_lost_where_the_authority_is_trusted(page: Page, server: RunningServer) -> None:
    page.goto(f"{server.url}/pair")
    page.wait_for_function("navigator.serviceWorker.ready.then(() => true)")
    expect(page.locator("#loss")).to_be_hidden()
    assert page.evaluate("crossOriginIsolated") is True
