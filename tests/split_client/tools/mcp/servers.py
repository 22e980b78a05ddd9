"""An MCP server as a program, with the faults that a test names."""

from __future__ import annotations

import sys
from pathlib import Path

_SOURCE = """
import json, sys, time
fault = sys.argv[1] if len(sys.argv) > 1 else ""
def say(message):
    sys.stdout.write(json.dumps(message) + "\\n")
    sys.stdout.flush()
for line in sys.stdin:
    message = json.loads(line)
    method, number = message.get("method"), message.get("id")
    if method == "initialize":
        if fault == "dies": sys.exit(3)
        if fault == "hangs": time.sleep(60)
        if fault == "garbage": print("hello"); sys.stdout.flush(); continue
        if fault == "endless": sys.stdout.write("x" * (9 << 20)); sys.stdout.flush(); continue
        say({"jsonrpc": "2.0", "method": "notifications/message", "params": {}})
        say({"jsonrpc": "2.0", "id": "s1", "method": "sampling/createMessage", "params": {}})
        version = "1999-01-01" if fault == "old" else message["params"]["protocolVersion"]
        say({"jsonrpc": "2.0", "id": number, "result": {"protocolVersion": version}})
    elif method == "tools/list":
        many = 5000 if fault == "many" else 2
        start = int(message["params"].get("cursor", 0))
        names = ["add", "loud"] if many == 2 else [f"t{n}" for n in range(start, start + 50)]
        schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
        if fault == "deep":
            for _ in range(80): schema = {"type": "object", "properties": {"x": schema}}
        tools = [{"name": n, "description": n, "inputSchema": schema} for n in names]
        result = {"tools": tools}
        if fault == "loop": result["nextCursor"] = "0"; result["tools"] = []
        if many > 2 and start + 50 < many: result["nextCursor"] = str(start + 50)
        say({"jsonrpc": "2.0", "id": number, "result": result})
    elif method == "tools/call":
        if fault == "later": sys.exit(1)
        name, a = message["params"]["name"], message["params"]["arguments"]["a"]
        if a < 0:
            say({"jsonrpc": "2.0", "id": number, "error": {"code": 1, "message": "below 0"}})
        elif name == "loud":
            parts = [{"type": "text", "text": "no"}, {"type": "image", "data": ""}]
            say({"jsonrpc": "2.0", "id": number, "result": {"content": parts, "isError": True}})
        else:
            parts = [{"type": "text", "text": str(a + 1)}]
            say({"jsonrpc": "2.0", "id": number, "result": {"content": parts}})
"""


def program(folder: Path, fault: str = "") -> list[str]:
    """The command of a server; ``fault``: what is wrong with it."""
    path = folder / "mcp_server.py"
    path.write_text(_SOURCE)
    return [sys.executable, str(path), *filter(None, [fault])]
