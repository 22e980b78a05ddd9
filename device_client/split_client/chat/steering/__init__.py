"""Replies that go on from what is there of them, and the tokens that could have come."""
