"""Words of the pair page where its server is not trusted, or cannot pair."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from split_server.security.host import lan_addresses
from split_server.serving.doorway import EVERY_ADDRESS
from tests.server_process import RunningServer, running_server
from tests.web.browsing import DESKTOP
from tests.web.pairing.page import kept_token, refusal

TOKEN = "a-token-of-enough-length"


@pytest.fixture(scope="module")
def server(
    tiny_path: Path, web_root: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningServer]:
    """Over TLS, with pairing; no browser here trusts its authority."""
    state = tmp_path_factory.mktemp("state")
    with running_server(tiny_path, tls="on", state=state, web_root=str(web_root)) as running:
        yield running


@pytest.fixture(scope="module")
def plain(tiny_path: Path, web_root: Path) -> Iterator[RunningServer]:
    """Plain HTTP with a token, so without pairing, also beyond this machine."""
    settings = {"host": EVERY_ADDRESS, "tls": "off", "token": TOKEN}
    with running_server(tiny_path, web_root=str(web_root), **settings) as running:
        yield running


@contextmanager
def _opened(browser: Browser, **options: Any) -> Iterator[Page]:
    context = browser.new_context(**(DESKTOP | options))
    try:
        yield context.new_page()
    finally:
        context.close()


def test_a_warning_that_was_clicked_away_is_told(chromium: Browser, server: RunningServer) -> None:
    with _opened(chromium, ignore_https_errors=True) as page:
        page.goto(f"{server.url}/pair")
        expect(page.locator("#loss")).to_contain_text("only clicked away")
        expect(page.locator("#trust")).to_be_visible()


def test_the_page_can_be_read_without_scripts(chromium: Browser, server: RunningServer) -> None:
    with _opened(chromium, ignore_https_errors=True, java_script_enabled=False) as page:
        page.goto(f"{server.url}/pair")
        expect(page.get_by_text("it runs no scripts here")).to_be_visible()
        expect(page.get_by_text("Certificate Trust Settings")).to_be_visible()
        expect(page.locator("#pair")).to_be_hidden()
        with page.expect_download() as download:
            page.get_by_role("link", name="Download the certificate").click()
        certificate = server.doorway.certificate
        assert certificate is not None
        assert download.value.path().read_bytes() == certificate.authority.der


def test_a_server_without_pairing_says_so_and_takes_its_token(
    chromium: Browser, plain: RunningServer
) -> None:
    with _opened(chromium) as page:
        page.goto(f"{plain.url}/pair#ABCD-EFGH")
        page.get_by_role("button", name="Pair this device").click()
        assert "pairs no devices" in refusal(page)
        expect(page.locator("#trust")).to_be_hidden()
        page.get_by_text("Use a token instead", exact=True).click()
        page.get_by_label("Token", exact=True).fill("not-the-token-of-it")
        page.get_by_role("button", name="Use this token").click()
        expect(page.locator("#message")).to_contain_text("does not know this token")
        page.get_by_label("Token", exact=True).fill(TOKEN)
        page.get_by_role("button", name="Use this token").click()
        page.wait_for_url(f"{plain.url}/")
        assert kept_token(page) == TOKEN


def test_plain_http_beyond_this_machine_is_told(chromium: Browser, plain: RunningServer) -> None:
    address = next(iter(lan_addresses()), None)
    if address is None:
        pytest.skip("this machine has no address beyond loopback")
    with _opened(chromium) as page:
        page.goto(f"http://{address}:{plain.port}/pair")
        assert page.evaluate("isSecureContext") is False
        expect(page.locator("#loss")).to_contain_text("not encrypted")
