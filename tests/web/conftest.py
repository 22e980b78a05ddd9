"""A real Chromium, and the web app built from its source, for the tests of the page."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server_process import RunningServer, running_server
from tests.web.browsing import CHROMIUM, DESKTOP, PHONE, Browser, launched, node
from tests.web.chat_page import ChatPage
from tests.web.fake_page import fake_page, opened

_REPOSITORY = Path(__file__).parents[2]


def _missing() -> str | None:
    """What these tests need and this machine does not have."""
    if shutil.which(CHROMIUM) is None:
        return "Chromium is not installed (Debian: apt-get install chromium)"
    if shutil.which("node") is None or not (_REPOSITORY / "web/node_modules").is_dir():
        return "Node.js or web/node_modules is missing (npm ci in web/)"
    if shutil.which("certutil") is None:
        return "certutil is not installed (Debian: apt-get install libnss3-tools)"
    return None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip with the reason; in CI what is missing fails instead."""
    reason = _missing()
    if reason is None or os.environ.get("CI"):
        return
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def web_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The app as its source gives it; ``GATELINK_WEB_ROOT`` names one that is built already."""
    given = os.environ.get("GATELINK_WEB_ROOT")
    if given:
        return Path(given)
    out = tmp_path_factory.mktemp("web") / "app"
    subprocess.run([node(), "web/build.mjs", "--out", out], cwd=_REPOSITORY, check=True)
    return out


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """One browser for all tests of a file; tests open contexts of their own.

    Its driver is gone before the next file: it runs an event loop in this thread, and tests of
    other rooms run their own.
    """
    with launched() as browser:
        yield browser


@pytest.fixture(scope="session")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Of the page whose engine needs no model."""
    with fake_page(tmp_path_factory.mktemp("page")) as address:
        yield address


@pytest.fixture
def phone(chromium: Browser, url: str) -> Iterator[ChatPage]:
    """That page on a phone."""
    with opened(chromium, url, **PHONE) as chat:
        yield chat


@pytest.fixture
def desktop(chromium: Browser, url: str) -> Iterator[ChatPage]:
    """That page on a desktop."""
    with opened(chromium, url, **DESKTOP) as chat:
        yield chat


@pytest.fixture(scope="module")
def server(web_root: Path) -> Iterator[RunningServer]:
    """With the embedded model and the app."""
    with running_server(web_root=str(web_root)) as running:
        yield running


@pytest.fixture
def chat(chromium: Browser, server: RunningServer) -> Iterator[ChatPage]:
    """Its page on a desktop, with the model's ends."""
    context = chromium.new_context(**DESKTOP)
    try:
        page = ChatPage(context.new_page(), touch=False)
        page.page.goto(server.url)
        page.download()
        yield page
        assert page.errors == []
    finally:
        context.close()
