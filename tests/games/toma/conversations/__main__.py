"""Write the golden conversations anew."""

from tests.games.toma.conversations import STRATEGIES, conversation, path_of

for strategy in STRATEGIES:
    path_of(strategy).write_text(conversation(strategy))
    print(f"wrote {path_of(strategy).name}")
