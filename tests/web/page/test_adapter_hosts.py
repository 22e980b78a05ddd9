"""Hosts of encrypted adapters in the settings: asked when somebody wants it, in both languages."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.web.browsing import PHONE
from tests.web.chat_page import ChatPage
from tests.web.fake_page import at, opened

_NAMED = "adapters.example.org:8097"
_TOKEN = "a-token-of-enough-length"
_WIDER = """() => [document.documentElement, ...document.querySelectorAll('dialog, .sheet .body')]
  .map(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth).filter((wider) => wider > 0)"""


def _group(host: str) -> str:
    return f"Adapters of {host}, encrypted"


def test_nothing_is_asked_of_a_host_before_somebody_wants_it(phone: ChatPage, url: str) -> None:
    page = phone.page
    at(page, url, "hosts")
    phone.press("Settings")
    group = page.get_by_role("group", name=_group(_NAMED))
    expect(group.get_by_role("radio")).to_have_count(0)
    phone.press("Show its adapters", group)
    expect(group.get_by_role("alert").first).to_have_text(
        "The adapter host refuses: a valid token is needed."
    )
    field = group.get_by_label(f"Pairing code or token of {_NAMED}")
    field.fill("neither")
    phone.press("Pair with the host", group)
    expect(group.get_by_role("alert").filter(has_text="copy it again")).to_be_visible()
    field.fill(_TOKEN)
    phone.press("Pair with the host", group)
    expect(group.get_by_role("radio")).to_have_count(2)
    assert page.evaluate(_WIDER) == []
    group.get_by_role("radio", name="tax").tap()
    phone.picture("adapter-hosts")
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name=f"Adapter: tax at {_NAMED}, encrypted")).to_be_visible()
    at(page, url, "hosts")
    phone.press("Settings")
    # The host of the chat's own adapter is asked at once.
    expect(group.get_by_role("radio", name="tax")).to_be_checked()
    phone.press(f"Forget the token for {_NAMED}", group)
    expect(field).to_be_visible()


def test_a_host_that_is_off_says_so_and_can_be_asked_again(phone: ChatPage, url: str) -> None:
    page = phone.page
    at(page, url, "hosts")
    phone.press("Settings")
    group = page.get_by_role("group", name=_group("127.0.0.1:8097"))
    phone.press("Show its adapters", group)
    expect(group.get_by_role("alert")).to_contain_text("Cannot reach the adapter host")
    phone.press("Ask again", group)
    expect(group.get_by_role("alert")).to_contain_text("Cannot reach the adapter host")


def test_a_chat_whose_host_is_not_named_any_more_can_give_it_up(phone: ChatPage, url: str) -> None:
    page = phone.page
    at(page, url, "hosts")
    kept = json.dumps({f"https://{_NAMED}": _TOKEN})
    page.evaluate("kept => localStorage.setItem('gatelink.adapter-hosts', kept)", kept)
    phone.press("Settings")
    group = page.get_by_role("group", name=_group(_NAMED))
    phone.press("Show its adapters", group)
    group.get_by_role("radio", name="tax").tap()
    page.keyboard.press("Escape")
    at(page, url, "ready")
    phone.press("Settings")
    expect(group.get_by_role("radio", name="tax")).to_be_checked()
    expect(group).to_contain_text("there is no reply until another one is chosen")
    page.get_by_role("radio", name="None").tap()
    expect(group).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone_in_german_and_in_both_themes(
    chromium: Browser, url: str, scheme: str
) -> None:
    phone = PHONE | {"viewport": {"width": 390, "height": 844}}
    with opened(chromium, url, locale="de", color_scheme=scheme, **phone) as chat:
        page = chat.page
        at_german(page, url)
        chat.press("Einstellungen")
        group = page.get_by_role("group", name=f"Adapter von {_NAMED}, verschlüsselt")
        chat.press("Seine Adapter zeigen", group)
        expect(group.get_by_label(f"Kopplungscode oder Token von {_NAMED}")).to_be_visible()
        expect(page.get_by_text("schützt das nur vor dem, dem der Adapter gehört")).to_be_visible()
        assert page.evaluate(_WIDER) == []
        chat.picture(f"adapter-hosts-german-{scheme}")


def at_german(page: Page, url: str) -> None:
    """The page with hosts, whose words are German."""
    page.goto(f"{url}?engine=hosts")
    page.wait_for_selector("#composer")
    expect(page.get_by_role("button", name="Einstellungen", exact=True)).to_be_visible()
