"""Starting Chromium for tests, with a certificate authority that it trusts where one is needed."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import (
    Browser,
    BrowserContext,
    Playwright,
    PlaywrightContextManager,
    expect,
    sync_playwright,
)

__all__ = ["CHROMIUM", "DESKTOP", "PHONE", "Browser", "launched", "node", "profile", "trusting"]

CHROMIUM = "chromium"
# What is expected of a page comes at once, but for a machine that is busy.
MILLISECONDS = 30_000
expect.set_options(timeout=MILLISECONDS)
# Nothing but the tests' own servers is reached for.
FLAGS = (
    "--no-sandbox",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-gpu",
)
PHONE: dict[str, Any] = {
    "viewport": {"width": 360, "height": 740},
    "device_scale_factor": 2,
    "is_mobile": True,
    "has_touch": True,
}
DESKTOP: dict[str, Any] = {"viewport": {"width": 1280, "height": 800}}


def node() -> str:
    """The path of Node.js."""
    found = shutil.which("node")
    if found is None:
        raise FileNotFoundError("node")
    return found


class _Driver:
    """The one driver that a process may run at a time, for as long as somebody uses it."""

    def __init__(self) -> None:
        self._running: PlaywrightContextManager | None = None
        self._playwright: Playwright | None = None
        self._users = 0

    @contextmanager
    def used(self) -> Iterator[Playwright]:
        """The driver; the first user starts it, the last one stops it."""
        if self._running is None or self._playwright is None:
            self._running = sync_playwright()
            self._playwright = self._running.__enter__()
        self._users += 1
        try:
            yield self._playwright
        finally:
            self._users -= 1
            if self._users == 0 and self._running is not None:
                self._running.__exit__()
                self._running = self._playwright = None


_DRIVER = _Driver()


@contextmanager
def launched(*flags: str, env: dict[str, str] | None = None) -> Iterator[Browser]:
    """A browser with an empty profile."""
    with _DRIVER.used() as driver:
        browser = driver.chromium.launch(
            executable_path=shutil.which(CHROMIUM), args=[*FLAGS, *flags], env=env
        )
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def profile(folder: Path, *flags: str, **options: Any) -> Iterator[BrowserContext]:
    """A browser whose profile lies in ``folder`` and outlives it."""
    with _DRIVER.used() as driver:
        context = driver.chromium.launch_persistent_context(
            folder, executable_path=shutil.which(CHROMIUM), args=[*FLAGS, *flags], **options
        )
        try:
            yield context
        finally:
            context.close()


@contextmanager
def trusting(authority: Path, home: Path) -> Iterator[Browser]:
    """A browser whose user has installed the certificate ``authority`` (PEM or DER).

    Chromium on Linux reads a user's authorities from the NSS database in the home folder.
    """
    database = home / ".pki/nssdb"
    database.mkdir(parents=True)
    _certutil("-N", "-d", f"sql:{database}", "--empty-password")
    _certutil("-A", "-d", f"sql:{database}", "-t", "C,,", "-n", "gatelink", "-i", str(authority))
    with launched(env=dict(os.environ) | {"HOME": str(home)}) as browser:
        yield browser


def _certutil(*arguments: str) -> None:
    found = shutil.which("certutil")
    if found is None:
        raise FileNotFoundError("certutil (Debian: apt-get install libnss3-tools)")
    subprocess.run([found, *arguments], check=True, capture_output=True)
