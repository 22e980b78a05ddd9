"""The parts of the one admission: turns, the gate, what is kept, and the engine's queue."""
