"""Texts and chats of requests, and how a chat becomes the text of a prompt."""
