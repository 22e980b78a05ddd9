"""Round trips of a reply: what drafts and forced tokens save of them, and what they cost."""
