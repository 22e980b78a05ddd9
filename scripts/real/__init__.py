"""A real model: SmolLM2-135M-Instruct, chats with it, and what is measured on it."""
