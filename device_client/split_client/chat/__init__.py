"""Chats: conversations with a session of their own, and replies while they are made."""
