"""The commands of a chat, ``/help`` and its like, by what they are about."""
