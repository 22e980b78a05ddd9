"""Rows of a session that its later rows do not see: kept apart, bit for bit, until they are shown."""
