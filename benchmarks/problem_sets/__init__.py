"""How the shipped sets of problems were drawn: one module per game.

The package contains the sets as data and never draws them again. A set is not edited; tests draw
sets, or their first problems, again and compare them with the stored ones.
"""
