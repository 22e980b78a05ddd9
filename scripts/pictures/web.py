"""Takes docs/images/web-*.png: the web app in Chromium, with a real server and the embedded model.

    python -m scripts.pictures.web                    builds the app, takes all
    python -m scripts.pictures.web --web-root FOLDER  of an app that is built already

Needs Chromium, Node.js with web/node_modules, and the environment that ``scripts/setup`` makes.
"""

from __future__ import annotations

import argparse
import io
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, Page

from scripts.paths import ROOT
from tests.server_process import running_server
from tests.web import browsing

PICTURES = ROOT / "docs" / "images"
COLOURS = 48
# Sharp enough, at half the bytes of a phone's own resolution.
PHONE: dict[str, Any] = browsing.PHONE | {"device_scale_factor": 1.5}
DESKTOP = browsing.DESKTOP
QUESTIONS = ("What is split inference?", "What does the server see?")


def keep(page: Page, name: str) -> None:
    """Write what is seen, with few colours: the file is a fifth of the size and looks the same."""
    page.wait_for_timeout(500)
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    small = picture.quantize(COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    path = PICTURES / f"web-{name}.png"
    small.save(path, optimize=True)
    print(f"{path.relative_to(ROOT)}: {path.stat().st_size // 1000} kB")


def chat(page: Page, questions: tuple[str, ...]) -> None:
    """Download the model where that is asked for, and have a conversation."""
    for number, question in enumerate(questions):
        page.get_by_role("textbox", name="Message").fill(question)
        page.get_by_role("button", name="Send", exact=True).click()
        page.get_by_role("button", name="Copy reply").nth(number).wait_for()


def take(browser: Browser, url: str) -> None:
    """All pictures."""
    for name, device, scheme in (
        ("phone", PHONE, "light"),
        ("phone-dark", PHONE, "dark"),
        ("desktop", DESKTOP, "light"),
    ):
        page = browser.new_context(**device, color_scheme=scheme).new_page()
        page.goto(url)
        download = page.get_by_role("button", name="Download")
        download.wait_for()
        if name == "phone":
            keep(page, "download")
        download.click()
        chat(page, QUESTIONS)
        keep(page, name)
        if name == "phone":
            page.get_by_role("button", name="What the server sees").click()
            keep(page, "seen")
        page.context.close()


def main() -> None:
    """Build, serve, take."""
    parser = argparse.ArgumentParser(description="Pictures of the web app")
    parser.add_argument("--web-root", type=Path, help="the built app (default: built now)")
    given: Path | None = parser.parse_args().web_root
    with tempfile.TemporaryDirectory() as folder:
        root = given or Path(folder) / "web"
        if given is None:
            subprocess.run(["node", "web/build.mjs", "--out", root], cwd=ROOT, check=True)
        with running_server(web_root=str(root)) as server, browsing.launched() as browser:
            take(browser, f"{server.url}/")


if __name__ == "__main__":
    main()
