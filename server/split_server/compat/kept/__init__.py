"""What is kept for later requests: prompts kept warm, pinned, and checked."""
