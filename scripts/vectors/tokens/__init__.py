"""Token ids of SmolLM2's texts, as llama.cpp makes them."""
