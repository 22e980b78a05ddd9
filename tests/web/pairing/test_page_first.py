"""What a phone at 390x844 sees first on the pair page: what to press, then one line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, FloatRect, Locator, Page, expect

from tests.server_process import RunningServer, running_server
from tests.web.browsing import PHONE

TOUCH: dict[str, Any] = {**PHONE, "viewport": {"width": 390, "height": 844}}


@pytest.fixture(scope="module")
def server(
    tiny_path: Path, web_root: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningServer]:
    """Over TLS, with pairing; no browser here trusts its authority."""
    state = tmp_path_factory.mktemp("state")
    with running_server(tiny_path, tls="on", state=state, web_root=str(web_root)) as running:
        yield running


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    """A phone whose user has clicked the warning away."""
    context = chromium.new_context(**TOUCH, ignore_https_errors=True)
    yield context.new_page()
    context.close()


def _box(locator: Locator) -> FloatRect:
    box = locator.bounding_box()
    assert box is not None
    return box


def test_who_follows_a_link_sees_the_button_first_then_one_line(
    page: Page, server: RunningServer
) -> None:
    page.goto(f"{server.url}/pair#ABCD-EFGH")
    loss = page.get_by_text("This server is not trusted yet.")
    expect(loss).to_be_visible()
    button = _box(page.get_by_role("button", name="Pair this device"))
    line = _box(page.locator("#loss"))
    assert button["y"] < 200
    assert button["y"] + button["height"] <= line["y"]
    assert line["height"] < 60
    assert line["y"] + line["height"] <= _box(page.get_by_label("Code", exact=True))["y"]
    assert page.evaluate("document.documentElement.scrollWidth") == TOUCH["viewport"]["width"]


def test_who_types_a_code_has_fields_button_and_line_on_the_first_screen(
    page: Page, server: RunningServer
) -> None:
    page.goto(f"{server.url}/pair")
    line = page.locator("#loss")
    expect(line).to_be_visible()
    code = _box(page.get_by_label("Code", exact=True))
    button = _box(page.get_by_role("button", name="Pair this device"))
    assert code["y"] < button["y"] < _box(line)["y"]
    expect(line).to_be_in_viewport(ratio=1)


def test_the_line_says_why_when_it_is_asked(page: Page, server: RunningServer) -> None:
    page.goto(f"{server.url}/pair#ABCD-EFGH")
    words = page.get_by_text("cannot tell this server from another machine in between.").first
    expect(words).to_be_hidden()
    page.get_by_text("Why?").tap()
    expect(words).to_be_visible()
    expect(page.get_by_text("Trust the certificate as shown below")).to_be_visible()


def test_at_twice_the_text_nothing_is_wider_than_the_screen(
    page: Page, server: RunningServer
) -> None:
    page.goto(f"{server.url}/pair#ABCD-EFGH")
    expect(page.locator("#loss")).to_be_visible()
    page.evaluate("() => { document.documentElement.style.fontSize = '200%'; }")
    page.get_by_text("Why?").tap()
    assert page.evaluate("document.documentElement.scrollWidth") == TOUCH["viewport"]["width"]
    expect(page.get_by_role("button", name="Pair this device")).to_be_in_viewport(ratio=1)
