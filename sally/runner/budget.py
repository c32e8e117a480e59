"""Budgets: count the resources used by calls and stop a run at its limit."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager

import msgspec

from sally.core.errors import BadInput, join_names
from sally.core.prompt.model import (
    Answer,
    Context,
    Model,
    ModelFailure,
    Reply,
    Usage,
    WrappedModel,
)
from sally.runner.config import Config
from sally.runner.gates import hopeless

LOOK_SECONDS = 0.02  # between looks whether a call fits into the budget
CHARACTERS = 4  # assumed per token where the provider does not count


def money_text(amount: float, currency: str) -> str:
    """Return an amount of money for display, the same everywhere.

    >>> money_text(0.01234, "USD")
    '0.0123 USD'
    """
    digits = 2 if amount >= 1 or not amount else 4
    if not amount and not currency:
        return "0"
    return f"{amount:,.{digits}f} {currency or 'in an unrecorded currency'}"


class EpisodeStopped(Exception):
    """Raised when no further call is made; the episode is censored with this cause."""

    def __init__(self, cause: str, detail: str) -> None:
        super().__init__(cause, detail)
        self.cause, self.detail = cause, detail


class BudgetSpent(EpisodeStopped):
    """Raised when the budget is spent."""


class Budget(msgspec.Struct, frozen=True):
    """Upper bounds on the resources that a run may use; a bound of None means no limit."""

    money: float | None = None
    tokens: int | None = None

    def __post_init__(self) -> None:
        for name in ("money", "tokens"):
            value = getattr(self, name)
            if value is not None and not value >= 0:
                raise BadInput(f"A budget must be at least 0, not {value}.")


class Meter:
    """A counter of the calls, money and tokens used in a run or an episode."""

    def __init__(
        self,
        budget: Budget | None = None,
        config: Config | None = None,
        run: Meter | None = None,  # the run's meter, charged as well
    ) -> None:
        self._budget, self.config, self._run = budget or Budget(), config or Config(), run
        self.calls, self.tokens, self.money = 0, 0, 0.0
        self.failed, self.words = 0, ""  # calls that failed, and why the last one did
        self.unpriced = 0  # calls without a known price
        self.guessed = 0  # calls whose tokens the provider did not count
        self._pending = Budget(0.0, 0)  # estimated use of the calls in progress

    def of_episode(self) -> Meter:
        """Return a meter for one episode, with the configured limit per episode."""
        return Meter(Budget(tokens=self.config.limits.episode_tokens), self.config, self)

    @property
    def spent(self) -> bool:
        """Whether the budget is used up."""
        budget = self._budget
        money_is_spent = budget.money is not None and self.money >= budget.money
        return money_is_spent or (budget.tokens is not None and self.tokens >= budget.tokens)

    def refuse_if_spent(self) -> None:
        """Raise BudgetSpent if the run's budget or the episode's limit is used up, and
        EpisodeStopped if the run stops because no call is answered."""
        if self._run is not None:
            self._run.refuse_if_spent()
            if (reason := hopeless()) is not None:
                raise EpisodeStopped("fault", reason)
        if self.spent:
            cause = "budget" if self._run is None else "limit"
            raise BudgetSpent(cause, f"spent: {self.usage_text}")

    async def wait_for_room(self) -> None:
        """Wait while the calls in progress are expected to use up the run's budget.

        Without this, as many calls as a model takes at once would begin before the first is paid.

        Raises:
            BudgetSpent: The budget is used up.
        """
        import asyncio  # late: not needed for bots

        self.refuse_if_spent()
        run = self if self._run is None else self._run
        while run.is_promised:
            await asyncio.sleep(LOOK_SECONDS)
            self.refuse_if_spent()

    @property
    def is_promised(self) -> bool:
        """Whether the calls in progress are expected to use up the budget."""
        bounds, pending = self._budget, self._pending
        return bool(
            (pending.money and _is_reached(bounds.money, self.money + pending.money))
            or (pending.tokens and _is_reached(bounds.tokens, self.tokens + pending.tokens))
        )

    @contextmanager
    def expecting(self, model: str, characters: int) -> Iterator[None]:
        """Count a call as expected use while it is in progress: its prompt or, if that is more, the
        mean of the calls so far."""
        if self._run is not None:
            with self._run.expecting(model, characters):
                yield
            return
        answered = max(self.calls - self.failed, 1)
        tokens = max(round(characters / CHARACTERS), round(self.tokens / answered))
        price = self.config.price(model)
        money = 0.0 if price is None else price.of(Usage(input=tokens))
        money = max(money, self.money / answered)
        self._add_pending(money, tokens)
        try:
            yield
        finally:
            self._add_pending(-money, -tokens)

    def _add_pending(self, money: float, tokens: int) -> None:
        pending = self._pending
        self._pending = Budget(
            max((pending.money or 0.0) + money, 0.0), max((pending.tokens or 0) + tokens, 0)
        )

    @property
    def usage_text(self) -> str:
        """The calls, tokens and money used so far, in one sentence."""
        prices = self.config.prices
        money = f", {money_text(self.money, prices.currency)}" if prices else ""
        guessed = (
            f" (those of {self.guessed} calls estimated, because the provider did not count them)"
            if self.guessed
            else ""
        )
        failed = f" ({self.failed:,} failed)" if self.failed else ""
        return f"{self.calls:,} calls{failed}, {self.tokens:,} tokens{money}{guessed}"

    def fail(self, words: str) -> None:
        """Count a failed call, which costs nothing."""
        self.calls += 1
        self.failed, self.words = self.failed + 1, words
        if self._run is not None:
            self._run.fail(words)

    def charge(self, model: str, usage: Usage, characters: int = 0) -> Usage:
        """Count a call and return its usage, with its cost if a price is known.

        Tokens that the provider did not count stay unknown in the record; for the budget they are
        estimated from the characters sent and received.
        """
        self.calls += 1
        counted = usage.input > 0  # a prompt is never empty
        used = usage if counted else Usage(input=round(characters / CHARACTERS))
        self.guessed += not counted
        self.tokens += used.input + used.output
        price = self.config.price(model)
        cost = usage.cost if usage.cost is not None or price is None else price.of(used)
        if cost is None:
            self.unpriced += 1
        else:
            self.money += cost
            usage = msgspec.structs.replace(usage, cost=cost) if counted else usage
        return usage if self._run is None else self._run.charge(model, usage, characters)

    def add(
        self, calls: int, failed: int, tokens: int, money: float, unpriced: int, guessed: int
    ) -> None:
        """Add the resources used in another process."""
        self.calls += calls
        self.failed += failed
        self.tokens += tokens
        self.money += money
        self.unpriced += unpriced
        self.guessed += guessed

    def share(self, parts: int, shares_out: Iterable[Budget] = ()) -> Budget | None:
        """Return an equal share of the remaining budget, or None if nothing remains.

        All shares together stay within the budget.
        """
        out = list(shares_out)
        parts = max(parts - len(out), 1)
        money, tokens = self._budget.money, self._budget.tokens
        if money is not None:
            money = (money - self.money - sum(b.money or 0.0 for b in out)) / parts
        if tokens is not None:
            tokens_left = tokens - self.tokens - sum(b.tokens or 0 for b in out)
            tokens = max(
                tokens_left // parts, min(tokens_left, 1)
            )  # a single remaining token is not split
        if (money is not None and money <= 0) or (tokens is not None and tokens <= 0):
            return None
        return Budget(money, tokens)

    def refuse_unpriced(self, models: Iterable[str]) -> None:
        """Raise BadInput if the budget limits money and a model has no price."""
        if self._budget.money is None:
            return
        dark = sorted(name for name in models if self.config.price(name) is None)
        if dark:
            raise BadInput(
                f"The price of {join_names(dark)} is unknown, so a budget in money cannot be "
                f"enforced; "
                "add it under [prices.per_million] in sally.toml, or set a budget in tokens."
            )


def _is_reached(bound: float | None, amount: float) -> bool:
    return bound is not None and amount >= bound


class Metered(WrappedModel):
    """A model whose calls are charged to a meter and refused once the budget is spent."""

    def __init__(self, model: Model, meter: Meter, name: str) -> None:
        self._model, self._meter, self._name = model, meter, name

    async def call(self, ask: Callable[[Model], Awaitable[Answer]], context: Context) -> Answer:
        await self._meter.wait_for_room()
        texts = [context] if isinstance(context, str) else [m.text for m in context]
        try:
            with self._meter.expecting(self._name, sum(map(len, texts))):
                answer = await ask(self._model)
        except ModelFailure as why:
            self._meter.fail(why.fault.detail)
            raise
        if isinstance(answer, Reply):
            texts.append(answer.text)
        characters = sum(map(len, texts))
        used = self._meter.charge(self._name, answer.usage.drop_implausible(), characters)
        return msgspec.structs.replace(answer, usage=used)
