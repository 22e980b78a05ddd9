"""What redaction lets through, what it costs, and what comes back (docs/redaction.md)."""
