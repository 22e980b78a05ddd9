"""Settings by what they are about, for the classes that commands read."""
