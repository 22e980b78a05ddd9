"""The generator: deterministic, without contradictions, apart from held-out and blind questions."""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import pairwise

from scripts.demo_model.corpus import stories
from scripts.demo_model.corpus.conversation import Sampler
from scripts.demo_model.corpus.documents import document
from scripts.demo_model.corpus.facts import all_facts, chat_answer, facts_by_id
from scripts.demo_model.corpus.grammar import expand, normalise, tidy
from scripts.demo_model.corpus.holdout import (
    blind_questions,
    forbidden,
    is_held_out,
    training_phrasings,
)
from scripts.demo_model.corpus.surface import proper, vary
from scripts.demo_model.evaluation.cases import unseen_follow_ups
from tests.embedded.draws import seeded

DRAWS = 8_000


def _questions(seed: int, draws: int) -> set[str]:
    sampler = Sampler(seeded(seed))
    return {
        normalise(question) for _ in range(draws) for question, _ in sampler.conversation().turns
    }


def _first_questions(seed: int, draws: int) -> set[str]:
    sampler = Sampler(seeded(seed))
    return {normalise(sampler.conversation().turns[0][0]) for _ in range(draws)}


def test_the_same_seed_gives_the_same_conversations_and_documents() -> None:
    first, second = Sampler(seeded(3)), Sampler(seeded(3))
    assert [first.conversation() for _ in range(300)] == [second.conversation() for _ in range(300)]
    assert [document(seeded(i)) for i in range(20)] == [document(seeded(i)) for i in range(20)]


def test_another_seed_gives_other_conversations() -> None:
    assert Sampler(seeded(3)).conversation() != Sampler(seeded(4)).conversation()


def test_no_phrasing_belongs_to_two_facts() -> None:
    owners = defaultdict(set)
    for fact in all_facts():
        for phrasing in fact.phrasings:
            for text in phrasing.texts:
                owners[normalise(text)].add(fact.id)
    assert {text: ids for text, ids in owners.items() if len(ids) > 1} == {}


def test_every_fact_keeps_training_phrasings_and_some_phrasings_are_held_out() -> None:
    assert all(len(training_phrasings(fact)) >= 5 for fact in all_facts())
    held = sum(is_held_out(p) for fact in all_facts() for p in fact.phrasings)
    total = sum(len(fact.phrasings) for fact in all_facts())
    assert 0.05 < held / total < 0.09


def test_held_out_texts_are_disjoint_from_training_texts() -> None:
    trained = {
        normalise(text)
        for fact in all_facts()
        for phrasing in training_phrasings(fact)
        for text in phrasing.texts
    }
    assert trained
    assert not trained & forbidden()


def test_no_sampled_first_question_equals_a_held_out_or_blind_one() -> None:
    asked = _first_questions(5, DRAWS)
    assert len(asked) > DRAWS / 4
    assert not asked & forbidden()


def test_no_sampled_question_of_any_turn_equals_a_blind_one() -> None:
    blind = {normalise(q.turns[-1]) for q in blind_questions() if len(q.turns) == 1}
    assert len(blind) >= 60
    assert not _questions(6, DRAWS) & blind


def test_no_phrasing_of_the_text_files_equals_a_blind_question() -> None:
    blind = {normalise(q.turns[-1]) for q in blind_questions() if len(q.turns) == 1}
    written = {
        normalise(text)
        for fact in all_facts()
        for phrasing in fact.phrasings
        for text in phrasing.texts
    }
    assert not written & blind


def test_blind_questions_name_known_facts() -> None:
    known = set(facts_by_id()) | {"unknown"}
    assert {name for q in blind_questions() for name in q.expect} <= known


def test_follow_ups_that_are_held_out_never_follow_their_family_in_training() -> None:
    held = {
        (fact.family, normalise(text))
        for fact in all_facts()
        for phrasing in unseen_follow_ups(fact)
        for text in phrasing.texts
    }
    sampler = Sampler(seeded(8))
    families = {chat_answer(fact): fact.family for fact in all_facts()}
    seen = 0
    for _ in range(5000):
        turns = sampler.conversation().turns
        for (_, before), (question, _) in pairwise(turns):
            seen += 1
            assert (families.get(before, ""), normalise(question)) not in held
    assert seen > 1000


def test_answers_never_promise_confidentiality_from_the_server() -> None:
    promise = re.compile(
        r"server (cannot|can not|can't|never|does not|doesn't) (see|read|learn|know|recover)"
        r"|your (prompt|text|data) (is|stays) (private|secret|safe|hidden)|zero quality loss",
        re.IGNORECASE,
    )
    assert not [f.id for f in all_facts() if promise.search(f.answer)]
    assert "not confidentiality" in facts_by_id()["private"].answer


def test_answers_shared_by_opposite_questions_do_not_start_with_yes_or_no() -> None:
    judged = {f.id for f in all_facts() if re.match(r"(Yes|No|Not)\b", f.answer)}
    assert judged == {"split_not_encryption", "sorry"}


def test_answers_use_the_right_article() -> None:
    slip = re.compile(r"\b([Aa] [aeio]\w+|[Aa]n [bcdfgjklmnpqrstvwxyz]\w+)")
    allowed = ("a one", "A and", "an LM")
    samples = [fact.answer for fact in all_facts()]
    samples += [stories.tell(hero, seeded(1)) for hero in stories.HEROES]
    found = {m.group() for text in samples for m in slip.finditer(text)}
    assert {f for f in found if not f.startswith(allowed)} == set()


def test_patterns_expand_to_all_alternatives_in_order() -> None:
    assert expand("[a|b] c[ d|]") == ["a c d", "a c", "b c d", "b c"]


def test_tidy_removes_stray_spaces_and_commas() -> None:
    assert tidy(" so  what , then ? ") == "so what, then?"
    assert tidy("ok,") == "ok"


def test_proper_form_capitalises_and_adds_the_question_mark() -> None:
    assert proper("what is ckks") == "What is CKKS?"
    assert proper("tell me about the kv cache") == "Tell me about the KV cache"


def test_surface_variation_is_decided_by_the_generator_alone() -> None:
    texts = [vary("what is a kv cache", seeded(seed)) for seed in range(200)]
    assert texts == [vary("what is a kv cache", seeded(seed)) for seed in range(200)]
    assert len(set(texts)) > 50
