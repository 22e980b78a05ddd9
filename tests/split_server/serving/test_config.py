"""The server's settings from flags, variables and a file."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from split_server.serving.config import ServerConfig
from split_settings import BadValue, add_arguments, resolve


def _config(*flags: str, **environ: str) -> ServerConfig:
    parser = argparse.ArgumentParser()
    add_arguments(parser, ServerConfig)
    return resolve(ServerConfig, parser.parse_args(flags), environ, {})


def test_the_defaults_are_the_documented_ones() -> None:
    config = _config()
    assert (config.model, config.host, config.port) == (None, "127.0.0.1", 8095)
    assert (config.dtype, config.device) == ("auto", "auto")
    assert (config.linears, config.quantize) == ("auto", "none")
    assert (config.max_sessions, config.session_ttl) == (64, 300.0)
    assert config.auth
    assert not config.allow_server_tokenize


def test_origins_are_kept_in_the_spelling_of_browsers() -> None:
    config = _config(
        "--allow-origin", "HTTPS://Chat.Example.org:443/", "--allow-origin", "http://a:8080"
    )
    assert config.allow_origin == ("https://chat.example.org", "http://a:8080")


@pytest.mark.parametrize("origin", ["*", "null", "chat.example.org", "https://a/b", ""])
def test_what_is_not_an_origin_is_refused(origin: str) -> None:
    with pytest.raises(BadValue, match="--allow-origin"):
        _config("--allow-origin", origin)


def test_hosts_of_encrypted_adapters_are_origins_that_a_policy_can_name() -> None:
    named = ("--adapter-origin", "HTTPS://Adapters.Example.org:443/")
    assert _config(*named).adapter_origin == ("https://adapters.example.org",)
    assert _config().adapter_origin == ()


@pytest.mark.parametrize(
    "origin",
    [
        "*",
        "https://*",
        "null",
        "a.example",
        "https://a/b",
        "ftp://a",
        "http://a; script-src *",
        "http://" + "a" * 201,
        "",
    ],
)
def test_no_more_than_an_origin_goes_into_the_policy(origin: str) -> None:
    with pytest.raises(BadValue, match="--adapter-origin"):
        _config("--adapter-origin", origin)


def test_an_ipv6_address_is_refused_for_what_policies_cannot_say() -> None:
    with pytest.raises(BadValue, match="give the host a name"):
        _config("--adapter-origin", "http://[::1]:8097")


@pytest.mark.parametrize("host", ["https://a", "a:80", "a b", "*"])
def test_what_is_not_a_host_name_is_refused(host: str) -> None:
    with pytest.raises(BadValue, match="--allow-host"):
        _config("--allow-host", host)


def test_no_auth_is_a_flag_and_a_variable() -> None:
    assert not _config("--no-auth").auth
    assert not _config(SPLIT_SERVER_AUTH="false").auth


def test_a_token_is_never_shown() -> None:
    config = _config("--token", "a-token-of-enough-length", "--token-file", "tokens")
    assert "a-token-of-enough-length" not in repr(config)
    assert config.token_file == Path("tokens")


@pytest.mark.parametrize("flag", ["--linears", "--quantize"])
def test_an_unknown_way_to_keep_matrices_is_refused(flag: str) -> None:
    with pytest.raises((SystemExit, BadValue)):
        _config(flag, "int3")


def test_a_balancer_is_named_by_its_address() -> None:
    assert _config("--balancer", "127.0.0.1", "--balancer", "::1").balancer == ("127.0.0.1", "::1")
    with pytest.raises(BadValue, match="--balancer"):
        _config("--balancer", "proxy.example.org")


def test_groups_are_named_with_their_members() -> None:
    groups = ("us=ann+bob", "them=device:1f2e")
    assert _config("--kv-groups", "us=ann + bob", "--kv-groups", groups[1]).kv_groups == groups
    assert _config(SPLIT_SERVER_KV_GROUPS=",".join(groups)).kv_groups == groups
    with pytest.raises(BadValue, match="--kv-groups: 'us=ann,bob' is not a group; write it like"):
        _config("--kv-groups", "us=ann,bob")


def test_a_second_listener_has_an_address_and_a_port() -> None:
    assert _config().ollama_listen is None
    assert _config("--ollama-listen", "[::1]:11434").ollama_listen == "[::1]:11434"
    for wrong in ("11434", "127.0.0.1", "127.0.0.1:99999", "http://127.0.0.1:1"):
        with pytest.raises(BadValue, match=r"127\.0\.0\.1:11434"):
            _config("--ollama-listen", wrong)
