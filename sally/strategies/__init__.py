"""One prompting strategy per file, each fits every game. A module defines `STRATEGY`."""
