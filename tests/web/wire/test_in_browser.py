"""The wire in a real Chromium: with a token, without sockets, and off the network for a while."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import Browser, Page

from tests import oracle
from tests.proxies import CuttingProxy
from tests.server_process import RunningServer, running_server
from tests.web.wire.client import table_of

TOKEN = "a-token-of-enough-length"
_WEB = Path(__file__).parents[3] / "web"
_TOKENS = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8]
# A phone that refuses secure sockets under a private authority.
_NO_SOCKETS = """
window.WebSocket = class {
  constructor() {
    setTimeout(() => { this.onerror?.({}); this.onclose?.({ code: 1006, reason: '' }); });
  }
  close() {}
};
"""


@pytest.fixture(scope="module")
def server(tiny_path: Path) -> Iterator[RunningServer]:
    with running_server(tiny_path, token=TOKEN) as running:
        yield running


@pytest.fixture(scope="module")
def table(tiny_path: Path) -> NDArray[np.float32]:
    return table_of(tiny_path)[:10]


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The tool with all that it imports."""
    out = tmp_path_factory.mktemp("wire") / "wire.js"
    tool = "test/tools/wire/page.js"
    command = [_WEB / "node_modules/.bin/esbuild", tool, "--bundle", f"--outfile={out}"]
    subprocess.run([*command, "--log-level=error"], cwd=_WEB, check=True)
    return out.read_text()


class WirePage:
    """A client in a page of the server's origin."""

    def __init__(self, page: Page, model: Path) -> None:
        self._page, self._model = page, model

    def extend(self, length: int) -> None:
        """The logits are those of the whole model, so each token was appended once."""
        self.extend_to(_TOKENS[:length])

    def extend_to(self, tokens: list[int]) -> None:
        """As ``extend``, of any tokens of the table."""
        hidden = self._page.evaluate("(tokens) => client.extend(tokens)", tokens)
        head = oracle.model(self._model).get_output_embeddings().weight.detach().numpy()
        wanted = oracle.logits(self._model, tokens)[-1].numpy()
        got = head @ np.array(hidden, np.float32)
        np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-4)

    def state(self) -> Any:
        return self._page.evaluate("client.state()")


@contextmanager
def wire_page(
    chromium: Browser,
    server: RunningServer,
    table: NDArray[np.float32],
    script: str,
    model: Path,
    *,
    before: str = "",
    mode: str = "auto",
    **more: Any,
) -> Iterator[tuple[WirePage, Page]]:
    context = chromium.new_context()
    try:
        page = context.new_page()
        page.goto(more.get("url", server.url) + "/health")
        page.evaluate(f"() => {{ {before} }}")
        page.evaluate(f"() => {{ {script} }}")
        where = {"url": server.url, "token": TOKEN, "mode": mode, "manifest": server.manifest}
        given = where | {"table": table.tolist()} | more
        page.evaluate("(where) => { window.client = wire.open(where); }", given)
        yield WirePage(page, model), page
    finally:
        context.close()


@pytest.mark.parametrize(("mode", "carrier"), [("auto", "websocket"), ("http", "http")])
def test_a_browser_brings_its_token_along(
    chromium: Browser,
    server: RunningServer,
    table: NDArray[np.float32],
    script: str,
    tiny_path: Path,
    mode: str,
    carrier: str,
) -> None:
    with wire_page(chromium, server, table, script, tiny_path, mode=mode) as (wire, _):
        for length in (6, 7, 8):
            wire.extend(length)
        assert wire.state()["transport"] == carrier


def test_a_browser_that_opens_no_socket_goes_on_over_http(
    chromium: Browser,
    server: RunningServer,
    table: NDArray[np.float32],
    script: str,
    tiny_path: Path,
) -> None:
    with wire_page(chromium, server, table, script, tiny_path, before=_NO_SOCKETS) as (wire, _):
        for length in (6, 7, 8):
            wire.extend(length)
        state = wire.state()
    assert (state["transport"], state["sessions"], state["notices"]) == ("http", 1, [])


def test_a_step_waits_for_the_network_and_goes_on_when_it_is_back(
    chromium: Browser,
    server: RunningServer,
    table: NDArray[np.float32],
    script: str,
    tiny_path: Path,
) -> None:
    # Chromium takes requests off the network, and leaves sockets that are open alone.
    with wire_page(chromium, server, table, script, tiny_path, mode="http") as (wire, page):
        wire.extend(6)
        page.context.set_offline(True)
        page.evaluate("() => { window.step = client.extend([3, 1]); window.step.catch(() => 0); }")
        page.wait_for_function("() => client.state().notices.length > 0")
        page.context.set_offline(False)
        page.evaluate("() => { client.wake(); return window.step; }")
        wire.extend(9)
        state = wire.state()
    assert (state["sessions"], state["resends"]) == (1, 0)
    assert [notice["type"] for notice in state["notices"]][-1] == "reconnected"


def test_two_steps_of_a_long_prompt_are_under_way_and_a_cut_connection_loses_none(
    chromium: Browser,
    server: RunningServer,
    table: NDArray[np.float32],
    script: str,
    tiny_path: Path,
) -> None:
    tokens = [_TOKENS[place * place % len(_TOKENS)] for place in range(300)]
    with CuttingProxy(server.port) as proxy:
        about = {"url": proxy.url, "mode": "websocket", "maxRows": 16}
        with wire_page(chromium, server, table, script, tiny_path, **about) as (wire, page):
            page.evaluate("wire.watchSockets()")
            for end, passing in ((100, 3000), (200, 5200), (300, 10)):
                proxy.cut_after(passing)
                wire.extend_to(tokens[:end])
            state = wire.state()
    assert proxy.cuts >= 2
    assert (state["sessions"], state["resends"], state["rowsSent"]) == (1, 0, 300)
    assert state["most"] >= 2
