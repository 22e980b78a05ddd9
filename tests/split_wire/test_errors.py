from __future__ import annotations

import re

import pytest

from split_wire import errors
from split_wire.errors import RemoteError, SplitError

BASES = (SplitError, RemoteError)
CLASSES = [
    each
    for each in vars(errors).values()
    if isinstance(each, type) and issubclass(each, SplitError) and each not in BASES
]


def instance(kind: type[SplitError]) -> SplitError:
    """An error with arguments of whatever type its constructor names."""
    samples: dict[str, object] = {"int": 5, "str": "x", "float": 1.5, "tuple[int, ...]": (1, 2)}
    samples |= {"float | None": None, "Sequence[str]": ("x", "y")}
    annotations = {
        name: samples[annotation]
        for name, annotation in kind.__init__.__annotations__.items()
        if name != "return"
    }
    return kind(**annotations)


def test_every_code_is_stable_and_unique() -> None:
    codes = [each.code for each in CLASSES]
    assert len(set(codes)) == len(codes) == 40
    assert all(re.fullmatch(r"[a-z0-9_]{1,64}", code) for code in codes)


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.code)
def test_an_error_is_named_by_its_code_and_says_something(kind: type[SplitError]) -> None:
    error = instance(kind)
    words = re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()
    assert error.code == words
    assert 10 < len(str(error)) < 200
    assert 400 <= error.status < 600


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.code)
def test_only_a_shortage_may_pass_by_itself(kind: type[SplitError]) -> None:
    assert kind.retryable == (kind.status in (429, 503))


def test_the_docstring_shows_the_whole_tree() -> None:
    shown = set(re.findall(r"[A-Z][A-Za-z]+", errors.__doc__.split("::")[1]))
    assert shown == {each.__name__ for each in CLASSES} | {"SplitError", "RemoteError"}


def test_an_error_of_the_other_side_keeps_its_code() -> None:
    error = RemoteError("brand_new", "wait", retryable=True, retry_after=3.0)
    assert (error.code, error.retryable, error.retry_after) == ("brand_new", True, 3.0)
    assert (error.remote_code, error.remote_retryable) == ("brand_new", True)
    assert str(error) == "wait [brand_new]"
    assert SplitError.code == "internal_error"
