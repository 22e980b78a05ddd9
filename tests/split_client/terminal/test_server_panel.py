from __future__ import annotations

import dataclasses

import pytest

from split_client.api import ClientStats
from split_client.terminal.server_panel import Observed, panel
from split_client.transport.endpoint import Endpoint

SEEN = Observed(
    endpoint=Endpoint.parse("http://127.0.0.1:8095"),
    stats=ClientStats(48_400, 40_300, 44, "websocket", 0),
    rows=71,
    width=192,
    cached=115,
    attention=0,
    adapter=None,
    noise=(),
)
# Claims that docs/privacy.md rules out.
FORBIDDEN = ("never sees", "cannot see", "private", "secure", "anonymous", "safe", "zero")


def text_of(**changes: object) -> str:
    sections = panel(dataclasses.replace(SEEN, **changes))  # type: ignore[arg-type]
    return "\n".join(line for section in sections for line in (section.title, *section.lines))


def test_what_travelled_is_counted() -> None:
    text = text_of()
    assert "up 48.4 kB in 44 exchanges\ndown 40.3 kB\n71 embedding rows of 192 numbers" in text
    assert "1 session, whose KV cache holds 115 positions" in text
    assert "attention: not asked for\nadapter: none" in text
    later = text_of(cached=0, attention=2, adapter="banking; the server sees its name")
    assert "no open session\nattention: asked for 2 times\nadapter: banking; the" in later


def test_a_server_that_names_itself_is_named() -> None:
    assert "replica" not in text_of()
    assert "replica room-2, as it calls itself" in text_of(replica="room-2")


def test_layers_that_are_read_in_each_pass_are_told() -> None:
    assert "layers" not in text_of(layers=30)
    assert "layers 22 of 30 read from disk in each pass" in text_of(streamed=22, layers=30)


def test_the_words_claim_no_more_than_is_so() -> None:
    text = text_of()
    assert "assume that it can recover the prompt and the reply" in text
    assert "it is not confidentiality" in text
    for noise in ((), ("noised mode: sigma 1",)):
        assert not [word for word in FORBIDDEN if word in text_of(noise=noise).lower()]


def test_it_says_what_the_server_keeps() -> None:
    assert "What the server keeps\nkeys\nvalues\n" in text_of(kept=("keys", "values"))


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("http://127.0.0.1:8095", "Without TLS, within this machine"),
        ("http://192.0.2.1:8095", "WITHOUT TLS: whoever is on the way"),
        ("https://example.org/x", "TLS as far as this address"),
    ],
)
def test_how_it_travels_is_told(url: str, told: str) -> None:
    assert told in text_of(endpoint=Endpoint.parse(url))


def test_with_noise_its_own_words_stand_instead_of_those_of_split_mode() -> None:
    text = text_of(noise=("noised mode: epsilon 4 \x1b[2J", "this conversation so far: 8"))
    assert "noised mode: epsilon 4\nthis conversation so far: 8\n" in text
    assert "Split mode" not in text


def test_with_drafts_it_says_what_the_sizes_of_steps_tell() -> None:
    assert "Drafts" not in text_of()
    text = text_of(drafts=True)
    assert "the kind of task" in text
    assert "rejected drafts are rows like others" in text
    assert not [word for word in FORBIDDEN if word in text.lower()]
    assert "Drafts" not in text_of(drafts=True, noise=("noised mode: epsilon 4",))


def test_the_model_is_named_as_its_makers_and_the_server_do() -> None:
    assert "model" not in text_of().split("What travelled")[0]
    assert "\nmodel tiny, served as b\n" in text_of(model="tiny, served as b")
