"""Every sentence of Hanabi by its key; a words pack may replace any."""

from __future__ import annotations

from collections.abc import Mapping

TEXTS: Mapping[str, str] = {
    "rules.aim": "You are {me}, and you play Hanabi with {others}. You all win or lose together. "
    "The deck has {deck} cards. A card has a colour ({colours}) and a rank (1 to {ranks}); of each "
    "colour there are {copies}. Together you build one pile for each colour, rank by rank from 1 "
    "up to {ranks}. The score is the number of cards on the piles, at most {highest}.",
    "rules.hands": "Each of you holds {hand} cards. Everybody sees the cards of the others but not "
    "their own. Cards are numbered from 1, the oldest, on; when a card leaves a hand, the newer "
    "ones move up, and the card drawn for it becomes the last.",
    "rules.hint": "Turns go round in this order: {order}. In a turn you do one of three things. "
    "Either you tell somebody about one colour or one rank: all of their cards that have it are "
    "pointed at, and there must be at least one. That costs one of the {hints} "
    "hint tokens, and without a token it cannot be done.",
    "rules.discard": "Or you discard a card: all see it, a hint token comes back, and you draw. "
    "That cannot be done while all {hints} tokens are there.",
    "rules.play": "Or you play a card. If it is the next of its colour, it goes onto its pile; "
    "whoever completes a pile gets a hint token back, if one is missing. If it is not the next, it "
    "is discarded and a life is lost. Either way you draw.",
    "rules.end.zero": "The game ends when {lives} lost, and then the score is 0, whatever is on "
    "the piles.",
    "rules.end.kept": "The game ends when {lives} lost; the cards on the piles still count.",
    "lives.one": "the only life is",
    "lives.many": "all {count} lives are",
    "rules.end": "It also ends when all piles are complete. And when the last card has been drawn, "
    "everybody has one more turn, whoever drew it included.",
    "copies": "{count} of rank {rank}",
    "card": "{colour} {rank}",
    "colour.0": "red",
    "colour.1": "yellow",
    "colour.2": "green",
    "colour.3": "white",
    "colour.4": "blue",
    "seat.ann": "Ann",
    "seat.bob": "Bob",
    "seat.cat": "Cat",
    "seat.dan": "Dan",
    "seat.eve": "Eve",
    "slot": "card {number}",
    "act.play": "play card {number}",
    "act.discard": "discard card {number}",
    "act.colour": "tell {seat} {colour}",
    "act.rank": "tell {seat} rank {rank}",
    "past.dealt": "The cards are dealt. {hands} You hold {count} cards that you cannot see.",
    "past.holds": "{seat} holds, from the oldest to the newest: {cards}.",
    "past.hint.colour": "{by} told {to} which cards are {colour}: {touched}.",
    "past.hint.rank": "{by} told {to} which cards are of rank {rank}: {touched}.",
    "touched.one": "card {numbers}",
    "touched.some": "cards {numbers}",
    "past.scored": "{by} played card {number}. It was {card} and is now on its pile.",
    "past.lost": "{by} played card {number}. It was {card}, which is not the next of its colour: "
    "a life is lost.",
    "past.discarded": "{by} discarded card {number}. It was {card}.",
    "past.passed": "{by} made no legal move, and the turn passed.",
    "drew.me": "You drew a card.",
    "drew.other": "{by} drew {card}.",
    "you": "you",
    "You": "You",
    "now": "Piles: {piles}. Hint tokens: {tokens} of {hints}. Lives: {lives} of {most_lives}. "
    "Cards in the deck: {left}. Discarded: {discards}. {hands}",
    "now.last": "The deck is empty, so this is the last turn of whoever moves.",
    "now.mine": "You hold {count} cards.",
    "now.known": "What hints have said so far. Your cards: {mine}. {others}",
    "known.nothing": "nothing",
    "known.card": "card {number} {what}",
    "known.is": "is {what}",
    "known.not": "is not {what}",
    "known.rank": "rank {rank}",
    "known.of": "{seat}'s cards: {what}.",
    "pile": "{colour} {height}",
    "none": "none",
    "question": "It is your turn. What do you do?",
    "aside.own_card": "Which card is your card {number}?",
    "aside.own_card_odds": "How likely is each card to be your card {number}?",
    "aside.own_playable": "How likely is it that each of your cards can be played right now, in "
    "percent?",
    "aside.their_belief": "Think of what {seat} can see and has been told. From what {seat} can "
    "know, how likely is each card to be {seat}'s card {number}, in percent? Count only what "
    "follows from hints and from the cards that {seat} sees, not what anybody may have meant.",
    "aside.their_known": "Can {seat} be certain, from hints and the cards that {seat} sees, that "
    "{seat}'s card {number} can be played right now?",
    "aside.their_move": "It is {seat}'s turn. What will {seat} do?",
    "move.play": "play card {number}",
    "move.discard": "discard card {number}",
    "move.hint": "give {seat} a hint",
    "yes": "yes",
    "no": "no",
    "told.truth.own_card": "You are told, reliably or not, that your card {about} is {value}.",
    "told.own.own_card": "You have said that your card {about} is {value}.",
    "told.truth.own_card_odds": "You are told, reliably or not, that your card {about} is {value}.",
    "told.own.own_card_odds": "You have said that your card {about} is most likely {value}.",
    "told.truth.own_playable": "You are told how likely each of your cards can be played, in "
    "percent: {value}.",
    "told.own.own_playable": "You have said how likely each of your cards can be played, in "
    "percent: {value}.",
    "told.truth.their_belief": "You are told how likely each card is to be {about}, as its holder "
    "can know it, in percent: "
    "{value}.",
    "told.own.their_belief": "You have said how likely each card is to be {about}, as its holder "
    "can know it, in percent: "
    "{value}.",
    "told.truth.their_known": "You are told, reliably or not, whether {about} is known to be "
    "playable: {value}.",
    "told.own.their_known": "You have said whether {about} is known to be playable: {value}.",
    "told.truth.their_move": "You are told, reliably or not, what {about} does: {value}.",
    "told.own.their_move": "You expected {about} to do this: {value}.",
}
