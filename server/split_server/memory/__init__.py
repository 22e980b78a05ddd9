"""Memory of the process: limits, plan, measurements."""
