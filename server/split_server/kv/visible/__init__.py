"""Rows of a session that its later rows do not see: kept apart until they are shown again."""
