"""Which models settings name, and with which settings each is loaded."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from split_server.serving.config import ServerConfig
from split_server.serving.settings.given_models import named_configs, only_model
from split_server.serving.settings.models import ModelConfig, ModelTable
from split_settings import BadValue, add_arguments, resolve


def _config(*flags: str, **table: object) -> ServerConfig:
    parser = argparse.ArgumentParser()
    add_arguments(parser, ServerConfig)
    return resolve(ServerConfig, parser.parse_args(flags), {}, table)


def _named(config: ServerConfig) -> list[tuple[str, str | None]]:
    return [(name, one.path) for name, one in named_configs(config)]


def test_several_models_have_the_names_that_they_are_given() -> None:
    config = _config("--model", "small=/models/a", "-m", "large=org/b")
    assert _named(config) == [("small", "/models/a"), ("large", "org/b")]


def test_a_variable_is_a_list_as_others_are() -> None:
    parsed = argparse.Namespace()
    config = resolve(ServerConfig, parsed, {"SPLIT_SERVER_MODEL": "a=/x, b=/y"}, {})
    assert _named(config) == [("a", "/x"), ("b", "/y")]


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("/models/Qwen2.5-0.5B", "Qwen2.5-0.5B"),
        ("/models/Qwen2.5-0.5B/", "Qwen2.5-0.5B"),
        ("Qwen/Qwen2.5-0.5B", "Qwen2.5-0.5B"),
        ("/models/some model.gguf", "some-model"),
        ("/models/.hidden", "hidden"),
        ("/models/" + "x" * 80, "x" * 64),
        ("/models/...", "model"),
    ],
)
def test_one_model_needs_no_name_and_gets_that_of_its_folder(model: str, name: str) -> None:
    assert _named(_config("--model", model)) == [(name, model)]
    assert _named(ServerConfig(model=model)) == [(name, model)]


def test_the_folder_here_has_the_name_that_it_has_above(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert _named(_config("--model", ".")) == [(tmp_path.name[:64], ".")]


def test_no_model_is_the_embedded_one() -> None:
    assert _named(_config()) == [("embedded", None)]


def test_what_exists_with_a_sign_in_its_name_is_a_path(tmp_path: Path) -> None:
    folder = tmp_path / "a=b"
    folder.mkdir()
    assert _named(_config("--model", str(folder))) == [("a-b", str(folder))]


def test_what_is_no_name_left_of_the_sign_is_part_of_a_path() -> None:
    assert _named(_config("--model", "./a=b")) == [("a-b", "./a=b")]


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("/x", "/y"), "'/x' has no name; of several write each NAME=MODEL"),
        (("a=/x", "/y"), "'/y' has no name"),
        (("a=/x", "a=/y"), "the name 'a' is given 2 times"),
        (("a=/x", "b="), "'b=' names no model"),
        ((".a=/x", "b=/y"), "'.a=/x' has no name"),
        (tuple(f"m{n}=/x" for n in range(33)), "33 models are more than 32"),
    ],
)
def test_models_that_cannot_be_told_apart_are_refused(flags: tuple[str, ...], message: str) -> None:
    with pytest.raises(BadValue, match=message):
        named_configs(ServerConfig(model=flags))


def test_a_table_has_settings_of_its_own() -> None:
    tables = [
        {"name": "small", "model": "/a", "quantize": "int8", "stream": 4, "adapters": "/c"},
        {"name": "large", "model": "/b", "dtype": "float32", "linears": "plain"},
    ]
    (_, small), (_, large) = named_configs(_config("--dtype", "bfloat16", models=tables))
    assert (small.path, small.quantize, small.stream) == ("/a", "int8", "4")
    assert (small.dtype, small.adapters) == ("bfloat16", Path("/c"))
    assert (large.path, large.dtype, large.linears) == ("/b", "float32", "plain")
    assert (large.quantize, large.stream, large.adapters) == ("none", "auto", None)
    assert small.models == large.models == ()


def test_flags_stand_for_the_tables_of_the_file() -> None:
    assert _named(_config("-m", "/x", models=[{"name": "a", "model": "/a"}])) == [("x", "/x")]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"models": [{"name": "a"}]}, "has no name or no model"),
        ({"models": [{"model": "/a"}]}, "has no name or no model"),
        ({"models": [{"name": "a/b", "model": "/a"}]}, "'a/b' is no name of a model"),
        ({"models": [{"name": "a", "model": "/a"}], "model": "/b"}, "are both given"),
        ({"models": [{"name": "a", "model": "/a", "dtype": "int3"}]}, "dtype"),
    ],
)
def test_a_bad_table_is_told(table: dict[str, object], message: str) -> None:
    with pytest.raises(BadValue, match=message):
        named_configs(_config(**table))


def test_a_command_for_one_model_says_so() -> None:
    config = ModelConfig(model=("a=/x", "b=/y"))
    with pytest.raises(BadValue, match="one model is meant here; give one of a, b alone"):
        only_model(config)
    assert only_model(ModelConfig(model=("a=/x",))).path == "/x"


def test_a_command_with_fewer_settings_takes_what_it_has_of_a_table() -> None:
    table = ModelTable(name="a", model="/x", quantize="int8")
    assert only_model(ModelConfig(models=(table,))) == ModelConfig(model="/x")
