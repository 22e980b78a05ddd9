from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from split_settings import BadValue, UnknownKey, load, resolve
from split_settings.variables import unread_variables
from tests.split_settings.example import Example, Other, Room

Parse = Callable[..., argparse.Namespace]
NO_FLAGS = argparse.Namespace()


def test_a_flag_beats_the_variable_the_file_and_the_default(parse: Parse) -> None:
    config = resolve(Example, parse("--port", "1"), {"SPLIT_SERVER_PORT": "2"}, {"port": 3})
    assert config.port == 1


def test_a_variable_beats_the_file() -> None:
    assert resolve(Example, NO_FLAGS, {"SPLIT_SERVER_PORT": "2"}, {"port": 3}).port == 2


def test_the_file_beats_the_default() -> None:
    assert resolve(Example, NO_FLAGS, {}, {"port": 3}).port == 3
    assert resolve(Example, NO_FLAGS, {}, {}) == Example()


def test_an_empty_variable_counts_as_absent() -> None:
    assert resolve(Example, NO_FLAGS, {"SPLIT_SERVER_TOKEN": ""}, {"token": "t"}).token == "t"


def test_a_negative_flag_beats_a_true_variable(parse: Parse) -> None:
    assert resolve(Example, parse("--no-auth"), {"SPLIT_SERVER_AUTH": "1"}, {}).auth is False


@pytest.mark.parametrize("word", ["1", "true", "YES", " on "])
def test_a_variable_says_true_in_several_words(word: str) -> None:
    assert resolve(Example, NO_FLAGS, {"SPLIT_SERVER_OPEN_DOOR": word}, {}).open_door is True


def test_a_list_variable_is_split_at_commas() -> None:
    environ = {"SPLIT_SERVER_ALLOW_ORIGIN": "http://a, http://b,"}
    assert resolve(Example, NO_FLAGS, environ, {}).allow_origin == ("http://a", "http://b")


def test_a_list_in_the_file_may_be_one_value() -> None:
    assert resolve(Example, NO_FLAGS, {}, {"allow_origin": "a"}).allow_origin == ("a",)
    assert resolve(Example, NO_FLAGS, {}, {"allow_origin": ["a", "b"]}).allow_origin == ("a", "b")


def test_types_come_out_as_declared(parse: Parse) -> None:
    config = resolve(
        Example, parse("--model", "~/m", "--even", "4", "--evens", "6"), {}, {"ttl": 2}
    )
    assert config.model == Path("~/m").expanduser()
    assert (config.even, config.evens) == (4, (6,))
    assert isinstance(config.ttl, float)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--port", "x"], "--port: expected a whole number, got 'x'"),
        (["--port", "70000"], "--port: 70000 is above the largest allowed value 65535"),
        (["--port", "-1"], "--port: -1 is below the smallest allowed value 0"),
        (["--ttl", "nan"], "--ttl: expected a finite number below 2^63"),
        (["--ttl", "inf"], "--ttl: expected a finite number below 2^63"),
        (["--dtype", "int3"], "--dtype: 'int3' is not one of auto, float32"),
        (["--even", "3"], "--even: 3 is odd"),
        (["--model", ""], "--model: expected a path, got ''"),
    ],
)
def test_a_bad_flag_is_named_with_the_reason(parse: Parse, flags: list[str], message: str) -> None:
    with pytest.raises(BadValue) as caught:
        resolve(Example, parse(*flags), {}, {})
    assert str(caught.value) == message
    assert caught.value.code == "bad_value"


def test_a_bad_variable_is_named() -> None:
    with pytest.raises(BadValue, match=r"^SPLIT_SERVER_AUTH: expected true or false, got 'maybe'"):
        resolve(Example, NO_FLAGS, {"SPLIT_SERVER_AUTH": "maybe"}, {})


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"port": "8095"}, "f.toml, server.port: expected a whole number, got text"),
        ({"port": True}, "f.toml, server.port: expected a whole number, got a boolean"),
        ({"port": 1.5}, "f.toml, server.port: expected a whole number, got a number"),
        ({"ttl": 10**400}, "f.toml, server.ttl: expected a finite number below 2^63"),
        ({"auth": 1}, "f.toml, server.auth: expected true or false, got a whole number"),
        ({"host": ["a"]}, "f.toml, server.host: expected text, got an array"),
        ({"host": {}}, "f.toml, server.host: expected text, got a table"),
        (
            {"allow_origin": ["a", 1]},
            "f.toml, server.allow_origin: expected text, got a whole number",
        ),
    ],
)
def test_a_bad_key_is_named_with_its_file(table: dict[str, object], message: str) -> None:
    with pytest.raises(BadValue) as caught:
        resolve(Example, NO_FLAGS, {}, table, path="f.toml")
    assert str(caught.value) == message


def test_a_bad_secret_is_never_repeated() -> None:
    with pytest.raises(BadValue) as caught:
        resolve(Example, NO_FLAGS, {"SPLIT_SERVER_PIN": "hunter2"}, {})
    assert "hunter2" not in str(caught.value)
    assert "SPLIT_SERVER_PIN" in str(caught.value)


def test_an_unknown_key_is_refused_with_the_nearest_names() -> None:
    with pytest.raises(UnknownKey) as caught:
        resolve(Example, NO_FLAGS, {}, {"allow-origin": []}, path="f.toml")
    assert str(caught.value).startswith("f.toml: unknown setting server.allow-origin; did you mean")
    assert "allow_origin" in caught.value.suggestions


