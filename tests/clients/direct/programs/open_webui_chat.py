"""Open WebUI's own server, connected to OpenAI's API and to Ollama's, asked as by its page."""

import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import time

import httpx

base_url, key, given, ollama = sys.argv[1], sys.argv[2], json.loads(sys.argv[3]), sys.argv[4]
SECONDS = 240
FORM = "response_format"


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


folder = tempfile.mkdtemp()
port = free_port()
settings = {
    "DATA_DIR": folder,
    "WEBUI_AUTH": "False",
    "WEBUI_SECRET_KEY": secrets.token_hex(),
    "OFFLINE_MODE": "True",
    # Nothing is downloaded for searches in documents.
    "RAG_EMBEDDING_ENGINE": "openai",
    "OPENAI_API_BASE_URLS": base_url,
    "OPENAI_API_KEYS": key,
    "OLLAMA_BASE_URLS": ollama,
}
serve = "from open_webui import app; app()"
command = [sys.executable, "-c", serve, "serve", "--host", "127.0.0.1", "--port", str(port)]
webui = subprocess.Popen(
    command, env=os.environ | settings, cwd=folder, stdout=sys.stderr, stderr=sys.stderr
)
client = httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=60)


def up() -> bool:
    try:
        return client.get("/health").status_code == 200
    except httpx.HTTPError:
        return False


def asked(model, messages, stream=False, **more):
    body = {"model": model, "messages": messages, "temperature": 0, "seed": 1} | more
    return client.post("/api/chat/completions", json=body | {"stream": stream})


def message(answer):
    assert answer.status_code == 200, answer.text
    return answer.json()["choices"][0]["message"]


def streamed(answer):
    lines = [line.removeprefix("data: ") for line in answer.text.splitlines() if line]
    parts = [json.loads(line) for line in lines if line.startswith("{")]
    deltas = [part["choices"][0]["delta"] for part in parts if part.get("choices")]
    return "".join(delta.get("content") or "" for delta in deltas)


def round_trip(model):
    """The tool's call, and the reply to its result, whole and streamed."""
    question = {"role": "user", "content": given["question"]}
    call = message(asked(model, [question], tools=[given["tool"]]))["tool_calls"][0]
    arguments = call["function"]["arguments"]
    made = {"role": "assistant", "content": "", "tool_calls": [call]}
    result = {"role": "tool", "tool_call_id": call["id"], "content": given["result"]}
    turns = [question, made, result]
    chat = message(asked(model, turns, tools=[given["tool"]]))["content"]
    stream = streamed(asked(model, turns, stream=True, tools=[given["tool"]]))
    return {
        "tool": json.loads(arguments) if isinstance(arguments, str) else arguments,
        "chat": chat,
        "stream": stream,
    }


def broken_off(model):
    """A reader that leaves after the first piece of a long reply."""
    body = {"model": model, "messages": [{"role": "user", "content": "x"}], "stream": True}
    with client.stream("POST", "/api/chat/completions", json=body | {"max_tokens": 1500}) as answer:
        return bool(next(answer.iter_lines()))


try:
    ends = time.monotonic() + SECONDS
    while not up():
        assert time.monotonic() < ends
        assert webui.poll() is None
        time.sleep(0.5)
    told = client.post("/api/v1/auths/signin", json={"email": "", "password": ""}).json()
    client.headers["Authorization"] = f"Bearer {told['token']}"
    # As its settings have it: a connection to Ollama has a key of its own.
    connection = {"OLLAMA_BASE_URLS": [ollama], "OLLAMA_API_CONFIGS": {"0": {"key": key}}}
    client.post("/ollama/config/update", json={"ENABLE_OLLAMA_API": True} | connection)
    by_openai = [one["id"] for one in client.get("/openai/models").json()["data"]]
    by_ollama = [one["model"] for one in client.get("/ollama/api/tags").json()["models"]]
    client.get("/api/models?refresh=true").raise_for_status()
    found = round_trip(by_openai[0])
    found["ollama"] = round_trip(by_ollama[0])
    schema = {"type": "json_schema", "json_schema": {"name": "n", "schema": given["schema"]}}
    question = [{"role": "user", "content": given["question"]}]
    form = message(asked(by_openai[0], question, response_format=schema))["content"]
    found["schema"] = json.loads(form)
    found["refused"] = asked(by_openai[0], question, n=99).status_code
    found["left"] = [broken_off(by_openai[0]), broken_off(by_ollama[0])]
    print(json.dumps(found))
finally:
    webui.terminate()
    webui.wait(30)
