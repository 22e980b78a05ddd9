"""Routes of OpenAI's Responses API."""
