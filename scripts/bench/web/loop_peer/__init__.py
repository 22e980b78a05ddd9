"""A page with our ends and with a loop in JavaScript, their peer."""
