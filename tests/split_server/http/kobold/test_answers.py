"""JSON of long answers."""

from __future__ import annotations

import json
import threading
import time

from split_server.http.kobold.answers import dumped_list


def test_a_list_made_in_slices_is_the_json_of_the_whole() -> None:
    for values in ([], [1], list(range(5000)), [{"text": 'é"', "token_id": 1}] * 4097):
        assert dumped_list(values) == json.dumps(values).encode()


def test_other_threads_run_while_a_long_list_is_encoded() -> None:
    values = [{"token_id": number, "text": "a"} for number in range(400_000)]
    encoding = threading.Thread(target=dumped_list, args=(values,))
    turns = 0
    encoding.start()
    while encoding.is_alive():
        time.sleep(0.001)
        turns += 1
    # Encoded in one piece, the list leaves this thread one or two.
    assert turns > 8
