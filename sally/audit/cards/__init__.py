"""The cards, one module per family of games; each defines CARD."""
