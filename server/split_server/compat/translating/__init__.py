"""What translations of other APIs into OpenAI's chat requests share."""
