from __future__ import annotations

from split_client.generation.trail import Trail


def test_ends_are_remembered_once_and_the_oldest_go_first() -> None:
    trail = Trail()
    for number in range(70):
        for _ in range(2):
            trail.note([number] * 20)
    assert trail.ends == [[number] * 20 for number in range(6, 70)]


def test_a_beginning_of_another_end_is_an_end_of_its_own() -> None:
    trail = Trail()
    trail.note([1] * 40)
    trail.note([1] * 21)
    assert trail.ends == [[1] * 40, [1] * 21]


def test_what_is_shorter_than_any_server_names_is_not_an_end() -> None:
    trail = Trail()
    trail.note([1] * 15)
    assert trail.ends == []


def test_what_was_deleted_is_forgotten() -> None:
    trail = Trail()
    trail.note([1] * 16)
    trail.clear()
    assert trail.ends == []
