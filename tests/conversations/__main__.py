"""Write every golden conversation again."""

from tests.conversations import conversation, place, strategies

for strategy in strategies():
    place(strategy).write_text(conversation(strategy), encoding="utf-8")
