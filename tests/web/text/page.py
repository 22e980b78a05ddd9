"""A page that has the tokenizer and the chat template of the web app, under the app's policy."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, Route

WEB = Path(__file__).parents[3] / "web"
ADDRESS = "https://page.invalid/"
POLICY = "default-src 'none'; script-src 'self'; worker-src 'self'"
ENTRIES = ("page=test/tools/text/page.js", "template=src/text/template/worker.js")


@contextmanager
def text_page(browser: Browser, folder: Path) -> Iterator[Page]:
    """The page after its scripts have run; ``folder`` takes the built files."""
    built = [*ENTRIES, "--bundle", "--format=esm", f"--outdir={folder}", "--log-level=warning"]
    subprocess.run([WEB / "node_modules/.bin/esbuild", *built], cwd=WEB, check=True)
    page = browser.new_page()
    page.route(f"{ADDRESS}**", lambda route: _serve(route, folder))
    try:
        page.goto(ADDRESS)
        page.wait_for_function("() => window.render")
        yield page
    finally:
        page.close()


def _serve(route: Route, folder: Path) -> None:
    name = route.request.url.removeprefix(ADDRESS)
    headers = {"Content-Security-Policy": POLICY}
    if not name:
        body = '<!doctype html><script type="module" src="/page.js"></script>'
        route.fulfill(body=body, content_type="text/html", headers=headers)
    elif (folder / name).is_file():
        script = (folder / name).read_text("utf-8")
        route.fulfill(body=script, content_type="text/javascript", headers=headers)
    else:
        route.fulfill(status=404)
