"""Chat templates of models: programs by strangers, rendered in a process of their own."""
