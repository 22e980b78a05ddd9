"""OpenAI's Responses API, as requests and answers of a chat, and what is kept; no sockets."""
