"""The app opens without its server, shows old chats, and takes a new build over whole."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, FilePayload, Page, expect

from tests.server_process import running_server
from tests.web.browsing import DESKTOP, PHONE, profile

_MILLISECONDS = 20_000
_TURNS = [
    {"role": "user", "content": "Where is the station?"},
    {
        "role": "assistant",
        "content": "**Behind** the hotel.\n\n<script>document.title='x'</script>",
    },
]
_CHAT = {"format": "gatelink.conversation", "version": 1, "model": "tiny", "messages": _TURNS}
# Answers once this page is served by a worker that has a whole build.
_KEPT = """async () => {
  await navigator.serviceWorker.ready;
  while (!navigator.serviceWorker.controller) await new Promise((go) => setTimeout(go, 20));
  const kept = [];
  for (const name of await caches.keys()) {
    for (const request of await (await caches.open(name)).keys()) {
      const answer = await (await caches.open(name)).match(request);
      const policy = answer.headers.get('content-security-policy');
      kept.push([name, new URL(request.url).pathname, policy !== null]);
    }
  }
  return kept;
}"""


@contextmanager
def _visitor(chromium: Browser, device: dict[str, Any]) -> Iterator[BrowserContext]:
    context = chromium.new_context(**device)
    context.set_default_timeout(_MILLISECONDS)
    try:
        yield context
    finally:
        context.close()


def _opened(context: BrowserContext, url: str) -> Page:
    page = context.new_page()
    page.goto(url)
    expect(page.get_by_role("textbox", name="Message")).to_be_visible(timeout=_MILLISECONDS)
    return page


def _import(page: Page) -> None:
    file: FilePayload = {
        "name": "chat.json",
        "mimeType": "application/json",
        "buffer": json.dumps(_CHAT).encode(),
    }
    page.locator("input[type=file][accept]").first.set_input_files(file)
    expect(page.get_by_text("Behind the hotel.").first).to_be_visible(timeout=_MILLISECONDS)


def _build(page: Page) -> str:
    source = page.locator("script[type=module]").first.get_attribute("src")
    assert source is not None
    return source.split("/")[2]


@pytest.mark.parametrize("device", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_without_its_server_the_page_opens_and_shows_old_chats(
    chromium: Browser, web_root: Path, tiny_path: Path, device: dict[str, Any]
) -> None:
    with _visitor(chromium, device) as context:
        with running_server(tiny_path, web_root=str(web_root)) as server:
            url = server.url
            page = _opened(context, url)
            page.evaluate(_KEPT)
            if device is PHONE:
                page.get_by_role("button", name="Saved chats").tap()
            _import(page)
            page.close()
        errors: list[str] = []
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(f"{url}/?from=home")
        # The chat that was open last is shown again, its script as text.
        expect(page.get_by_text("Behind the hotel.").first).to_be_visible(timeout=_MILLISECONDS)
        expect(page.get_by_text("<script>document.title='x'</script>")).to_be_visible()
        assert page.title() != "x"
        if device is PHONE:
            page.get_by_role("button", name="Saved chats").tap()
        listed = page.get_by_role("list", name="Saved chats")
        expect(listed.get_by_text("Where is the station?")).to_be_visible()
        assert errors == []


def test_only_the_apps_own_files_are_kept_and_each_with_its_policy(
    chromium: Browser, web_root: Path, tiny_path: Path
) -> None:
    with (
        running_server(tiny_path, web_root=str(web_root)) as server,
        _visitor(chromium, DESKTOP) as context,
    ):
        page = _opened(context, server.url)
        kept = page.evaluate(_KEPT)
        build = _build(page)
        with server.client() as client:
            listed = client.get("/app-files.json").json()
        policies = {path: own for name, path, own in kept if name == f"gatelink-app-{build}"}
        assert set(policies) == set(listed["files"])
        assert listed["build"] == build
        assert {"/", f"/app/{build}/engine.js", f"/app/{build}/kernels.wasm"} <= set(policies)
        assert all(policies.values())
        others = [path for name, path, *_ in kept if name != f"gatelink-app-{build}"]
        assert others == ["/app-files.json"]
        forbidden = ("/api", "/weights", "/v1", "/pair", "/health")
        assert not [path for path in policies if path.startswith(forbidden)]


def _changed(web_root: Path, folder: Path) -> Path:
    """The same app in another build."""
    shutil.copytree(web_root, folder)
    style = folder / "app/app.css"
    style.write_text(style.read_text("utf-8") + ".never{color:red}", "utf-8")
    return folder


def test_a_new_build_is_announced_and_taken_over_at_the_next_load(
    chromium: Browser, web_root: Path, tiny_path: Path, tmp_path: Path
) -> None:
    with _visitor(chromium, DESKTOP) as context:
        with running_server(tiny_path, web_root=str(web_root)) as server:
            page = _opened(context, server.url)
            page.evaluate(_KEPT)
            old, port = _build(page), server.port
        with running_server(
            tiny_path, web_root=str(_changed(web_root, tmp_path / "new")), port=port
        ):
            page.goto(server.url)
            assert _build(page) == old
            expect(page.get_by_text("A new version is here")).to_be_visible(timeout=_MILLISECONDS)
            page.get_by_role("button", name="Reload").click()
            expect(page.get_by_role("textbox", name="Message")).to_be_visible()
            page.wait_for_function(
                "old => document.querySelector('script[type=module]') &&"
                " !document.querySelector('script[type=module]').src.includes(old)",
                arg=old,
            )
            new = _build(page)
        page.goto(server.url)
        expect(page.get_by_role("textbox", name="Message")).to_be_visible(timeout=_MILLISECONDS)
        assert _build(page) == new != old


@pytest.mark.usefixtures("chromium")
def test_the_browser_finds_nothing_against_installing_the_app(
    web_root: Path, tiny_path: Path, tmp_path: Path
) -> None:
    with (
        running_server(tiny_path, web_root=str(web_root)) as server,
        profile(tmp_path / "profile") as context,
    ):
        page = context.new_page()
        page.goto(server.url)
        page.evaluate(_KEPT)
        developer = context.new_cdp_session(page)
        assert developer.send("Page.getInstallabilityErrors")["installabilityErrors"] == []
        assert developer.send("Page.getAppManifest")["errors"] == []
