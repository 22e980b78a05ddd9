"""Parts of the pair page that its tests read."""

from __future__ import annotations

from playwright.sync_api import Page, expect


def kept_token(page: Page) -> str | None:
    """The token that this browser keeps."""
    token: str | None = page.evaluate("localStorage.getItem('gatelink.token')")
    return token


def refusal(page: Page) -> str:
    """What the page says after a failure."""
    expect(page.locator("#message.failed")).not_to_be_empty()
    return page.locator("#message").inner_text()
