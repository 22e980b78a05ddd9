"""The llama engine: its step beside llama.cpp's own, its tokens, and hostile sessions."""
