"""Parts of a prompt that the server knows from other texts, by what they say."""
