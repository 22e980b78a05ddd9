"""Saved chats in a real browser's database: two tabs, a tab that dies, many chats."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Page, Route

_WEB = Path(__file__).parents[3] / "web"
_URL = "http://chats.test/"


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> str:
    out = tmp_path_factory.mktemp("chats") / "page.js"
    command = ["node_modules/.bin/esbuild", "test/tools/chats/page.js", "--bundle"]
    subprocess.run([*command, f"--outfile={out}", "--log-level=error"], cwd=_WEB, check=True)
    return out.read_text("utf-8")


@pytest.fixture
def context(chromium: Browser, script: str) -> Iterator[BrowserContext]:
    """An origin without TLS, where a phone on a LAN may find itself."""

    def answer(route: Route) -> None:
        if route.request.url.endswith("page.js"):
            route.fulfill(body=script, content_type="text/javascript")
        else:
            route.fulfill(body='<script src="/page.js"></script>', content_type="text/html")

    context = chromium.new_context()
    context.set_default_timeout(20_000)
    context.route(f"{_URL}**", answer)
    yield context
    context.close()


def _tab(context: BrowserContext) -> Page:
    page = context.new_page()
    page.goto(_URL)
    kind = page.evaluate("(async () => (globalThis.store = await chats.ChatStore.open()).kind)()")
    assert kind == "indexeddb"
    return page


def test_two_tabs_hear_of_each_other_and_overwrite_nothing(context: BrowserContext) -> None:
    one, two = _tab(context), _tab(context)
    two.evaluate("globalThis.heard = []; store.onChange = (ids) => heard.push(...ids); 0")
    one.evaluate("store.save(globalThis.mine = chats.say(chats.newChat({id: 'a'}), 'hello'))")
    two.wait_for_function("heard.includes('a')")
    two.evaluate("store.load('a').then((chat) => store.save(chats.rename(chat, 'theirs')))")
    assert (
        one.evaluate("chats.codeOf(() => store.save(chats.rename(mine, 'mine')))") == "chat_changed"
    )
    assert one.evaluate("store.load('a').then((chat) => chat.title)") == "theirs"
    copy = "store.save(chats.copyOf(chats.rename(mine, 'mine'), {id: 'b'}))"
    assert one.evaluate(f"chats.codeOf(() => {copy})") == ""
    assert two.evaluate("store.list().then((all) => all.length)") == 2


def test_a_tab_that_dies_leaves_a_whole_save_of_the_reply(context: BrowserContext) -> None:
    for round_ in range(3):
        dying = _tab(context)
        dying.evaluate(
            f"chats.stream(store, 'r{round_}').then((state) => globalThis.state = state)"
        )
        dying.wait_for_function("globalThis.state?.saved >= 20")
        with pytest.raises(Error, match=r"[Cc]rash"):
            dying.goto("chrome://crash")
        dying.close()
        page = _tab(context)
        chat = page.evaluate(f"store.load('r{round_}')")
        listed = page.evaluate("store.list()")
        node = chat["nodes"][chat["leaf"]]
        count = int(node["content"].rpartition(" ")[2])
        assert count >= 20
        assert node["content"] == ("word " * 20_000)[: count * 500] + f"end {count}"
        assert node["reason"] == "interrupted"
        assert chat["updated"] == count
        # The list was written with it.
        (summary,) = [each for each in listed if each["id"] == f"r{round_}"]
        assert (summary["updated"], summary["count"]) == (count, 2)
        page.close()


def test_many_chats_are_listed_and_searched(context: BrowserContext) -> None:
    page = _tab(context)
    page.evaluate(
        """store.saveAll(Array.from({length: 2000}, (_, n) =>
             chats.say(chats.newChat({id: `c${n}`}), `question ${n} about trains`, n)))"""
    )
    listed = page.evaluate("store.list()")
    assert [chat["id"] for chat in listed[:2]] == ["c1999", "c1998"]
    assert len(listed) == 2000
    found = page.evaluate("store.search('TRAINS 1234')")
    assert [chat["id"] for chat in found["found"]] == ["c1234"]
    assert found["leftOut"] == 0
