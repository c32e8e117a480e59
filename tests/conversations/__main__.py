"""Write every golden conversation again, and the page of every strategy."""

from tests.conversations import conversation, pages, place, strategies, tables

for strategy in strategies():
    place(strategy).write_text(conversation(strategy), encoding="utf-8")
for game, strategy in tables.goldens():
    path = tables.path_of(game, strategy)
    path.parent.mkdir(exist_ok=True)
    path.write_text(tables.conversation(game, strategy), encoding="utf-8")
for page, text in pages.pages().items():
    page.write_text(text, encoding="utf-8")
