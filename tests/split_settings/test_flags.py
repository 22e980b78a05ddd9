from __future__ import annotations

import argparse
from collections.abc import Callable

import pytest

from split_settings import add_arguments, load
from tests.split_settings.example import Example, Other

Parse = Callable[..., argparse.Namespace]


def test_absent_flags_leave_nothing_in_the_namespace(parse: Parse) -> None:
    assert vars(parse()) == {}


def test_a_repeated_flag_gathers_its_values(parse: Parse) -> None:
    namespace = parse("--allow-origin", "http://a", "--allow-origin", "http://b")
    assert load(Example, namespace, environ={}).allow_origin == ("http://a", "http://b")


def test_a_boolean_flag_has_a_negative_form(parse: Parse) -> None:
    assert load(Example, parse("--no-auth"), environ={}).auth is False
    assert load(Example, parse("--open-door"), environ={}).open_door is True


def test_help_shows_defaults_groups_and_no_secret_default() -> None:
    parser = argparse.ArgumentParser()
    add_arguments(parser, Example)
    text = " ".join(parser.format_help().split())
    assert "(default: 8095)" in text
    assert "100% of an idle session (default: 300)" in text
    assert "network:" in text
    assert "--dtype {auto,float32}" in text
    assert "an allowed origin (may be repeated)" in text
    assert "bearer token" in text
    assert "SPLIT_SERVER_<NAME>" in text


def test_each_subcommand_has_its_own_flags() -> None:
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command")
    add_arguments(commands.add_parser("serve"), Example)
    add_arguments(commands.add_parser("check"), Other)
    serve = parser.parse_args(["serve", "--port", "1"])
    check = parser.parse_args(["check", "--depth", "9"])
    assert load(Example, serve, environ={}).port == 1
    assert load(Other, check, environ={}).depth == 9
    with pytest.raises(SystemExit):
        parser.parse_args(["check", "--port", "1"])
