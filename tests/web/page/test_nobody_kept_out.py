"""Every state of the page: what axe knows, small targets, what is wider than the screen."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.exhaustive import EXHAUSTIVE
from tests.web.fake_page import opened
from tests.web.page.states import AXE, RULES, SIZES, SMALL, WIDER, everywhere


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "scheme"), [("phone", "light"), *([("desktop", "dark")] if EXHAUSTIVE else [])]
)
def test_no_state_of_the_page_keeps_anybody_out(
    chromium: Browser, url: str, size: str, scheme: str
) -> None:
    """What axe knows; and on a phone targets of 44 pixels, and nothing wider than the screen."""
    # axe comes as a script of its own, which the policy of the page forbids; in the middle of a
    # movement it would see colours that nobody sees.
    options: dict[str, Any] = {
        **SIZES[size],
        "color_scheme": scheme,
        "bypass_csp": True,
        "reduced_motion": "reduce",
    }
    found: list[tuple[str, Any]] = []
    with opened(chromium, url, **options) as chat:
        page = chat.page

        def check(state: str) -> None:
            if not page.evaluate("'axe' in globalThis"):
                page.add_script_tag(url=f"{url}axe.min.js")
            found.extend((state, each) for each in page.evaluate(AXE, RULES))
            if chat.touch:
                found.extend((state, each) for each in page.evaluate(SMALL))
            if wider := page.evaluate(WIDER):
                found.append((state, f"{wider} pixels wider than the screen"))

        everywhere(chat, url, check)
    assert found == []
