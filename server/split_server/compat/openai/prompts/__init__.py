"""How a chat becomes the text of a prompt, where a request says more than its messages."""
