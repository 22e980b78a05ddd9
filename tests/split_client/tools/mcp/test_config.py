"""Files and flags that name MCP servers."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from split_client.tools.errors import ToolsInvalid
from split_client.tools.mcp.config import servers_in, typed_server


def test_a_server_is_typed_as_a_command_or_a_url() -> None:
    assert typed_server("a=https://x.example/mcp").url == "https://x.example/mcp"
    assert typed_server(f"a={sys.executable} -m 'x y'").words == (sys.executable, "-m", "x y")
    for text in ("a", "=x", "a b=https://x", "a=", "a=no-such-program-at-all"):
        with pytest.raises(ToolsInvalid):
            typed_server(text)


def test_a_file_has_the_usual_form(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    servers = {
        "local": {"command": sys.executable, "args": ["-V"], "env": {"KEY": "v"}},
        "web": {"url": "https://x.example/mcp", "headers": {"Authorization": "Bearer secret"}},
    }
    path.write_text(json.dumps({"mcpServers": servers}))
    local, web = servers_in(path)
    assert (local.name, local.words) == ("local", (sys.executable, "-V"))
    assert local.environ == {"KEY": "v"}
    assert (web.url, web.headers) == ("https://x.example/mcp", {"Authorization": "Bearer secret"})
    assert "secret" not in web.told


@pytest.mark.parametrize(
    "document",
    [
        *(None, [], {}, {"mcpServers": []}, {"mcpServers": {"a b": {"url": "https://x"}}}),
        {"mcpServers": {"a": {}}},
        {"mcpServers": {"a": {"url": "file:///etc/passwd"}}},
        {"mcpServers": {"a": {"command": "no-such-program-at-all"}}},
        {"mcpServers": {"a": {"command": sys.executable, "args": [3]}}},
        {"mcpServers": {"a": {"command": sys.executable, "env": {"A": 3}}}},
        {"mcpServers": {"a": {"url": "https://x", "headers": [3]}}},
    ],
    ids=range(11),
)
def test_other_files_are_refused(tmp_path: Path, document: Any) -> None:
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps(document))
    with pytest.raises(ToolsInvalid):
        servers_in(path)
