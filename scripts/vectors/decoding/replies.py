"""Cases of what a reply ends with, what text it has, and what its session sends."""

from __future__ import annotations

from scripts.vectors.decoding.model import END, MARK, TURN
from scripts.vectors.decoding.turns import HOT, Case, case, form, turn


def cases() -> list[Case]:
    return [*_ends(), *_texts(), *_stops(), *_sessions(), *_begun()]


def _ends() -> list[Case]:
    return [
        case("an end token ends the reply and has no text", turn([TURN, 3])),
        case("so many tokens end it", turn([TURN, 3], 4)),
        case("an end token counts before the number of tokens", turn([18], 2)),
        case(
            "any of several end tokens",
            turn([17], end_tokens=[END, 19], params={"logit_bias": {"19": 1.0}}),
        ),
        case("the last position of the context still gives a token", turn([20] * 29)),
        case("a prompt that fills the context", turn([20] * 32)),
        case("the number of tokens counts before the context", turn([20] * 31, 2)),
        case("stopped during the third step", turn([20], cancelled_at=3)),
        case("stopped during the step of an end token", turn([18], cancelled_at=2)),
        case("stopped before it begins", turn([20], cancelled_at=0), turn([20], 2)),
    ]


def _texts() -> list[Case]:
    cut = {"banned": [11]}
    return [
        case("half a character at the end", turn([3], 2)),
        case("a third of a character at the end", turn([8], 2)),
        case(
            "half a character before the end token",
            turn([9], params={"banned": [11]}, constraint=form([[10], [END]])),
        ),
        case("half a character, then another", turn([9], 6, params=cut)),
        case("bytes that are no text", turn([19], 4, constraint=form([[23], [23], [7]]))),
        case(
            "a special token inside a character",
            turn([4], constraint=form([[5], [MARK], [6], [END]])),
        ),
        case(
            "a special token that ends no reply",
            turn([3], 4, constraint=form([[MARK], [4], [TURN], [20]])),
        ),
    ]


def _stops() -> list[Case]:
    return [
        case("a stop string over three tokens", turn([3], stops=["\n\nUser:"])),
        case("a stop string inside a token", turn([3], stops=["cos"])),
        case("a stop string that begins with the reply", turn([3], stops=[" caf"])),
        case("a stop string after a split character", turn([3], stops=["é c"])),
        case("a stop string that is a split character", turn([3], stops=["€"])),
        case("a stop string of four bytes", turn([8], stops=["\U0001f600."])),
        case(
            "another character with the same first half", turn([8], stops=["\U0001f601", "\u20ad"])
        ),
        case("held back and let go", turn([3], 6, stops=["costly", "fée"])),
        case("held back and shown at the end", turn([3], 12, stops=["or\U0001f600", "r none"])),
        case("held back before an end token", turn([15], stops=[":)"])),
        case(
            "two stop strings that overlap: the one that begins first",
            turn([20], stops=["ba", "ab"]),
        ),
        case(
            "one stop string within another: the one that is whole first",
            turn([20], stops=["babb", "ab"]),
        ),
        case(
            "a stop string whose beginning comes twice",
            turn([3], stops=["aab"], constraint=form([[20], [20], [20], [21]])),
        ),
        case("a stop string that only the end completes", turn([3], 2, stops=["\ufffd"])),
        case("a stop string counts before the number of tokens", turn([3], 4, stops=[" cost"])),
        case(
            "a stop string counts before a cancellation",
            turn([3], 9, stops=[" cost"], cancelled_at=4),
        ),
        case("a stop string that never comes, and an empty one", turn([16], stops=["", "never"])),
    ]


def _sessions() -> list[Case]:
    first = [TURN, 3, 4]
    reply = [5, 6, 7, 8]
    return [
        case("a long prompt goes in parts", turn([*range(3, 20), 20, 21], 3)),
        case("a part for every row", turn([20, 21, 22], 2), max_rows=1),
        case(
            "a second turn sends what is new",
            turn(first, 4),
            turn([*first, *reply, TURN, 20], 3),
        ),
        case("the same prompt again sends its last row", turn(first, 3), turn(first, 3)),
        case(
            "an edited prompt sends from the edit on",
            turn([*first, *reply, 9], 3),
            turn([*first, 5, 6, 12, 9], 3),
        ),
        case("a shorter prompt sends its last row", turn([*first, *reply], 2), turn(first, 2)),
        case(
            "a cancelled reply is continued", turn(first, cancelled_at=2), turn([*first, 5, 6], 3)
        ),
        case(
            "a stopped reply is taken again with a seed",
            turn(first, stops=["é"]),
            turn(first, 5, params=HOT),
        ),
        case("a lost cache is sent again", turn(first, 3), turn([*first, *reply], 3), lost=[3]),
        case("a cache that is lost within a prompt, twice", turn([20] * 20, 3), lost=[1, 3]),
        case("a cache that is lost between two tokens", turn(first, 5), lost=[2]),
    ]


def _begun() -> list[Case]:
    cost = [4, 5, 6]
    hot = {**HOT, "repetition_penalty": 1.7, "frequency_penalty": 0.7}
    return [
        case("a reply goes on from what is there of it", turn([3], begun=cost)),
        case(
            "draws and penalties count from its beginning",
            turn([TURN, 20], 10, params=hot),
            turn([TURN, 20], 6, params=hot, begun=[21, 22, 20, 21]),
        ),
        case("half a character that is begun is completed", turn([3], 4, begun=[4, 5])),
        case(
            "a stop string that is there already does not count",
            turn([3], stops=["caf"], begun=cost),
        ),
        case("a stop string over what is there is none", turn([3], 4, stops=["fé c"], begun=cost)),
        case(
            "a constraint goes on where it was",
            turn([20], 3, constraint=form([[9], [12], [3], [0, 16]]), begun=[9, 12]),
        ),
        case(
            "a constraint that is whole", turn([20], constraint=form([[9], [12]], 2), begun=[9, 12])
        ),
        case("what ends with an end token", turn([3], begun=[4, END])),
        case("stopped before it goes on", turn([3], begun=cost, cancelled_at=0)),
        case("stopped during its second step", turn([3], begun=cost, cancelled_at=2)),
        case("what is begun takes room of the context", turn([20] * 20, begun=[21] * 9)),
        case(
            "another token in the place of one is all that is sent",
            turn([TURN, 3], 6),
            turn([TURN, 3], 4, begun=[4, 20]),
        ),
    ]
