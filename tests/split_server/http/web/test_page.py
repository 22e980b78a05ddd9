"""The web app as a browser's requests find it."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.server_process import RunningServer, running_server
from tests.split_server.conftest import TOKEN
from tests.web_folder import web_folder

_NAVIGATION = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return web_folder(tmp_path_factory.mktemp("web"))


@pytest.fixture(scope="module")
def server(tiny_path: Path, folder: Path) -> Iterator[RunningServer]:
    """Asks for a token, and serves a made-up app."""
    with running_server(tiny_path, token=TOKEN, web_root=str(folder)) as running:
        yield running


@pytest.fixture
def client(server: RunningServer) -> Iterator[httpx.Client]:
    with server.client(headers={"Accept-Encoding": "identity"}) as opened:
        yield opened


def _build(client: httpx.Client) -> str:
    return str(client.get("/app-files.json").json()["build"])


def test_pages_and_files_need_no_token_and_nothing_else_goes_without(client: httpx.Client) -> None:
    listed = client.get("/app-files.json").json()["files"]
    for path in [*listed, "/pair", "/service-worker.js"]:
        assert client.get(path).status_code == 200, path
    for path in ("/weights/manifest.json", "/index.html", "/api/v1/adapters", "/app"):
        assert client.get(path).status_code == 401, path


def test_the_page_leads_to_the_files_of_its_build(client: httpx.Client, folder: Path) -> None:
    path = f"/app/{_build(client)}/app.js"
    assert path in client.get("/").text
    assert client.get(path).content == (folder / "app/app.js").read_bytes()


def test_the_list_holds_what_the_app_needs_without_the_server(client: httpx.Client) -> None:
    listed = client.get("/app-files.json").json()
    names = {name.replace(listed["build"], "B") for name in listed["files"]}
    assert names == {
        "/",
        "/app/B/app.js",
        "/app/B/app.css",
        "/app/B/kernels.wasm",
        "/manifest.webmanifest",
        "/icons/icon.png",
    }


@pytest.mark.parametrize(
    "path",
    [
        "/app/0123456789abcdef/app.js",
        "/app/BUILD/nothing.js",
        "/app/BUILD/../../config.py",
        "/app/BUILD/%2e%2e/%2e%2e/pyproject.toml",
        "/app/BUILD//etc/passwd",
        "/app/%42UILD%00/app.js",
        "/icons/..%2fapp%2fapp.js",
        "/icons/",
        "/app/",
    ],
)
def test_other_builds_and_other_names_are_not_found(path: str, client: httpx.Client) -> None:
    raw = path.replace("BUILD", _build(client)).encode()
    answer = client.get(httpx.URL(client.base_url).copy_with(raw_path=raw))
    assert answer.status_code in (401, 404)
    assert "error" in answer.json()
    assert path.startswith("/app/BUILD/..") or answer.status_code == 404


def test_files_of_a_build_are_kept_and_everything_else_is_checked(client: httpx.Client) -> None:
    build = _build(client)
    for name in ("app.js", "app.css", "kernels.wasm"):
        kept = client.get(f"/app/{build}/{name}").headers["cache-control"]
        assert kept == "public, max-age=31536000, immutable"
    for path in ("/", "/pair", "/service-worker.js", "/manifest.webmanifest", "/icons/icon.png"):
        assert client.get(path).headers["cache-control"] == "no-cache"


@pytest.mark.parametrize("path", ["/", "/service-worker.js", "/app-files.json", "/icons/icon.png"])
def test_an_unchanged_file_is_not_sent_again(path: str, client: httpx.Client) -> None:
    first = client.get(path)
    again = client.get(path, headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["etag"] == first.headers["etag"]
    assert client.get(path, headers={"If-None-Match": '"other"'}).status_code == 200


def test_a_head_has_the_headers_alone(client: httpx.Client) -> None:
    path = f"/app/{_build(client)}/app.js"
    whole, head = client.get(path), client.head(path)
    assert head.status_code == 200
    assert head.content == b""
    assert head.headers["content-length"] == whole.headers["content-length"]
    assert head.headers["etag"] == whole.headers["etag"]


def test_other_methods_are_refused(client: httpx.Client) -> None:
    answer = client.post("/")
    assert (answer.status_code, answer.json()["error"]["code"]) == (405, "method_not_allowed")


@pytest.mark.parametrize(
    ("accepted", "compressed"),
    [
        ("gzip, deflate, br", True),
        ("br;q=1, GZIP;q=0.5", True),
        ("*", True),
        ("identity", False),
        ("gzip;q=0.000", False),
        ("gzip;q=x", False),
        ("*, gzip;q=0", False),
        ("", False),
    ],
)
def test_it_is_compressed_for_whom_it_suits(
    accepted: str, compressed: bool, client: httpx.Client, folder: Path
) -> None:
    path = f"/app/{_build(client)}/app.js"
    with client.stream("GET", path, headers={"Accept-Encoding": accepted}) as answer:
        sent = b"".join(answer.iter_raw())
        headers = answer.headers
    content = (folder / "app/app.js").read_bytes()
    assert headers["vary"] == "Accept-Encoding"
    assert (headers.get("content-encoding") == "gzip") is compressed
    assert (gzip.decompress(sent) if compressed else sent) == content
    plain = client.get(path).headers["etag"]
    assert (headers["etag"] != plain) is compressed


def test_who_takes_it_gets_what_the_build_has_compressed(tmp_path: Path, tiny_path: Path) -> None:
    folder = web_folder(tmp_path)
    (folder / "app/app.js.br").write_bytes(b"smaller")
    with running_server(tiny_path, web_root=str(folder)) as running, running.client() as client:
        path = f"/app/{_build(client)}/app.js"
        tags = set()
        for accepted, coding in (("gzip, br", "br"), ("gzip, br;q=0", "gzip"), ("identity", None)):
            headers = {"Accept-Encoding": accepted}
            with client.stream("GET", path, headers=headers) as answer:
                sent = b"".join(answer.iter_raw())
            assert answer.headers.get("content-encoding") == coding
            assert (sent == b"smaller") is (coding == "br")
            tags.add(answer.headers["etag"])
    assert len(tags) == 3


def test_a_browser_keeps_both_forms_apart(client: httpx.Client) -> None:
    path, zipped = f"/app/{_build(client)}/app.js", {"Accept-Encoding": "gzip"}
    tag = client.get(path, headers=zipped).headers["etag"]
    assert client.get(path, headers=zipped | {"If-None-Match": tag}).status_code == 304
    assert client.get(path, headers={"If-None-Match": tag}).status_code == 200


def test_every_answer_carries_the_policy(client: httpx.Client) -> None:
    tag = client.get("/").headers["etag"]
    paths = ["/", "/pair", "/service-worker.js", f"/app/{_build(client)}/app.js"]
    answers = [
        *(client.get(path) for path in paths),
        client.get("/", headers={"If-None-Match": tag}),
    ]
    for answer in answers:
        policy = answer.headers["content-security-policy"].split("; ")
        assert policy[0] == "default-src 'none'"
        assert "script-src 'self' 'wasm-unsafe-eval'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "form-action 'none'" in policy
        assert "require-trusted-types-for 'script'" in policy
        assert not any(word in " ".join(policy) for word in ("unsafe-inline", "'unsafe-eval'", "*"))
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cross-origin-embedder-policy"] == "require-corp"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"


def test_documents_carry_what_browsers_ask_documents_for(client: httpx.Client) -> None:
    tag = client.get("/").headers["etag"]
    documents = [client.get(path) for path in ("/", "/pair")]
    unchanged = client.get("/", headers={"If-None-Match": tag})
    assert unchanged.status_code == 304
    for answer in (*documents, unchanged):
        assert answer.headers["cross-origin-opener-policy"] == "same-origin"
        assert "camera=()" in answer.headers["permissions-policy"]
    # Of a script nobody reads them, and a first load has some twenty.
    for path in ("/service-worker.js", f"/app/{_build(client)}/app.js"):
        headers = client.get(path).headers
        assert not {"cross-origin-opener-policy", "permissions-policy"} & headers.keys()


def test_the_page_may_ask_its_own_server_and_the_named_adapter_hosts(
    tiny_path: Path, folder: Path, client: httpx.Client
) -> None:
    """Of the names it makes another build: files of a build are kept with their headers."""
    hosts = ("http://127.0.0.1:8097", "https://adapters.example.org")
    others = {"web_root": str(folder), "compat": False, "adapter_origin": (*hosts, hosts[0])}
    with running_server(tiny_path, **others) as other, other.client() as named:
        for asked, wanted in ((client, ()), (named, (*hosts, hosts[0]))):
            for path in ("/", "/service-worker.js", f"/app/{_build(asked)}/app.js"):
                policy = asked.get(path).headers["content-security-policy"].split("; ")
                assert " ".join(("connect-src 'self'", *wanted)) in policy
        assert _build(client) != _build(named)
        assert named.get("/api/v1/adapters").json()["adapter_hosts"] == list(hosts)
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    assert "adapter_hosts" not in client.get("/api/v1/adapters", headers=bearer).json()


@pytest.mark.parametrize("path", ["/", "/pair"])
@pytest.mark.parametrize("site", ["cross-site", "same-site", "none"])
def test_a_link_of_any_site_may_lead_to_the_page(
    path: str, site: str, client: httpx.Client
) -> None:
    answer = client.get(path, headers=_NAVIGATION | {"Sec-Fetch-Site": site})
    assert answer.status_code == 200
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize(
    ("method", "path", "changed"),
    [
        ("GET", "/", {"Sec-Fetch-Dest": "iframe"}),
        ("GET", "/", {"Sec-Fetch-Dest": "embed"}),
        ("GET", "/", {"Sec-Fetch-Mode": "no-cors"}),
        ("GET", "/", {"Origin": "https://evil.example"}),
        ("HEAD", "/", {}),
        ("POST", "/", {}),
        ("GET", "/app-files.json", {}),
        ("GET", "/service-worker.js", {}),
        ("GET", "/weights/manifest.json", {}),
        ("GET", "/ca.crt", {}),
    ],
)
def test_anything_else_of_another_site_is_refused(
    method: str, path: str, changed: dict[str, str], client: httpx.Client
) -> None:
    headers = _NAVIGATION | {"Sec-Fetch-Site": "cross-site"} | changed
    answer = client.request(method, path, headers=headers)
    assert answer.status_code == 403
    assert method == "HEAD" or answer.json()["error"]["code"] == "forbidden_origin"


def test_without_the_app_there_is_no_page(tiny_path: Path) -> None:
    with running_server(tiny_path, web_root="none") as server, server.client() as client:
        for path in ("/", "/pair", "/app/x/app.js", "/app-files.json", "/service-worker.js"):
            answer = client.get(path)
            assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")
        visit = client.get("/", headers=_NAVIGATION | {"Sec-Fetch-Site": "cross-site"})
        assert visit.status_code == 403
