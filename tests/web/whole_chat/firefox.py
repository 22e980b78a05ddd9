"""The Firefox that is installed, driven over WebDriver BiDi (W3C), which it speaks itself."""

from __future__ import annotations

import base64
import itertools
import json
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

_NAMES = ("firefox-esr", "firefox")
_LISTENING = re.compile(r"WebDriver BiDi listening on (ws://\S+)")
_SECONDS = 60.0
# Nothing but the tests' own servers is reached for.
_PREFERENCES = {
    "app.normandy.enabled": False,
    "app.update.disabledForTesting": True,
    "browser.safebrowsing.downloads.enabled": False,
    "browser.safebrowsing.malware.enabled": False,
    "browser.safebrowsing.phishing.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "dom.push.connection.enabled": False,
    "extensions.getAddons.cache.enabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "services.settings.server": "http://127.0.0.1:1",
    "toolkit.telemetry.server": "http://127.0.0.1:1",
}


def installed() -> str | None:
    """The path of Firefox; None: there is none."""
    return next(filter(None, map(shutil.which, _NAMES)), None)


class Tab:
    """A page; ``call`` runs JavaScript functions beside it, which its policy does not concern."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._ids = itertools.count(1)
        self.ask("session.new", capabilities={})
        self._context: str = self.ask("browsingContext.create", type="tab")["context"]

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """One command and its answer."""
        number = next(self._ids)
        self._socket.send(json.dumps({"id": number, "method": method, "params": params}))
        while True:
            answer = json.loads(self._socket.recv(_SECONDS))
            if answer.get("id") != number:
                continue
            assert answer["type"] == "success", answer
            result: dict[str, Any] = answer["result"]
            return result

    def goto(self, url: str) -> None:
        """Load a page whole."""
        self.ask("browsingContext.navigate", context=self._context, url=url, wait="complete")

    def reload(self) -> None:
        """Load the page anew."""
        self.ask("browsingContext.reload", context=self._context, wait="complete")

    def resize(self, width: int, height: int) -> None:
        """Give the page this size, in CSS pixels."""
        viewport = {"width": width, "height": height}
        self.ask("browsingContext.setViewport", context=self._context, viewport=viewport)

    def call(self, function: str, *values: str | int) -> Any:
        """What ``function`` gives for ``values``, if it is text, a number, true or false."""
        arguments = [
            {"type": "string" if isinstance(value, str) else "number", "value": value}
            for value in values
        ]
        answer = self.ask(
            "script.callFunction",
            functionDeclaration=function,
            arguments=arguments,
            target={"context": self._context},
            awaitPromise=True,
        )
        assert answer["type"] == "success", answer
        return answer["result"].get("value")

    def until(self, function: str, *values: str | int) -> Any:
        """Wait until it gives something, and give that."""
        return _patiently(lambda: self.call(function, *values), function)

    def type(self, text: str) -> None:
        """Press keys; they go to what has the focus."""
        pressed = [{"type": kind, "value": key} for key in text for kind in ("keyDown", "keyUp")]
        keyboard = {"type": "key", "id": "keyboard", "actions": pressed}
        self.ask("input.performActions", context=self._context, actions=[keyboard])

    def picture(self, path: Path) -> None:
        """Keep what is seen."""
        answer = self.ask("browsingContext.captureScreenshot", context=self._context)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(answer["data"]))


@contextmanager
def firefox(folder: Path) -> Iterator[Tab]:
    """A tab of a Firefox with an empty profile in ``folder``."""
    found = installed()
    if found is None:
        raise FileNotFoundError(" or ".join(_NAMES))
    profile = folder / "profile"
    profile.mkdir()
    lines = (f"user_pref({json.dumps(k)}, {json.dumps(v)});" for k, v in _PREFERENCES.items())
    (profile / "user.js").write_text("\n".join(lines), "utf-8")
    log = folder / "firefox.log"
    command = [found, "--headless", "--no-remote", "--remote-debugging-port=0"]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, "--profile", str(profile)], stdout=output, stderr=output
        )
    try:
        address = _patiently(lambda: _LISTENING.search(log.read_text("utf-8", "replace")), "start")
        with connect(f"{address[1]}/session", max_size=None, proxy=None) as socket:
            tab = Tab(socket)
            yield tab
            tab.ask("browser.close")
        process.wait(_SECONDS)
    finally:
        process.kill()
        process.wait()


def _patiently(look: Callable[[], Any], what: str) -> Any:
    end = time.monotonic() + _SECONDS
    while not (found := look()):
        assert time.monotonic() < end, f"in vain: {what}"
        time.sleep(0.05)
    return found
