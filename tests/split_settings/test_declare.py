from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pytest

from split_settings import option, settings, settings_of
from tests.split_settings.example import Example


def test_a_setting_knows_its_flag_and_its_variable() -> None:
    setting = next(s for s in settings_of(Example) if s.name == "allow_origin")
    assert setting.flag == "--allow-origin"
    assert setting.variable == "SPLIT_SERVER_ALLOW_ORIGIN"
    assert setting.repeated
    assert setting.kind is str


def test_settings_keep_the_order_of_the_fields() -> None:
    names = [s.name for s in settings_of(Example)]
    assert names[:4] == ["host", "port", "ttl", "auth"]


def test_a_secret_is_not_shown_by_repr() -> None:
    shown = repr(Example(token="hunter2", pin=1234))
    assert "hunter2" not in shown
    assert "1234" not in shown
    assert "host='127.0.0.1'" in shown


def test_a_plain_field_is_refused() -> None:
    @settings("server")
    class Plain:
        port: int = 1

    with pytest.raises(TypeError, match="port is not declared with option"):
        settings_of(Plain)


def test_a_type_that_no_source_can_hold_is_refused() -> None:
    @settings("server")
    class Odd:
        table: dict[str, int] | None = option(None, help="a table")

    with pytest.raises(TypeError, match="table has a type"):
        settings_of(Odd)


def test_a_class_without_a_section_is_refused() -> None:
    with pytest.raises(TypeError, match="object is not declared with settings"):
        settings_of(object)


def test_a_dataclass_may_name_its_section_itself() -> None:
    @dataclass(frozen=True, slots=True)
    class Own:
        section: ClassVar[str] = "client"
        depth: int = option(3, help="depth")

    (setting,) = settings_of(Own)
    assert setting.variable == "SPLIT_CLIENT_DEPTH"


def test_several_bases_share_settings_and_each_program_reads_its_own_section() -> None:
    @settings("one", slots=False)
    class Shared:
        host: str = option("here", help="where")

    @settings("one")
    class Model:
        model: str = option("m", help="which")

    @settings("one")
    class One(Model, Shared):
        port: int = option(1, help="port")

    @settings("two")
    class Two(Shared):
        port: int = option(2, help="port")

    assert {setting.variable for setting in settings_of(One)} == {
        "SPLIT_ONE_HOST",
        "SPLIT_ONE_MODEL",
        "SPLIT_ONE_PORT",
    }
    assert {setting.variable for setting in settings_of(Two)} == {
        "SPLIT_TWO_HOST",
        "SPLIT_TWO_PORT",
    }
    assert One(host="there").host == "there"
