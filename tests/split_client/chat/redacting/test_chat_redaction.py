from __future__ import annotations

from split_client.chat.message import Message
from split_client.chat.redacting.redaction import ChatRedaction
from split_client.chat.redacting.schemas import redacted_document, redacted_form, redacted_schema
from split_client.grammar.form import Choice, Form, Gbnf, JsonObject, JsonSchema, Lark, Regex
from split_client.redaction.settings import RedactionSettings
from split_client.tools.call import ToolCall

ASKED = Message("user", "Does Anna Schmidt know?")


def redaction() -> ChatRedaction:
    return ChatRedaction(len, RedactionSettings())


def hide(text: str) -> str:
    return text.replace("Anna", "Berta")


def test_without_redaction_messages_are_given_as_they_are() -> None:
    off = ChatRedaction(len)
    assert off.given([ASKED]) == (ASKED,)
    assert off.text("Anna Schmidt") == "Anna Schmidt"
    assert off.undo() is None
    assert off.document() is None
    assert off.preview("Anna") == ("Anna", [])


def test_what_went_out_of_a_text_stays_as_it_went() -> None:
    chat = redaction()
    first = Message("user", "Wojcik wrote.")
    (sent,) = chat.given([first])
    assert sent.content == first.content
    again, other = chat.given([first, Message("user", "Anna Wojcik wrote.")])
    assert again == sent
    assert "Wojcik" not in other.content
    chat.switch(RedactionSettings(names=("Wojcik",)))
    assert "Wojcik" not in chat.given([first])[0].content


def test_a_reply_goes_out_again_as_it_was_written() -> None:
    chat = redaction()
    chat.given([ASKED])
    written = "Clara Schumann played."
    chat.note(chat.undone(written), written)
    reply = Message("assistant", chat.undone(written))
    assert chat.given([ASKED, reply])[1].content == written


def test_a_call_goes_out_again_as_it_was_written_and_one_of_another_chat_is_redacted() -> None:
    chat = redaction()
    (sent,) = chat.given([ASKED])
    surrogate = chat.entries[0].surrogate
    assert surrogate in sent.content
    own = ToolCall("1", "find", f'{{"name":  "{surrogate}"}}')
    chat.note(own.arguments, own.arguments)
    foreign = ToolCall("2", "find", '{"name": "Anna"}')
    message = Message("assistant", "", (own, foreign))
    given = chat.given([ASKED, message])[1]
    assert given.tool_calls[0] == own
    assert given.tool_calls[1].values() == {"name": surrogate}
    assert chat.call(own).values() == {"name": "Anna"}
    loaded = ChatRedaction(len)
    loaded.load(chat.document())
    assert loaded.given([ASKED, message])[1] == given


def test_a_saved_map_is_what_the_chat_had_and_replies_that_do_not_fit_it_are_left_out() -> None:
    chat = redaction()
    chat.given([ASKED])
    chat.note("Anna knows.", chat.entries[0].surrogate + " knows.")
    chat.note("something else", "what was never undone to that")
    other = ChatRedaction(len)
    other.load(chat.document())
    assert other.on
    assert other.entries == chat.entries
    assert other.given([ASKED]) == chat.given([ASKED])
    assert other.text("Anna knows.") == chat.text("Anna knows.")
    assert other.text("something else") == "something else"
    other.load(None)
    assert other.entries == chat.entries


def test_another_chat_begins_with_a_map_of_its_own_and_the_same_settings() -> None:
    chat = redaction()
    chat.given([ASKED])
    before = chat.entries
    chat.forget()
    assert chat.entries == ()
    chat.given([ASKED])
    assert chat.entries != before
    chat.switch(None)
    chat.forget()
    assert chat.document() is None


def test_texts_of_forms_and_tools_are_redacted_and_names_of_fields_stay() -> None:
    schema = {
        "type": "object",
        "description": "Of Anna.",
        "properties": {"Anna": {"enum": ["Anna", 1], "items": [{"const": "Anna"}]}},
        "required": ["Anna"],
    }
    made = redacted_schema(schema, hide)
    assert made["description"] == "Of Berta."
    assert made["properties"] == {"Anna": {"enum": ["Berta", 1], "items": [{"const": "Berta"}]}}
    assert made["required"] == ["Anna"]
    forms: list[Form] = [Choice(("Anna",)), Regex("Anna"), Lark("Anna"), Gbnf("Anna"), JsonObject()]
    assert [redacted_form(form, hide) for form in forms] == [
        Choice(("Berta",)), Regex("Berta"), Lark("Berta"), Gbnf("Berta"), JsonObject(),
    ]  # fmt: skip
    form = redacted_form(JsonSchema.of(schema), hide)
    assert isinstance(form, JsonSchema)
    assert form.schema == made
    tool = {"type": "function", "function": {"name": "Anna", "description": "Anna"}}
    assert redacted_document(tool, hide)["function"] == {"name": "Anna", "description": "Berta"}
