"""The web app's presets of the system message are the terminal client's."""

from split_client.presets.builtin import BUILTIN
from tests.web.generation_peers import ask


def test_the_presets_that_come_along_are_the_same() -> None:
    assert ask("presets.js", None) == dict(BUILTIN)
