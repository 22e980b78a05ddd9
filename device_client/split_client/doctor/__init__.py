"""``split-client doctor``: what keeps this device from chatting, found link by link."""
