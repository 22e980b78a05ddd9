"""Kept keys and values on disk: encrypted files of runs that outlive a process."""
