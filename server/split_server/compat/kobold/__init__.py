"""The Kobold attention API without sockets: requests to values, events to bytes."""
