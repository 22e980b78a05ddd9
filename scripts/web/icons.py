"""Renders the web app's icons from their drawings; run it after changing an SVG.

python -m scripts.web.icons [--chromium PATH]
"""

from __future__ import annotations

import argparse
import io
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

from scripts.paths import ROOT

ICONS = ROOT / "web" / "static" / "icons"
# name of the picture: drawing, edge in pixels
PICTURES = {
    "icon-192.png": ("icon.svg", 192),
    "icon-512.png": ("icon.svg", 512),
    "icon-180.png": ("maskable.svg", 180),
    "maskable-512.png": ("maskable.svg", 512),
}
COLOURS = 32


def main() -> None:
    """Write all pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    chosen = parser.parse_args()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chosen.chromium, args=["--no-sandbox", "--disable-quic"]
        )
        for name, (drawing, edge) in PICTURES.items():
            (ICONS / name).write_bytes(_picture(browser, ICONS / drawing, edge))
        browser.close()


def _picture(browser: Browser, drawing: Path, edge: int) -> bytes:
    """The drawing as a small PNG with transparent corners."""
    page = browser.new_page(viewport={"width": edge, "height": edge})
    svg = drawing.read_text("utf-8").replace("<svg ", f'<svg width="{edge}" height="{edge}" ', 1)
    page.set_content(f'<body style="margin:0;line-height:0">{svg}')
    shot = page.screenshot(omit_background=True)
    page.close()
    image = Image.open(io.BytesIO(shot)).convert("RGBA")
    small = image.quantize(COLOURS, method=Image.Quantize.FASTOCTREE)
    target = io.BytesIO()
    small.save(target, "PNG", optimize=True)
    return target.getvalue()


if __name__ == "__main__":
    main()
