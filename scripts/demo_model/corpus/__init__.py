"""Facts, conversations and documents that the embedded model is trained on."""
