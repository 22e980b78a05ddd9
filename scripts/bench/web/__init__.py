"""The web app in a real Chromium."""
