"""Files of the web app that are made from others."""
