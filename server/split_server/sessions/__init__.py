"""Sessions of all principals: their store, the gate of their steps, framed and in-process ones."""
