"""Transcripts of episodes as seen by one seat or by the referee."""

from __future__ import annotations

from collections.abc import Iterator

from sally.core.display.scenes import REFEREE, Scene, Story, ending, tell
from sally.core.errors import unknown
from sally.core.log.events import Censored, Ended, Episode, Forfeited, Moved, Skipped, Told, label


def transcript(episode: Episode, eyes: str = REFEREE) -> Iterator[str]:
    """Yield the lines of the transcript from the perspective of a seat or of the referee.

    Raises:
        BadInput: There is no such seat.
    """
    story, setup = tell(episode), episode.setup
    if eyes not in (REFEREE, *story.rules):
        raise unknown("seat", eyes, (REFEREE, *story.rules))
    yield f"episode {episode.id}: {setup.instance.game}, instance {setup.instance.id}"
    if eyes == REFEREE:
        players = (f"{seat} = {one_line(label(player))}" for seat, player in setup.lineup.items())
        yield f"at the table: {', '.join(players)}"
        yield from _referee(story)
    else:  # a seat does not see who the others are
        spec = setup.lineup.get(eyes)
        yield f"from the eyes of {eyes}" + (f" = {one_line(label(spec))}" if spec else "")
        yield from _seat(story, eyes)


def _referee(story: Story) -> Iterator[str]:
    turn = -1
    for scene in story.scenes:
        if scene.event is None:
            continue
        if scene.turn != turn:
            turn = scene.turn
            yield f"step {turn}"  # not "turn", which games use for their own turns
        yield f"  {_event_text(scene)}{_truth(scene)}"


def _seat(story: Story, seat: str) -> Iterator[str]:
    """Yield the lines of the transcript that a seat saw: its view, questions and injected
    information."""
    yield ""
    yield story.rules[seat] or f"(the {seat} has no page)"
    situation = ""
    sentences: tuple[str, ...] = ()
    for scene in story.seen_by(seat):
        yield from scene.new
        now = f"[step {scene.turn}] {scene.now}".rstrip()
        if now != situation and scene.view is not None:  # unchanged if the seat is asked twice
            situation, sentences = now, ()
            yield now
        if scene.told != sentences:
            sentences = scene.told
            yield from sentences
        if scene.event is not None and not isinstance(scene.event, Told):
            yield f"  {_event_text(scene)}"
    yield from story.after[seat]
    yield ending(story.episode.end, seat)


def _event_text(scene: Scene) -> str:
    seat, event = scene.seat, scene.event
    match event:
        case Ended() | Censored():
            return ending(event)
        case Moved():
            return f"{seat}: {scene.answer}" + (f'  "{one_line(event.reply)}"' * bool(event.reply))
        case Forfeited():
            return f"{seat} forfeits ({event.reason}): {one_line(event.reply)!r}"
        case Skipped():
            return f"{seat} is not asked {scene.probe}: {event.reason}"
    verb = "is told" if isinstance(event, Told) else "says aside,"
    return f"{seat} {verb} {scene.probe}: {scene.answer}"


def _truth(scene: Scene) -> str:
    """Return the truth that the referee sees next to an answer."""
    event = scene.event
    if isinstance(event, Told) and (event.source != "truth" or scene.right is not False):
        return f" ({event.source})"
    if (not isinstance(event, Told) and not scene.probe) or isinstance(event, Skipped):
        return ""
    return " (not scored)" if scene.truth is None else f" (true: {scene.truth})"


def one_line(text: str) -> str:
    """Return a text on one line, at most 200 characters."""
    flat = " ".join(text.split())
    return flat if len(flat) <= 200 else f"{flat[:197]}..."
