"""Anthropic's Messages API, as requests and answers of a chat; no sockets."""
