"""The screen of the exact LM head: proven bounds from int8 rows."""
