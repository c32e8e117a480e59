"""TradeCraft: players with open hands and secret targets trade goods and craft with them."""
