"""The audit's strongest attack against the one from outside, message by message, on the same rows.

The rows are those that ``scripts.bench.outside.run`` attacks. The audit's field, priors and search
are its own, with its usual effort; only the model's prior comes from the outside attack's engine,
which needs no server for each text. ``--url`` is a server of ``--model``, for tokenizer and
template, and ``--corpora`` is as for the outside attack::

    split-server serve --model .demo/smollm2 --port 8311
    python -m scripts.bench.paired.run --url http://127.0.0.1:8311 --corpora FOLDER

The model writes messages for the counts at that server first, as it does in an audit.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from scripts.bench.outside.build import prior_of
from scripts.bench.outside.causal import Causal
from scripts.bench.outside.channel import Channel
from scripts.bench.outside.language import Language
from scripts.bench.outside.lattice import Beam, marginals
from scripts.bench.outside.messages import Message, messages
from scripts.bench.outside.target import Target
from scripts.bench.paired.tree import Tree
from split_client.api import SplitClient
from split_client.audit.attacks.knowledge import Mechanism, PublicModel
from split_client.audit.attacks.language.blend import Blend
from split_client.audit.attacks.language.fitted import shares
from split_client.audit.attacks.language.written import written
from split_client.audit.attacks.lattice.field import field_of
from split_client.audit.attacks.lattice.guessed import guessed
from split_client.audit.attacks.lattice.search import Breadth, Prior, search
from split_client.audit.attacks.nearest import likelihoods_of
from split_client.audit.attacks.ngram.trained import TokenPrior
from split_client.audit.device.prompts import built_in_questions, built_in_tasks
from split_client.audit.effort import FULL
from split_client.audit.reach import Reach
from split_client.audit.session import AllStates
from split_client.audit.texts.sources import public_texts
from split_client.transport.endpoint import Endpoint

_LEVELS, _MESSAGES, _DRAWS = (0.1, 0.2, 0.3, 0.4, 0.5), 12, 4000
_OUTSIDE, _OWN = Beam(200, 1500, 12.0), 0.75


class Audit:
    """The audit's attacks on rows: by counts, and by counts and the model."""

    def __init__(self, public: PublicModel, causal: Causal, made: tuple[str, ...]) -> None:
        questions = [one.question for one in built_in_questions()]
        texts = replace(public_texts(), written=made)
        self._public, self._counts = public, TokenPrior(public, texts, questions)
        own = Tree(causal, public.prefix, len(self._counts.lead))
        requests = [(*public.tokens(text), *public.suffix[:1]) for text in built_in_tasks()]
        worth = shares((self._counts, own), self._counts.lead, requests)
        blend = Blend(list(zip(worth, (self._counts, own), strict=True)))
        self._attacks: dict[str, tuple[Prior, Breadth]] = {
            "ngram": (self._counts, Breadth(FULL.texts, 4)),
            "language": (blend, Breadth(FULL.beam, 6)),
        }

    def guesses(self, rows: NDArray[np.float32], mechanism: Mechanism) -> dict[str, list[int]]:
        """The tokens that each attack takes for those of ``rows`` [n, H]."""
        (alone,) = likelihoods_of([(rows, mechanism)], self._public)
        end = tuple(self._public.suffix[:1])
        field = field_of(alone, self._counts, FULL.possible, end)
        found = {}
        for name, (prior, breadth) in self._attacks.items():
            lattice = search(field, prior, self._counts.lead, breadth)
            found[name] = [int(token) for token in guessed(field, lattice, len(rows)).ranked[:, 0]]
        return found


def main() -> None:
    """A line for each level and attack."""
    options = _options()
    target, causal = Target.load(options.model), Causal(Path(options.model))
    grams = prior_of(target, options.corpora, templates=False)
    outside = Language(causal, grams, target.before, target.after[0], _OWN)
    print("| noise | attack | audit | outside | difference |\n| --- | --- | --- | --- | --- |")
    with SplitClient(options.url) as client:
        public = PublicModel(client.ends, [])
        audit = Audit(public, causal, _written(client, public, options.url, options.written))
        for level in options.levels:
            channel = Channel(target, level, None, options.seed)
            chosen = list(enumerate(messages(target)))[options.skip :][: options.messages]
            right = [_hits(channel, audit, outside, message, index) for index, message in chosen]
            for name in ("ngram", "language"):
                print(_line(level, name, right), flush=True)


def _written(client: SplitClient, public: PublicModel, url: str, count: int) -> tuple[str, ...]:
    reach = Reach(Endpoint.parse(url))
    sessions = [AllStates(reach, client.manifest) for _ in range(FULL.flock)]
    found = tuple(written(public, sessions, count, np.random.default_rng(0)))
    for session in sessions:
        session.close()
    return found


def _hits(
    channel: Channel, audit: Audit, outside: Language, message: Message, index: int
) -> dict[str, int]:
    """Tokens that each attack has right, and how many there are (``of``)."""
    rows = channel.seen(message.tokens, index)
    places = marginals(channel.evidence(rows), outside, _OUTSIDE)
    found = audit.guesses(rows, Mechanism(channel.sigma, channel.clip))
    found["outside"] = [max(place, key=place.__getitem__) for place in places]
    hits = {name: sum(map(int.__eq__, message.tokens, guess)) for name, guess in found.items()}
    return hits | {"of": len(message.tokens)}


def _line(level: float, name: str, right: list[dict[str, int]]) -> str:
    """Shares of tokens with 95% intervals; whole messages are resampled, the same ones for both."""
    own, outside, of = (np.array([one[key] for one in right]) for key in (name, "outside", "of"))
    drawn = np.random.default_rng(0).integers(0, len(of), (_DRAWS, len(of)))
    shown = []
    for hits in (own, outside, own - outside):
        low, high = np.quantile(hits[drawn].sum(1) / of[drawn].sum(1), [0.025, 0.975])
        shown.append(f"{hits.sum() / of.sum():.1%} ({low:.0%} to {high:.0%})")
    return f"| {level} C | {name} | {' | '.join(shown)} |"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--model", default=".demo/smollm2", help="a folder with a checkpoint")
    parser.add_argument("--url", required=True, help="a server of it")
    parser.add_argument("--corpora", type=Path, required=True)
    parser.add_argument("--written", type=int, default=220, help="messages that the model writes")
    parser.add_argument("--levels", type=float, nargs="+", default=_LEVELS)
    parser.add_argument("--messages", type=int, default=_MESSAGES, help="how many")
    parser.add_argument("--skip", type=int, default=0, help="so many at the beginning")
    parser.add_argument("--seed", type=int, default=0, help="of the noise")
    return parser.parse_args()


if __name__ == "__main__":
    main()
