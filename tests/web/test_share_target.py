"""What another app shares reaches the message field through the service worker, and no server."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser, expect

from tests.server_process import running_server
from tests.web.browsing import PHONE

_MILLISECONDS = 20_000
# As a browser does for an app that is installed, but for the page that it opens then.
_SHARES = """async () => {
  await navigator.serviceWorker.ready;
  while (!navigator.serviceWorker.controller) await new Promise((go) => setTimeout(go, 20));
  const body = new FormData();
  body.set('title', 'A page');
  body.set('text', '<b>Look</b> at this');
  body.set('url', 'https://example.org/');
  const answer = await fetch('/share', { method: 'POST', body });
  return [answer.status, answer.url];
}"""


def test_what_is_shared_fills_the_field_of_a_new_chat_once_and_is_not_sent(
    chromium: Browser, web_root: Path, tiny_path: Path
) -> None:
    with running_server(tiny_path, web_root=str(web_root)) as server:
        context = chromium.new_context(**PHONE)
        context.set_default_timeout(_MILLISECONDS)
        page = context.new_page()
        page.goto(server.url)
        assert page.evaluate(_SHARES) == [200, f"{server.url}/?shared"]
        page.goto(f"{server.url}/?shared")
        field = page.get_by_role("textbox", name="Message")
        expect(field).to_have_value("A page\n<b>Look</b> at this\nhttps://example.org/")
        assert page.url == f"{server.url}/"
        expect(page.get_by_role("article")).to_have_count(0)
        again = context.new_page()
        again.goto(f"{server.url}/?shared")
        expect(again.get_by_role("textbox", name="Message")).to_be_visible()
        again.wait_for_function("() => location.search === ''")
        assert again.evaluate("caches.has('gatelink-shared')") is False
        without = page.request.post(f"{server.url}/share", form={"text": "x"})
        assert without.status in (404, 405)
        context.close()
