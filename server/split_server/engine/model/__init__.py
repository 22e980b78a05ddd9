"""The model on its device: loader, packed pass, attention."""
