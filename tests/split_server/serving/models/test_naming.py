"""The models that are served, in order."""

from __future__ import annotations

from pathlib import Path

from split_server.serving.config import ServerConfig
from split_server.serving.models.naming import NamedModel, models_of


def test_the_first_model_has_the_page_and_the_prompts_for_everybody() -> None:
    config = ServerConfig(model=("a=/x", "b=/y"), kv_warm=Path("/prompts"), web_root="/page")
    first, second = models_of(config)
    assert (first.name, first.config.path) == ("a", "/x")
    assert (first.config.kv_warm, first.config.web_root) == (Path("/prompts"), "/page")
    assert (second.name, second.config.path) == ("b", "/y")
    assert (second.config.kv_warm, second.config.web_root) == (None, "none")


def test_one_model_is_served_with_the_settings_as_they_are() -> None:
    config = ServerConfig(model="/models/small")
    assert models_of(config) == (NamedModel("small", config),)
