"""Tables for the terminal and for papers."""
