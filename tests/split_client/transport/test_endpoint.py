from __future__ import annotations

import pytest

from split_client.transport.endpoint import Endpoint, ModelNameInvalid, UrlInvalid


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("http://127.0.0.1:8095", "http://127.0.0.1:8095"),
        ("localhost:9", "http://localhost:9"),
        ("https://example.org/models/", "https://example.org/models"),
        ("ws://a.b:80/x", "http://a.b/x"),
        ("wss://a.b", "https://a.b"),
        ("http://[::1]:8095", "http://[::1]:8095"),
    ],
)
def test_urls_are_read_in_the_forms_people_write(text: str, url: str) -> None:
    assert Endpoint.parse(text).url == url


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ftp://a",
        "http://",
        "http://a:99999",
        "http://a?x=1",
        "http://u:p@a",
        "a b",
        "http://[::1",
        "http://[a]",
    ],
)
def test_what_is_no_server_url_is_refused(text: str) -> None:
    with pytest.raises(UrlInvalid) as caught:
        Endpoint.parse(text)
    assert caught.value.code == "url_invalid"


@pytest.mark.parametrize(
    ("host", "loopback"),
    [("127.0.0.1", True), ("localhost", True), ("[::1]", True), ("10.0.0.1", False), ("a", False)],
)
def test_loopback_is_told_from_the_network(host: str, loopback: bool) -> None:
    assert Endpoint.parse(f"http://{host}:1").is_loopback is loopback


@pytest.mark.parametrize(
    "host", ["a..b", "xn--", "xn--zzzzzz", "x" * 64, ".a", "\ud800", "a\u200b..b", "[::1%25\ud800]"]
)
def test_a_host_that_no_look_up_takes_is_refused_at_once(host: str) -> None:
    with pytest.raises(UrlInvalid, match="not a name or an address"):
        Endpoint.parse(f"https://{host}/x")


def test_a_path_without_a_form_in_utf8_is_refused() -> None:
    with pytest.raises(UrlInvalid):
        Endpoint.parse("http://a/\ud800")


@pytest.mark.parametrize("host", ["bücher.example", "xn--bcher-kva.example", "my_host", "a.b."])
def test_names_of_every_kind_are_taken(host: str) -> None:
    assert Endpoint.parse(f"http://{host}:8095").host == host


def test_a_model_is_a_path_below_that_of_its_server() -> None:
    server = Endpoint.parse("https://example.org/ai/")
    small = server.of_model("small.1")
    assert small.url == "https://example.org/ai/m/small.1"
    assert (small.model, server.model) == ("small.1", None)
    assert small.root == server.root == server
    assert small.of_model("b").url == "https://example.org/ai/m/b"
    assert small.of_model(None) == small
    assert Endpoint.parse("http://a/m/b").model == "b"
    assert Endpoint.parse("http://a/m/b/c").model is None


@pytest.mark.parametrize("name", ["", ".x", "../x", "a/b", "a b", "é", "x" * 65, "a\n"])
def test_what_no_server_calls_a_model_is_refused(name: str) -> None:
    with pytest.raises(ModelNameInvalid) as caught:
        Endpoint.parse("http://a").of_model(name)
    assert caught.value.code == "model_name_invalid"
