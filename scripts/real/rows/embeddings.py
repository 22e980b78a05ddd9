"""What the hidden states of a chat model are worth as embeddings: the right text among others."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import httpx
import numpy as np
import torch
from numpy.typing import NDArray
from transformers import AutoModel

from scripts.real.figures import Figure, Figures, of, require
from scripts.real.models.served import server
from scripts.real.setting import Setting, say
from scripts.real.texts.facts import FACTS
from scripts.real.texts.paraphrases import PARAPHRASES

_SECONDS = 120.0
_SAME = 1e-4
_WAYS = ("mean", "last")
_PAIRS = {
    "questions, their passage": [(fact.question, fact.passage) for fact in FACTS],
    "sentences, the same in other words": list(PARAPHRASES),
}
_Vectors = NDArray[np.float64]


def measure(setting: Setting) -> Figures:
    """The nearest of the second texts to each first one, by the server's vectors and by words."""
    texts = [text for pairs in _PAIRS.values() for pair in pairs for text in pair]
    with server(setting.folder, "float32") as url:
        made = {way: _embedded(url, texts, way) for way in _WAYS}
    for way in _WAYS:
        worst = float(np.abs(made[way] - _truth(setting, texts, way)).max())
        require(worst < _SAME, f"{way} vectors differ by {worst}")
    say(f"{len(texts)} texts in two ways")
    made["words in common, weighted by how rare they are"] = _words(texts)
    rows, begin = [], 0
    for what, pairs in _PAIRS.items():
        size = 2 * len(pairs)
        for way, vectors in made.items():
            own = vectors[begin : begin + size]
            ranks = _ranks(own[0::2] @ own[1::2].T)
            first = of(sum(rank == 1 for rank in ranks), len(ranks))
            mean = sum(1 / rank for rank in ranks) / len(ranks)
            name = f"`pooling` {way}" if way in _WAYS else way
            rows.append(Figure(f"{what}: {name}", f"first {first}, mean 1/rank {mean:.2f}"))
        begin += size
    spread = _between(made["mean"])
    rows.append(Figure("cosine of two texts that have nothing in common, mean", spread))
    return Figures(
        f"vectors are those of Hugging Face's last hidden states to {_SAME:g}", tuple(rows)
    )


def _embedded(url: str, texts: Sequence[str], pooling: str) -> _Vectors:
    asked = {"input": list(texts), "pooling": pooling}
    answer = httpx.post(f"{url}/v1/embeddings", json=asked, timeout=_SECONDS, trust_env=False)
    data: list[Any] = answer.raise_for_status().json()["data"]
    return np.array([one["embedding"] for one in data])


def _truth(setting: Setting, texts: Sequence[str], pooling: str) -> _Vectors:
    model = AutoModel.from_pretrained(setting.folder, dtype=torch.float32).eval()
    vectors = []
    with torch.inference_mode():
        for text in texts:
            ids = torch.tensor([setting.tokenizer(text)["input_ids"]])
            states = model(ids).last_hidden_state[0].double()
            vector = states.mean(0) if pooling == "mean" else states[-1]
            vectors.append((vector / vector.norm()).numpy())
    return np.stack(vectors)


def _words(texts: Sequence[str]) -> _Vectors:
    """Vectors of words, weighted by the logarithm of how few texts have them (tf-idf)."""
    bags = [re.findall(r"[a-z0-9]+", text.lower()) for text in texts]
    known = sorted({word for bag in bags for word in bag})
    rare = {word: math.log(len(bags) / sum(word in bag for bag in bags)) for word in known}
    vectors = np.array([[bag.count(word) * rare[word] for word in known] for bag in bags])
    unit: _Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit


def _ranks(scores: _Vectors) -> list[int]:
    """Of the right text of each row; of equal scores the right one is last."""
    right = np.diag(scores)[:, None]
    return [int(rank) for rank in (scores >= right).sum(1)]


def _between(vectors: _Vectors) -> str:
    """Cosines of texts of different pairs."""
    first, second = vectors[0::2], vectors[1::2]
    scores = first @ second.T
    others = scores[~np.eye(len(scores), dtype=bool)]
    own = float(np.diag(scores).mean())
    return f"{others.mean():.2f}, of two that belong together {own:.2f}"
