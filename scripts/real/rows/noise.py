"""Noised rows: what they leave of the model's use, what the nearest row recovers, what they say."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import torch

from scripts.real.figures import Figure, Figures, require
from scripts.real.measures.likelihood import NOTHING, Likeness, likeness
from scripts.real.models.ours import Middle
from scripts.real.models.served import Said, noised, request, server
from scripts.real.setting import Setting, forget, say
from split_privacy.mechanism import RowMechanism
from split_privacy.prf import NO_HISTORY, NoiseContext, RowName, RowStreams

_PARTS = (0.005, 0.01, 0.02, 0.05)
_CHATS = 20
_QUESTION = "What is the capital of France?"
_SAMPLE = 32
_BEFORE = {
    0.01: ">99% recovered, 92% right ([embedded](privacy.md#what-an-audit-recovers))",
    0.02: ">99% recovered, 89% right",
    0.05: ">99% recovered, 1.0% right",
}


@dataclass(frozen=True, slots=True)
class _Noised:
    """``recovered``: of ``rows`` the nearest of the table is the token's."""

    use: Likeness
    recovered: int
    rows: int


def measure(setting: Setting) -> Figures:
    """Clean replies, forced along behind noised rows; a reply through the client in noised mode."""
    said = setting.replies("float32")[:_CHATS]
    clip, claims, texts = _through_client(setting)
    middle = Middle(setting.folder, "float32")
    clean = [_after(one, middle.states(setting.rows(_ids(one)))) for one in said]
    _check(setting, said, clean)
    rows = []
    for part in _PARTS:
        found = _noised(setting, middle, part * clip, clip, said, clean)
        rows.append(_figure(part, found, claims[part]))
        say(f"sigma {part} C measured")
    del middle
    forget()
    return Figures(
        f"without noise the replies are those through the client; C {clip:.4g}, {_CHATS} chats",
        tuple(rows),
        _samples(texts),
    )


def _ids(one: Said) -> list[int]:
    return one.prompt + one.reply[:-1]


def _after(one: Said, states: torch.Tensor) -> torch.Tensor:
    """Of the reply's tokens alone."""
    return states[len(one.prompt) - 1 :]


def _check(setting: Setting, said: list[Said], clean: list[torch.Tensor]) -> None:
    found = [(states @ setting.table.T).argmax(1).tolist() for states in clean]
    require(found == [one.reply for one in said], "the engine answers otherwise than the server")


def _noised(
    setting: Setting,
    middle: Middle,
    sigma: float,
    clip: float,
    said: list[Said],
    clean: list[torch.Tensor],
) -> _Noised:
    mechanism = RowMechanism(sigma, clip, 2 * clip, setting.table.shape[1])
    use, recovered, rows = NOTHING, 0, 0
    for number, (one, expected) in enumerate(zip(said, clean, strict=True)):
        sent = _release(setting, mechanism, _ids(one), setting.seed * 1000 + number)
        use += likeness(expected, _after(one, middle.states(sent)), setting.table)
        recovered += int((_nearest(sent, setting.table, clip) == torch.tensor(_ids(one))).sum())
        rows += len(sent)
    return _Noised(use, recovered, rows)


def _release(
    setting: Setting, mechanism: RowMechanism, ids: list[int], number: int
) -> torch.Tensor:
    key = number.to_bytes(32, "big")
    context = NoiseContext(key, "rows", mechanism.sigma, mechanism.clip, "real", "f32")
    names = [RowName(place, token, NO_HISTORY) for place, token in enumerate(ids)]
    sent = mechanism.release(setting.rows(ids).numpy(), names, RowStreams(context))
    return torch.from_numpy(sent)


def _nearest(sent: torch.Tensor, table: torch.Tensor, clip: float) -> torch.Tensor:
    """The token whose clipped row is nearest to each of the rows that were sent."""
    norms = table.norm(dim=1)
    clipped = table * (clip / norms).clamp(max=1.0)[:, None]
    return (sent @ clipped.T - clipped.square().sum(1) / 2).argmax(1)


def _through_client(setting: Setting) -> tuple[float, dict[float, str], dict[float, str]]:
    """C, and by the part of it that sigma is: what the client claims, what the model answers."""
    norms = np.linalg.norm(setting.table.double().numpy(), axis=1)
    clip = float(np.quantile(norms, 0.99, method="higher"))
    claims, texts = {}, {}
    with server(setting.folder, "float32") as url:
        for part in _PARTS:
            with noised(url, setting.cache, part * clip) as client:
                claims[part] = _claim("\n".join(client.privacy_lines()), clip)
                reply = client.chat(request(_QUESTION), temperature=0.0, max_tokens=_SAMPLE)
                texts[part] = reply.read()
    return clip, claims, texts


def _claim(lines: str, clip: float) -> str:
    """The client's own words on the epsilon of one token."""
    told = re.search(r"norm C ([\d.]+)", lines)
    require(told is not None and abs(float(told[1]) / clip - 1) < 1e-3, "C is not the client's")
    found = re.search(r"one token replaced[^:]*: epsilon (.+?), delta (\S+); sens", lines)
    if found is None:
        raise SystemExit("the client says nothing of the epsilon of one token")
    return f"epsilon of one token {found[1]}, delta {found[2]}"


def _figure(part: float, found: _Noised, claim: str) -> Figure:
    use = f"KL {found.use.mean_kl:.2g}, same likeliest token {found.use.share:.1%}"
    got = f"nearest row recovers {found.recovered / found.rows:.1%} of {found.rows:,} rows"
    return Figure(f"sigma {part:g} C", f"{use}; {got}; {claim}", _BEFORE.get(part, ""))


def _samples(texts: dict[float, str]) -> str:
    """The replies as quotations of one line each."""
    lines = [f'"{_QUESTION}", greedily, {_SAMPLE} tokens, through the client in noised mode:', ""]
    lines += [f"- sigma {part:g} C: `{_inline(text)}`" for part, text in texts.items()]
    return "\n".join(lines)


def _inline(text: str) -> str:
    return " ".join(re.sub(r"[`|<>]", "", text).split())[:200]
