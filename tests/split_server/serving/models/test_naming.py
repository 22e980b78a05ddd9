"""The models that are served, in order."""

from __future__ import annotations

from pathlib import Path

import pytest

from split_server.errors import UnsupportedFamily
from split_server.serving.app import served_models
from split_server.serving.config import ServerConfig
from split_server.serving.models.naming import NamedModel, models_of
from split_server.serving.settings.models import ModelTable


def test_the_first_model_has_the_page_and_the_prompts_for_everybody() -> None:
    config = ServerConfig(
        model=("a=/x", "b=/y"), kv_warm=Path("/prompts"), web_root="/page", adapter_host=True
    )
    first, second = models_of(config)
    assert (first.name, first.config.path) == ("a", "/x")
    assert (first.config.kv_warm, first.config.web_root) == (Path("/prompts"), "/page")
    assert (second.name, second.config.path) == ("b", "/y")
    assert (second.config.kv_warm, second.config.web_root) == (None, "none")
    assert (first.config.adapter_host, second.config.adapter_host) == (True, False)


def test_one_model_is_served_with_the_settings_as_they_are() -> None:
    config = ServerConfig(model="/models/small")
    assert models_of(config) == (NamedModel("small", config, named=False),)


def test_it_is_known_whether_a_name_was_given() -> None:
    assert [one.named for one in models_of(ServerConfig(model=("a=/x", "b=/y")))] == [True, True]
    assert [one.named for one in models_of(ServerConfig(model=("a=/x",)))] == [True]
    assert [one.named for one in models_of(ServerConfig(model=("/x",)))] == [False]
    assert [one.named for one in models_of(ServerConfig())] == [False]
    table = ModelTable(name="a", model="/x")
    assert [one.named for one in models_of(ServerConfig(models=(table,)))] == [True]


@pytest.mark.parametrize("order", [("bad", "good"), ("good", "bad")])
def test_a_start_says_which_of_several_models_is_at_fault(
    tiny_path: Path, tmp_path: Path, order: tuple[str, str]
) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "mamba"}')
    where = {"bad": tmp_path, "good": tiny_path}
    with pytest.raises(UnsupportedFamily, match=r"^model 'bad': models of the family 'mamba'"):
        served_models(ServerConfig(model=tuple(f"{name}={where[name]}" for name in order)))
    with pytest.raises(UnsupportedFamily, match=r"^models of the family"):
        served_models(ServerConfig(model=(f"bad={tmp_path}",)))
