"""OpenAI's API without HTTP: requests parsed into dataclasses, replies encoded."""
