"""The fixture games join the shelf; Hypothesis takes the time it needs."""

from hypothesis import settings

from sally.core import shelf
from tests.fixtures import cups, cups_partners, haggle, haggle_partners

settings.register_profile("lab", deadline=None, max_examples=15)
settings.load_profile("lab")

for game, minds in ((cups, cups_partners), (haggle, haggle_partners)):
    shelf.add("games", game.GAME.name, game.GAME)
    shelf.add("partners", game.GAME.name, minds.PARTNERS)
