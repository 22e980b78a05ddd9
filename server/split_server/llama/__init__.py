"""llama.cpp as the engine of GGUF files: its library, one context with cells, sessions in it."""
