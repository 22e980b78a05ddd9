"""The field ``prediction``: a text that most of the reply is expected to be, such as a file that is
to be edited. It makes a reply no other, only faster.
"""

from __future__ import annotations

from split_server.compat.openai.errors import InvalidParameter, UnsupportedParameter
from split_server.compat.openai.fields import Fields
from split_server.compat.openai.messages import text_of

_MAX_KIND = 64


def parse_prediction(fields: Fields) -> str:
    """The predicted text, empty where there is none. Raises InvalidParameter,
    UnsupportedParameter.
    """
    prediction = fields.inner("prediction")
    if prediction is None:
        return ""
    kind = prediction.text("type", _MAX_KIND)
    if kind != "content":
        raise UnsupportedParameter(prediction.path("type"), "a prediction has the type content")
    if prediction.raw("content") is None:
        raise InvalidParameter(prediction.path("content"), "a string or a list of text parts")
    return text_of(prediction)