def test_another_subcommands_keys_are_known() -> None:
    config = resolve(Example, NO_FLAGS, {}, {"depth": 5}, also=(Other,))
    assert config == Example()


def test_load_reads_the_file_that_a_flag_names(parse: Parse, tmp_path: Path) -> None:
    file = tmp_path / "c.toml"
    file.write_text('[server]\nport = 7\n[client]\nwhatever = "other programs check this"\n')
    assert load(Example, parse("--config", str(file)), environ={}).port == 7
    assert load(Example, parse(), environ={"SPLIT_CONFIG": str(file)}).port == 7


@given(st.text(max_size=20), st.text(max_size=20))
def test_any_text_is_a_value_or_a_bad_value(port: str, auth: str) -> None:
    environ = {"SPLIT_SERVER_PORT": port, "SPLIT_SERVER_AUTH": auth}
    sources = set()
    try:
        config = resolve(Example, NO_FLAGS, environ, {})
    except BadValue as error:
        sources.add(error.source)
        config = Example()
    assert sources <= environ.keys()
    assert 0 <= config.port <= 65535
    assert isinstance(config.auth, bool)


def test_a_mistyped_variable_is_told_by_name_and_not_by_value(parse: Parse) -> None:
    told: list[str] = []
    environ = {
        "SPLIT_SERVER_PROT": "s3cret",
        "SPLIT_SERVER_X": "",
        "SPLIT_CLIENT_Y": "",
        "PORT": "",
    }
    assert load(Example, parse(), environ=environ, tell=told.append) == Example()
    assert told == [
        "the variable SPLIT_SERVER_PROT is no setting; did you mean SPLIT_SERVER_PORT?",
        "the variable SPLIT_SERVER_X is no setting; --help lists the settings",
    ]


def test_variables_of_other_commands_are_known(parse: Parse) -> None:
    told: list[str] = []
    load(Example, parse(), environ={"SPLIT_SERVER_DEPTH": "1"}, also=(Other,), tell=told.append)
    assert told == []


def test_few_of_many_unknown_variables_are_told_on_standard_error(
    parse: Parse, capsys: pytest.CaptureFixture[str]
) -> None:
    load(Example, parse(), environ={f"SPLIT_SERVER_X{n}\x1b": "" for n in range(50)})
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 8
    assert lines[0].startswith("warning: the variable SPLIT_SERVER_X0\\x1b is no setting")


def test_a_short_flag_is_the_same_flag(parse: Parse) -> None:
    assert resolve(Example, parse("-p", "7"), {}, {}).port == 7


def test_a_bound_may_be_outside_of_its_range() -> None:
    with pytest.raises(BadValue, match=r"server.share: 0 is not above 0"):
        resolve(Example, NO_FLAGS, {}, {"share": 0})
    assert resolve(Example, NO_FLAGS, {}, {"share": 1e-9}).share == 1e-9


def test_what_may_be_one_or_several_is_several_from_every_source(parse: Parse) -> None:
    assert resolve(Example, parse("--books", "a", "--books", "b"), {}, {}).books == ("a", "b")
    assert resolve(Example, parse(), {"SPLIT_SERVER_BOOKS": "a, b"}, {}).books == ("a", "b")
    assert resolve(Example, parse(), {}, {"books": "a"}).books == ("a",)
    assert Example(books="a").books == "a"


def test_tables_of_the_file_are_read_as_their_declaration(parse: Parse) -> None:
    rooms = [{"name": "hall", "seats": 9}, {"name": "attic"}]
    assert resolve(Example, parse(), {}, {"rooms": rooms}).rooms == (
        Room(name="hall", seats=9),
        Room(name="attic"),
    )


def test_tables_count_as_absent_where_a_nearer_source_has_what_they_stand_for(
    parse: Parse,
) -> None:
    table = {"rooms": [{"name": "hall"}]}
    assert resolve(Example, parse("--books", "a"), {}, table).rooms == ()
    assert resolve(Example, parse(), {"SPLIT_SERVER_BOOKS": "a"}, table).rooms == ()


@pytest.mark.parametrize(
    ("rooms", "message"),
    [
        ("hall", r"server\.rooms: expected tables, written \[\[server\.rooms\]\]"),
        ([{"name": 1}], r"server\.rooms\.name: expected text"),
        ([{"seats": 0}], r"server\.rooms\.seats: 0 is below"),
        ([{"name": "a"}] * 65, "65 are more than 64"),
    ],
)
def test_a_bad_table_is_named(parse: Parse, rooms: object, message: str) -> None:
    with pytest.raises(BadValue, match=message):
        resolve(Example, parse(), {}, {"rooms": rooms})


def test_an_unknown_key_of_a_table_is_refused(parse: Parse) -> None:
    with pytest.raises(UnknownKey, match=r"server\.rooms\.seat; did you mean seats"):
        resolve(Example, parse(), {}, {"rooms": [{"seat": 1}]})


def test_tables_have_neither_flag_nor_variable(parse: Parse) -> None:
    assert not hasattr(parse(), "rooms")
    with pytest.raises(SystemExit):
        parse("--rooms", "hall")
    assert len([*unread_variables((Example,), {"SPLIT_SERVER_ROOMS": "hall"})]) == 1
