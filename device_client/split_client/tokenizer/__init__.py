"""Tokenizers of models: files by strangers, run here where that is bounded, else in a process."""
