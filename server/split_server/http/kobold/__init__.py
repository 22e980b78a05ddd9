"""Routes of Kobold's API."""
