"""The web app's wire as a process of Node.js that a test commands."""

from __future__ import annotations

import base64
import json
import os
import secrets
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests import oracle
from tests.server_process import RunningServer
from tests.web.browsing import node

_TOOL = Path(__file__).parents[3] / "web/test/tools/wire/client.js"


def table_of(model: Path) -> NDArray[np.float32]:
    """The embedding rows of the checkpoint at ``model``."""
    weights = oracle.model(model).get_input_embeddings().weight
    return np.ascontiguousarray(weights.detach().numpy(), np.float32)


class NodeClient:
    """The JavaScript client in a process of its own."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def ask(self, **command: Any) -> Any:
        """One command, one answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, "the tool ended"
        return json.loads(line)

    def extend(self, tokens: list[int]) -> NDArray[np.float32]:
        """The hidden state after ``tokens``."""
        answer = self.ask(extend=tokens)
        assert "hidden" in answer, answer
        return np.frombuffer(base64.b64decode(answer["hidden"]), np.float32)


@contextmanager
def node_client(
    server: RunningServer,
    table: NDArray[np.float32],
    folder: Path,
    url: str,
    mode: str,
    **where: Any,
) -> Iterator[NodeClient]:
    """A client of ``url``; ``authority``: a file with one that it trusts (PEM). Without a
    ``cacheSalt`` it finds nothing of what others have left on the server.
    """
    environment = dict(os.environ)
    if "authority" in where:
        environment["NODE_EXTRA_CA_CERTS"] = str(where.pop("authority"))
    path = folder / "table.f32"
    path.write_bytes(table.tobytes())
    command = [node(), "--experimental-websocket", "--no-warnings", str(_TOOL)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment) as process:
        client = NodeClient(process)
        opening = {"url": url, "mode": mode, "manifest": server.manifest, "table": str(path)}
        where.setdefault("cacheSalt", secrets.token_hex())
        client.ask(open=opening | {"hiddenSize": table.shape[1]} | where)
        try:
            yield client
        finally:
            if process.poll() is None:
                client.ask(close=True)
                assert process.stdin is not None
                process.stdin.close()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
