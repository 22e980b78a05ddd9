"""An encrypted adapter as a person uses it: found, paired with, chosen, and what it says of itself.

The page comes from the real server under its real policy, the host speaks TLS of its own authority.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from transformers import AutoTokenizer

from split_server.checkpoint.folder import EMBEDDED
from split_server.pairing.certificate import utc_now
from split_server.pairing.commands import invitation
from split_server.pairing.local_ca import LocalAuthority
from split_server.pairing.state import StateFolder
from tests.adapted import banking_greedy
from tests.web.adapter_hosts import Pair, hosted_pair
from tests.web.browsing import PHONE, trusting
from tests.web.chat_page import ChatPage

pytest.importorskip("tenseal")
QUESTION = "What is an overdraft?"
OWNER_ALONE = "this protects from the adapter’s owner alone"


@dataclass(frozen=True)
class World:
    """``state``: of the host; ``browser`` trusts its authority."""

    pair: Pair
    state: Path
    browser: Browser


@pytest.fixture(scope="module")
def world(web_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("hosted")
    state = folder / "state"
    authority = folder / "ca.crt"
    authority.write_bytes(LocalAuthority.open(StateFolder(state), utc_now()).der)
    secure = {"tls": "on", "state": state, "token": "a-token-of-enough-length"}
    with (
        hosted_pair(scheme="https", host=secure, dtype="float32", web_root=str(web_root)) as pair,
        trusting(authority, folder / "home") as browser,
    ):
        yield World(pair, state, browser)


@pytest.fixture
def chat(world: World) -> Iterator[ChatPage]:
    context = world.browser.new_context(**PHONE)
    try:
        page = ChatPage(context.new_page(), touch=True)
        page.page.goto(world.pair.server.url)
        page.download()
        yield page
        assert page.errors == []
    finally:
        context.close()


def _adapted() -> str:
    """What the embedded model with its adapter answers, in one line."""
    tokenizer = AutoTokenizer.from_pretrained(EMBEDDED)
    asked = [{"role": "user", "content": QUESTION}]
    prompt = tokenizer.apply_chat_template(asked, add_generation_prompt=True, return_dict=False)
    text: str = tokenizer.decode(banking_greedy(list(prompt), 256), skip_special_tokens=True)
    return " ".join(text.split())


def test_a_host_is_paired_with_chosen_and_asked(chat: ChatPage, world: World) -> None:
    page, host = chat.page, world.pair.origin.removeprefix("https://")
    chat.settings("Chat")
    sheet = page.get_by_role("dialog")
    expect(sheet.get_by_text(OWNER_ALONE)).to_be_visible()
    chat.press("Show its adapters")
    field = page.get_by_label(f"Pairing code or token of {host}")
    expect(field).to_be_visible()
    expect(sheet.get_by_role("alert").filter(has_text="pair this browser")).to_be_visible()
    chat.picture("adapter-host-pairing")
    field.fill("AAAA-AAAA")
    chat.press("Pair with the host")
    expect(sheet.get_by_role("alert").filter(has_text="code")).to_be_visible()
    field.fill(invitation(StateFolder(world.state), world.pair.origin, time.time()).link)
    chat.press("Pair with the host")
    group = page.get_by_role("group", name=f"Adapters of {host}, encrypted")
    group.get_by_role("radio", name="banking").tap()
    chat.picture("adapter-host-chosen")
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name=f"Adapter: banking at {host}")).to_be_visible()
    chat.write(QUESTION)
    assert chat.whole_reply(0) == _adapted()
    expect(page.get_by_text(f"adapter banking at {host}, encrypted")).to_be_visible()
    chat.press("What the server sees")
    expect(sheet.get_by_role("heading", name="What the adapter host sees")).to_be_visible()
    expect(sheet.get_by_text(OWNER_ALONE)).to_be_visible()
    chat.picture("adapter-host-seen")
    page.keyboard.press("Escape")
    # The pairing and the choice outlast the page.
    page.reload()
    chat.ready()
    chat.write(QUESTION)
    chat.whole_reply(1)
    chat.settings("Chat")
    chat.press(f"Forget the token for {host}")
    expect(page.get_by_label(f"Pairing code or token of {host}")).to_be_visible()
    page.keyboard.press("Escape")
    chat.press("New chat")
    chat.write(QUESTION)
    expect(page.get_by_text("pair this browser with the host").first).to_be_visible()
    expect(page.get_by_role("article", name="Reply")).to_have_count(0)


def test_the_policy_lets_the_page_ask_that_host_and_no_other(chat: ChatPage, world: World) -> None:
    chat.page.evaluate(
        "() => { globalThis.refused = []; addEventListener('securitypolicyviolation',"
        " ({ blockedURI }) => refused.push(new URL(blockedURI).origin)); }"
    )
    ask = (
        "(url) => fetch(url, { mode: 'no-cors' }).catch(() => null)"
        ".then(() => new Promise((done) => setTimeout(() => done(refused), 50)))"
    )
    other = f"https://127.0.0.1:{world.pair.host.port % 60000 + 1}"
    assert chat.page.evaluate(ask, f"{world.pair.origin}/health") == []
    assert chat.page.evaluate(ask, f"{other}/health") == [other]
    plain = world.pair.origin.replace("https:", "http:")
    assert chat.page.evaluate(ask, f"{plain}/health") == [other, plain]
