"""Answers of the committed checkpoint, greedily, through plain transformers."""

from __future__ import annotations

import pytest

from scripts.demo_model.chat import Chat
from scripts.demo_model.corpus.facts import facts_by_id
from scripts.demo_model.evaluation.cases import blind_cases, held_out_cases, task_cases
from scripts.demo_model.evaluation.score import score
from tests.embedded.draws import seeded
from tests.exhaustive import EXHAUSTIVE

DRAWN = 500 if EXHAUSTIVE else 75
HELD_OUT_FLOOR = 0.90
BLIND_FLOOR = 0.85
TASK_FLOOR = 0.90


def test_held_out_phrasings_are_answered_exactly_at_least_nine_times_in_ten(chat: Chat) -> None:
    result = score(chat, seeded(5).sample(held_out_cases(), DRAWN))
    assert result.share >= HELD_OUT_FLOOR, result.mistakes[:20]


@pytest.mark.slow
def test_all_follow_ups_reach_the_floor(chat: Chat) -> None:
    """And all held-out questions, where there is time for them."""
    cases = [case for case in held_out_cases() if EXHAUSTIVE or case.kind == "follow-up"]
    result = score(chat, cases)
    assert result.share >= HELD_OUT_FLOOR
    right, total = result.groups["kind follow-up"]
    assert total > 100
    assert right / total >= HELD_OUT_FLOOR


def test_blind_questions_reach_their_reported_floor(chat: Chat) -> None:
    cases = blind_cases()
    assert len(cases) >= 60
    assert score(chat, cases).share >= BLIND_FLOOR


def test_new_names_are_remembered_and_stories_keep_their_hero(chat: Chat) -> None:
    assert score(chat, task_cases()).share >= TASK_FLOOR


@pytest.mark.parametrize(
    "question",
    [
        "What is split inference?",
        "what is split inference",
        "what's split inference",
        "What's split inference?",
        "explain split inference",
        "Explain split inference please",
        "Tell me about split inference.",
        "split inference",
        "Split inference?",
        "define split inference",
        "so what is split inference?",
        "hello, what is split inference?",
        "How does split inference work?",
    ],
)
def test_split_inference_is_explained_however_it_is_asked(chat: Chat, question: str) -> None:
    assert chat.reply(question) == facts_by_id()["split_inference"].answer


@pytest.mark.parametrize(
    ("question", "fact"),
    [
        ("hello", "hello"),
        ("Hi!", "hello"),
        ("who are you?", "who_are_you"),
        ("What can you do?", "can_do"),
        ("What does the server see?", "server_sees"),
        ("Is my prompt private?", "private"),
        ("thanks", "thanks"),
        ("bye", "bye"),
        ("What is the capital of France?", "capital:France"),
        ("What happens if the connection is lost?", "lost_connection"),
        ("How do I pair my phone?", "pair_phone"),
        ("What does the relay do?", "relay"),
        ("What is CKKS?", "ckks"),
        ("What is differential privacy?", "dp"),
        ("What is an adapter?", "adapter"),
    ],
)
def test_first_questions_of_a_demo_are_answered(chat: Chat, question: str, fact: str) -> None:
    assert chat.reply(question) == facts_by_id()[fact].answer


def test_a_follow_up_refers_to_the_turn_before(chat: Chat) -> None:
    talk = [
        {"role": "user", "content": "What is the capital of France?"},
        {"role": "assistant", "content": "The capital of France is Paris."},
        {"role": "user", "content": "and of Italy?"},
    ]
    assert chat.replies([talk]) == ["The capital of Italy is Rome."]


def test_a_story_ends_by_itself(chat: Chat) -> None:
    story = chat.reply("Tell me a story")
    assert story.startswith("Once upon a time")
    assert story.endswith("The end.")


def test_replies_are_the_same_alone_and_in_a_batch(chat: Chat) -> None:
    questions = ["What is a token?", "hello", "What does the server see?"]
    talks = [[{"role": "user", "content": question}] for question in questions]
    assert chat.replies(talks) == [chat.reply(question) for question in questions]


def test_a_question_after_two_thousand_tokens_is_still_answered(chat: Chat) -> None:
    facts = [f for f in facts_by_id().values() if f.topic in ("product", "parts")]
    talk: list[dict[str, str]] = []
    for fact in facts[:55]:
        question = fact.phrasings[0].texts[0]
        talk.append({"role": "user", "content": question})
        talk.append({"role": "assistant", "content": fact.answer})
    talk.append({"role": "user", "content": "What is the capital of France?"})
    assert len(chat.tokenizer.apply_chat_template(talk, return_dict=False)) > 2000
    assert chat.replies([talk]) == ["The capital of France is Paris."]
