"""The model in this process (ours, Hugging Face's), and behind a server."""
