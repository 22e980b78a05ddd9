"""Routes of Anthropic's Messages API."""
