"""How much of noised messages somebody recovers who has not read the audit's code.

A server sees the rows of 60 held-out messages once, with the product's own noise, and knows the
model, its tokenizer and template, sigma and C. It guesses the tokens with a prior of its own.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import asdict
from pathlib import Path

from scripts.bench.outside.build import prior_of
from scripts.bench.outside.causal import Causal
from scripts.bench.outside.channel import Channel
from scripts.bench.outside.language import Language
from scripts.bench.outside.lattice import Beam, marginals
from scripts.bench.outside.messages import messages
from scripts.bench.outside.prior import Mixture
from scripts.bench.outside.score import score
from scripts.bench.outside.target import Target

LEVELS = (0.1, 0.2, 0.3, 0.4, 0.5)


def main() -> None:
    options = _options()
    target = Target.load(options.model)
    began = time.perf_counter()
    prior = prior_of(target, options.corpora, sampled=options.sampled)
    print(f"prior made in {time.perf_counter() - began:.0f} s", flush=True)
    beam = Beam(options.beam, far=options.far)
    if options.attack == "language":
        prior = language_of(target, prior, options)
    texts = messages(target)[: options.messages]
    result = {}
    for level in options.levels:
        channel = Channel(target, level, options.clip, options.seed)
        found, began = [], time.perf_counter()
        for index, message in enumerate(texts):
            evidence = channel.evidence(channel.seen(message.tokens, index))
            places = marginals(evidence, prior, beam)
            found.append((message, [max(place, key=place.__getitem__) for place in places]))
        result[str(level)] = asdict(score(found))
        print(level, channel.clip, result[str(level)], f"{time.perf_counter() - began:.0f} s", flush=True)
        for message, guess in found[: options.show]:
            print("   ", target.tokenizer.decode(guess))
    if options.json:
        options.json.write_text(json.dumps(result))


def language_of(target: Target, grams: Mixture, options: argparse.Namespace) -> Language:
    model = Causal(Path(options.language))
    return Language(model, grams, target.before, target.after[0], options.share)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="embedded")
    parser.add_argument("--corpora", type=Path, required=True)
    parser.add_argument("--sampled", action="store_true")
    parser.add_argument("--levels", type=float, nargs="+", default=LEVELS)
    parser.add_argument("--messages", type=int, default=60)
    parser.add_argument("--beam", type=int, default=400)
    parser.add_argument("--attack", choices=["ngram", "language"], default="ngram")
    parser.add_argument("--language", default=".demo/smollm2")
    parser.add_argument("--share", type=float, default=0.75)
    parser.add_argument("--far", type=float, default=25.0)
    parser.add_argument("--clip", type=float)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", type=int, default=0)
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    main()
