"""Markdown with script in it, as the page shows it: text, and nothing that runs or is fetched."""

from __future__ import annotations

import json
from pathlib import Path

from playwright.sync_api import Browser, FilePayload, expect

from tests.server_process import running_server
from tests.web.browsing import DESKTOP

_VECTORS = Path(__file__).parents[3] / "web/test/markdown/scripts.json"
# What stands in the bubbles of a chat, beyond what markdown is shown with.
_DRAW_ALL = """() => {
  for (const place of document.querySelectorAll('.place')) place.dispatchEvent(new Event('draw'));
}"""
_FOUND = """() => {
  const plain = new Set(('P BR STRONG EM S CODE PRE A H2 H3 H4 UL OL LI BLOCKQUOTE HR DIV ' +
    'TABLE THEAD TBODY TR TH TD SPAN BUTTON FIGURE FIGCAPTION').split(' '));
  const strange = [];
  let links = 0;
  for (const element of document.querySelectorAll('article .text *')) {
    // Drawings of the app's own buttons.
    if (element.closest('button')) continue;
    if (!plain.has(element.tagName)) strange.push(element.outerHTML);
    for (const { name } of element.attributes) {
      if (/^on|^style$|^src/i.test(name)) strange.push(element.outerHTML);
    }
    if (element.tagName === 'A') {
      links += 1;
      if (!/^(https?|mailto):$/.test(element.protocol)) strange.push(element.outerHTML);
      if (element.origin === location.origin) strange.push(element.outerHTML);
    }
  }
  return { strange, links };
}"""


def test_markdown_with_script_stays_text_on_the_page(
    chromium: Browser, web_root: Path, tiny_path: Path
) -> None:
    vectors: list[str] = json.loads(_VECTORS.read_text("utf-8"))
    turns = []
    for vector in vectors:
        turns.append({"role": "user", "content": vector})
        turns.append({"role": "assistant", "content": vector})
    chat = {"format": "gatelink.conversation", "version": 1, "model": "", "messages": turns}
    file: FilePayload = {
        "name": "x.json",
        "mimeType": "application/json",
        "buffer": json.dumps(chat).encode(),
    }
    with running_server(tiny_path, web_root=str(web_root)) as server:
        page = chromium.new_page(**DESKTOP)
        dialogs: list[str] = []
        requests: list[str] = []
        errors: list[str] = []
        page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: requests.append(request.url))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(server.url)
        expect(page.get_by_role("textbox", name="Message")).to_be_visible()
        page.locator("input[type=file][accept]").first.set_input_files(file)
        replies = page.get_by_role("article", name="Reply")
        expect(replies).to_have_count(len(vectors))
        page.evaluate(_DRAW_ALL)
        expect(page.locator(".words-only")).to_have_count(0)
        found = page.evaluate(_FOUND)
        shown = replies.first.locator(".text").text_content() or ""
        page.close()
    assert found["strange"] == []
    assert found["links"] >= 3
    assert shown.strip() == "<script>alert(1)</script>"
    assert [dialogs, errors] == [[], []]
    assert [url for url in requests if not url.startswith(server.url)] == []
