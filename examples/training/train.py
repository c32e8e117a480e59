"""Train a language model from a local folder on a matrix game, and test what transfers.

    python train.py --model FOLDER --game rps --out OUT --seconds 150 --seed 0
    python train.py --model qwen-0.5b --partners population --out OUT --seconds 500 --seed 0

The model sits in the agent's seat of Sally's text environment and answers by its odds of the option
names (strategy `lm`). Its partners are the training partners of the game's split, or a population
of random machines that it meets in several wordings and with random letters; with a population,
practice machines decide which step's weights are kept. It is tested before and after on training
partners, held-out partners, other games, another family and, after a population, questions about
stories; both stores carry `trained_on`, so that `sally compare --transfer OUT/*/after` makes a
matrix of them. A run that is called again goes on from its last checkpoint.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from evaluating import PACK, answers, cells, evaluate, population_cells
from lessons import Lesson, LessonRequest, Teacher
from population import population, reletter
from scoring import Growing, Page, Policy

from sally.adapters.trainers.text import TextEnv, TextEnvs
from sally.core.rules.chance import Stream, derived_seed
from sally.parts.training import Task

LEARNT = {"move": "doing", "probe": "knowing", "both": "doing and knowing"}
WARM_UP = 5  # steps in which the learning rate rises
LONGEST_RUN = 10_000
# Wordings of the training: the terse one, in which most tests are worded, as often as all others.
WORDINGS = (PACK, PACK, PACK, PACK, "repeated_games_names", "repeated_games_money",
            "repeated_games_formal", "")  # fmt: skip


class Sample(NamedTuple):
    """One decision to learn from: a page, what each candidate is worth, and which was taken."""

    page: Page
    worths: list[float]
    choice: int
    advantage: float


def main() -> None:
    options = arguments()
    torch.manual_seed(options.seed)
    policy = Policy(options.model, options.device)
    out: Path = options.out
    out.mkdir(parents=True, exist_ok=True)
    base = options.base or options.model.name
    label = f"{base}-{options.game}-{options.learn}-{options.seed}"
    of_population = options.partners == "population"
    tests = (population_cells if of_population else cells)(options.game, options.stories)
    if options.most:
        tests = {cell: tasks[: options.most] for cell, tasks in tests.items()}
    if options.before and not (out / "before").exists():
        evaluate(policy, out / "before", tests, base, {}, options.test_seeds)
    if options.untrained:
        return
    kind = TaughtRun if options.estimator == "best_moves" else PopulationRun
    run = kind(policy, options) if of_population else Run(policy, options)
    run.resume(out / "checkpoint.pt")
    run.train(out)
    about = {
        "name": f"{options.game}, {LEARNT[options.learn]}",
        "partners": options.partners,
        "game": options.game,
        "learn": options.learn,
        "seed": options.seed,
        "steps": getattr(run, "best_step", run.step),
        "estimator": options.estimator,
        "base": base,
    }
    if not (out / "after").exists():
        evaluate(policy, out / "after", tests, label, about, options.test_seeds)
    if options.save:
        policy.model.save_pretrained(out / "model")
        policy.tokenizer.save_pretrained(out / "model")
        (out / "model" / "trained_on.json").write_text(json.dumps(about, indent=1))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--model", type=Path, required=True, help="a folder for transformers, or known weights"
    )
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--base", default="", help="what the model is called in stores")
    parser.add_argument("--game", default="rps", choices=("rps", "ipd", "ibs"))
    parser.add_argument("--partners", default="split", choices=("split", "population"))
    parser.add_argument("--learn", default="move", choices=("move", "probe", "both"))
    parser.add_argument(
        "--estimator", default="all_moves", choices=("all_moves", "best_moves", "reinforce")
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=150.0, help="of learning, tests apart")
    parser.add_argument("--steps", type=int, default=LONGEST_RUN)
    parser.add_argument("--tasks", type=int, default=18, help="of each step")
    parser.add_argument("--group", type=int, default=4, help="episodes of each task")
    parser.add_argument("--updates", type=int, default=2, help="of the weights in each step")
    parser.add_argument("--lr", type=float, default=1e-4)
    parser.add_argument("--entropy", type=float, default=0.02)
    parser.add_argument("--test-seeds", type=int, default=8)
    parser.add_argument("--stories", type=int, default=40, help="problems of the other family")
    parser.add_argument("--most", type=int, default=0, help="problems of each column; 0: all")
    parser.add_argument("--untrained", action="store_true", help="test it untrained, and stop")
    parser.add_argument("--save-every", type=float, default=120.0, help="seconds")
    parser.add_argument("--workers", type=int, default=4, help="processes that play, best_moves")
    parser.add_argument("--episodes", type=int, default=32, help="of a step, with a population")
    parser.add_argument("--practice-every", type=int, default=10, help="steps, with a population")
    parser.add_argument("--practised", type=int, default=48, help="episodes of a practice round")
    parser.add_argument("--patience", type=int, default=6, help="practice rounds without progress")
    parser.add_argument("--device", default="")
    parser.add_argument("--no-before", dest="before", action="store_false")
    parser.add_argument("--save", action="store_true", help="keep the trained model as a folder")
    options = parser.parse_args()
    if options.partners == "split" and (
        options.learn == "both" or options.estimator == "best_moves"
    ):
        parser.error("--learn both and --estimator best_moves need --partners population.")
    return options


class Run:
    """A policy on its way: episodes, an update, a line of the curve; again and again."""

    def __init__(self, policy: Policy, options: argparse.Namespace) -> None:
        self.policy, self.options, self.step, self.spent = policy, options, 0, 0.0
        weights = policy.model.parameters()
        self.optimiser = torch.optim.AdamW(weights, options.lr, betas=(0.9, 0.95), weight_decay=0.0)
        probes = ["their_move"] if options.learn == "probe" else []

        def env() -> TextEnv:
            return TextEnv(options.game, strategy="lm", probes=probes, pack=PACK, sample=True)

        self.envs = TextEnvs(env, options.tasks * options.group)
        rules = [t.instance.params for t in self.envs.envs[0].split.part("train")]
        self.rounds = rules[0]["rounds"]

    def train(self, out: Path) -> None:
        """Learn until the time or the steps are used up."""
        saved = self.spent
        with (out / "curve.jsonl").open("a") as curve:
            while self.spent < self.options.seconds and self.step < self.options.steps:
                began = time.monotonic()
                line = self.one_step()
                self.spent += time.monotonic() - began
                self.step += 1
                line |= {"step": self.step, "seconds": round(self.spent, 2)}
                print(json.dumps(line), file=curve, flush=True)
                if self.spent - saved > self.options.save_every:
                    self.save(out / "checkpoint.pt")
                    saved = self.spent
        self.save(out / "checkpoint.pt")

    def one_step(self) -> dict[str, Any]:
        """Play, learn from it, and say how it went."""
        samples, played = self.play()
        learnt = self.learn(samples)
        return {**played, **learnt}

    def play(self) -> tuple[list[Sample], dict[str, Any]]:
        """One episode in each environment; the decisions to learn from."""
        self.policy.forget()
        draws = Stream("training", self.options.seed, self.step)
        tasks = draws.shuffled(self.envs.envs[0].split.part("train"))[: self.options.tasks]
        seeds = (derived_seed("training", self.options.seed, self.step, n) for n in range(10**9))
        self.envs.begin([(t, next(seeds)) for t in tasks for _ in range(self.options.group)])
        while waiting := self.envs.asked():
            scores = answers(self.policy, [self.envs.envs[i] for i in waiting])
            self.envs.step(dict(zip(waiting, scores, strict=True)))
        return self.samples(), how_it_went(self.envs.envs)

    def samples(self) -> list[Sample]:
        kind = "move" if self.options.learn == "move" else "their_move"
        rows = [(env.task, row) for env in self.envs.envs for row in env.rows((kind,))]
        asks = [row.tries[-1][0] for _, row in rows]
        pages = self.policy.pages([(str(a.messages), a.candidates) for a in asks])
        if kind != "move":  # to foresee is learnt by the log score, which is proper
            right = [(p, r) for p, (_, r) in zip(pages, rows, strict=True) if r.truth is not None]
            return [Sample(page, [], int(row.truth), 1.0) for page, row in right]
        returns = [advantage for env in self.envs.envs for advantage in to_go(env)]
        keys = [(task.instance.id, task.company, row.turn) for task, row in rows]
        better = against_group(keys, returns)
        return [
            Sample(page, row.worths[:-1], row.move, advantage)
            for page, (_, row), advantage in zip(pages, rows, better, strict=True)
            if row.worths is not None and row.move is not None
        ]

    def learn(self, samples: Sequence[Sample]) -> dict[str, Any]:
        """A few steps of the optimiser, each over its share of the samples."""
        mixed = Stream("update", self.options.seed, self.step).shuffled(samples)
        parts = [mixed[n :: self.options.updates] for n in range(self.options.updates)]
        updates = [self.update(part) for part in parts if part]
        return {"samples": len(samples)} | {
            name: sum(figures[name] for figures in updates) / len(updates) for name in updates[0]
        }

    def update(self, samples: Sequence[Sample]) -> dict[str, float]:
        for group in self.optimiser.param_groups:
            group["lr"] = self.rate()
        self.optimiser.zero_grad(set_to_none=True)
        unsure = 0.0
        for chunk in self.policy.chunks([s.page for s in samples]):
            chunk_samples = [samples[i] for i in chunk]
            loss, spread = self.loss(
                self.policy.score_pages([s.page for s in chunk_samples]), chunk_samples
            )
            (loss / len(samples)).backward()
            unsure += float(spread)
        norm = torch.nn.utils.clip_grad_norm_(self.policy.model.parameters(), 1.0)
        self.optimiser.step()
        return {"entropy": unsure / len(samples), "norm": float(norm)}

    def loss(
        self, scores: torch.Tensor, samples: Sequence[Sample]
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The loss of decisions, and how unsure the policy was in all of them."""
        logs = scores.log_softmax(-1)
        odds, is_candidate = logs.exp(), scores.isfinite()
        spread = -(odds * logs.masked_fill(~is_candidate, 0.0)).sum()
        choices = torch.tensor([s.choice for s in samples], device=logs.device)
        chosen_logs = logs.gather(1, choices[:, None])[:, 0]
        if self.options.learn == "probe":
            return -chosen_logs.sum(), spread.detach()
        if self.options.estimator == "reinforce":
            better = torch.tensor([s.advantage for s in samples], device=logs.device)
            loss = -(better * chosen_logs).sum()
        else:  # every move's exact worth is known, so all of them teach, taken or not
            missed = torch.zeros(scores.shape)
            for n, sample in enumerate(samples):
                missed[n, : len(sample.worths)] = torch.tensor(given_up(sample.worths))
            loss = (odds * missed.to(logs.device)).sum()
        return loss - self.options.entropy * spread, spread.detach()

    def save(self, path: Path) -> None:
        state = {
            "model": self.policy.model.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "step": self.step,
            "spent": self.spent,
        }
        partial = path.with_suffix(".partial")
        torch.save(state, partial)
        partial.replace(path)

    def rate(self) -> float:
        """The learning rate of this step."""
        return float(self.options.lr * min(1.0, (self.step + 1) / WARM_UP))

    def resume(self, path: Path) -> None:
        """Go on from a checkpoint, if there is one."""
        if path.is_file():
            state = torch.load(path, map_location=self.policy.device, weights_only=True)
            self.policy.model.load_state_dict(state["model"])
            self.optimiser.load_state_dict(state["optimiser"])
            self.step, self.spent = state["step"], state["spent"]


class PopulationRun(Run):
    """Doing, learnt from a population; the weights that do best in practice are kept.

    Rules and history of an episode are evaluated once, for playing and for learning, so a step is
    several times cheaper than with one page a decision.
    """

    def __init__(self, policy: Policy, options: argparse.Namespace) -> None:
        super().__init__(policy, options)
        self.check(options)
        self.machines = population(options.game)
        self.best: dict[str, torch.Tensor] = {}
        self.least, self.best_step, self.stale = float("inf"), 0, 0

    def check(self, options: argparse.Namespace) -> None:
        if options.learn != "move" or options.estimator != "all_moves":
            raise SystemExit("A population teaches moves by the exact worth of all of them.")

    def train(self, out: Path) -> None:
        """Learn until practice gets no better, or the time is used up; keep the best weights."""
        if self.best_step:  # a finished run that is called again
            return
        with (out / "curve.jsonl").open("a") as curve:
            began = time.monotonic()
            self.practise(curve)
            while (
                self.spent < self.options.seconds
                and self.step < self.options.steps
                and self.stale < self.options.patience
            ):
                line = self.one_step()
                self.step += 1
                self.spent = time.monotonic() - began
                line |= {"step": self.step, "seconds": round(self.spent, 2)}
                print(json.dumps(line), file=curve, flush=True)
                if self.step % self.options.practice_every == 0:
                    self.practise(curve)
            self.practise(curve)
        self.policy.model.load_state_dict(self.best)

    def practise(self, curve: Any) -> None:
        """Play the practice machines, and keep the weights if regret was never lower."""
        tasks = self.machines.part("validation")
        episodes = [
            (task, (PACK, "repeated_games_names")[n % 2], derived_seed("practice", n))
            for n, task in enumerate((tasks * 2)[: self.options.practised])
        ]
        played = self.play_episodes(episodes)
        device, total_regret = self.policy.device, 0.0
        with torch.no_grad():
            for trees, samples in self.trees(played):
                total_regret += float(
                    regrets(self.policy.scored_together(trees), samples, device).sum()
                )
        regret = total_regret / sum(len(env.rows()) for env, _ in played)
        better = regret < self.least - 1e-4
        if better:
            self.least, self.best_step = regret, self.step
            state = self.policy.model.state_dict()
            self.best = {name: value.clone() for name, value in state.items()}
        self.stale = 0 if better else self.stale + 1
        line = {"step": self.step, "practice": regret, "best": self.best_step}
        print(json.dumps(line), file=curve, flush=True)

    def one_step(self) -> dict[str, Any]:
        """Play machines that are drawn anew, each in a wording and with letters of its own."""
        played = self.play_episodes(self.draw_episodes(self.step))
        return {**how_it_went([env for env, _ in played]), **self.learn_from(played)}

    def draw_episodes(self, step: int) -> list[tuple[Task, str, int]]:
        """Draw the machines, letters, wordings and seeds of a step."""
        draws = Stream("training", self.options.seed, step)
        return [
            (
                reletter(draws.pick(self.machines.part("train")), draws),
                draws.pick(WORDINGS),
                derived_seed("training", self.options.seed, step, n),
            )
            for n in range(self.options.episodes)
        ]

    def play_episodes(
        self, episodes: Sequence[tuple[Task, str, int]]
    ) -> list[tuple[TextEnv, list[Page]]]:
        """Episodes played to their ends, with the page of each decision."""
        self.policy.forget()
        games = []
        for task, wording, seed in episodes:
            env = TextEnv(self.options.game, strategy="lm", pack=wording, sample=True)
            env.begin(task, seed)
            games.append((env, list[Page]()))
        growing = Growing(self.policy, len(games))
        while waiting := [n for n, (env, _) in enumerate(games) if env.asked is not None]:
            asks = [games[n][0].asked for n in waiting]
            pages = self.policy.pages([(str(a.messages), a.candidates) for a in asks if a])
            scores = growing.scores(dict(zip(waiting, pages, strict=True)))
            for n, page in zip(waiting, pages, strict=True):
                games[n][0].step(scores[n])
                games[n][1].append(page)
        return games

    def trees(self, played: Sequence[tuple[TextEnv, list[Page]]]) -> Any:
        """Trees that fit into one pass, with the decisions of their pages."""
        for chunk, trees in self.policy.together([pages for _, pages in played]):
            rows = [row for n in chunk for row in played[n][0].rows()]
            samples = [Sample(Page([], []), (row.worths or [])[:-1], 0, 0.0) for row in rows]
            yield trees, samples

    def learn_from(self, played: Sequence[Any]) -> dict[str, Any]:
        """One step of the optimiser; with too little memory, in smaller passes."""
        while True:
            try:
                for group in self.optimiser.param_groups:
                    group["lr"] = self.rate()
                self.optimiser.zero_grad(set_to_none=True)
                figures = self.add_gradients(played)
                norm = torch.nn.utils.clip_grad_norm_(self.policy.model.parameters(), 1.0)
                self.optimiser.step()
                return figures | {"norm": float(norm)}
            except torch.OutOfMemoryError:
                if self.policy.learn_tokens < 1_024:
                    raise
                self.policy.learn_tokens //= 2
                torch.cuda.empty_cache()

    def add_gradients(self, played: Sequence[Any]) -> dict[str, Any]:
        """Add up the gradients of all decisions, and say how they went."""
        n_decisions = sum(len(env.rows()) for env, _ in played)
        total_loss = unsure = expected = 0.0
        for trees, samples in self.trees(played):
            scores = self.policy.scored_together(trees)
            loss, spread = self.loss(scores, samples)
            (loss / n_decisions).backward()
            total_loss, unsure = total_loss + float(loss.detach()), unsure + float(spread)
            expected += float(regrets(scores.detach(), samples, self.policy.device).sum())
        totals = {"loss": total_loss, "entropy": unsure, "expected": expected}
        return {name: value / n_decisions for name, value in totals.items()}

    def rate(self) -> float:
        """Rises in the first steps and then falls with the time that is left, to a tenth."""
        done = max(self.spent / self.options.seconds, self.step / self.options.steps)
        return super().rate() * (1 - 0.9 * min(1.0, done))

    def save(self, path: Path) -> None:
        """Nothing: a population is learnt from in one go."""


class TaughtRun(PopulationRun):
    """Doing, or doing and knowing, taught by the log-odds of the right answers.

    A certain mistake keeps its gradient, which it loses when expected regret is the loss.
    """

    def __init__(self, policy: Policy, options: argparse.Namespace) -> None:
        super().__init__(policy, options)
        self.teacher = Teacher(policy.folder, options.workers)

    def check(self, options: argparse.Namespace) -> None:
        if options.learn == "probe":
            raise SystemExit("A population teaches moves, or moves and predictions.")

    def train(self, out: Path) -> None:
        try:
            super().train(out)
        finally:
            self.teacher.close()

    def one_step(self) -> dict[str, Any]:
        return self.learn_from(
            self.teacher.lessons(self.plan_lessons(self.step), self.plan_lessons(self.step + 1))
        )

    def plan_lessons(self, step: int) -> list[LessonRequest]:
        """Return the episodes of a step."""
        probed = self.options.learn == "both"
        return [
            LessonRequest(self.options.game, *episode, probed)
            for episode in self.draw_episodes(step)
        ]

    def add_gradients(self, played: Sequence[Lesson]) -> dict[str, Any]:
        """Add up the gradients; losses and entropies are means over moves and over predictions."""
        n_decisions = sum(len(lesson.pages) for lesson in played)
        figures = dict.fromkeys(("loss", "entropy", "expected", "foreseeing"), 0.0)
        moves = sum(1 for lesson in played for worths in lesson.worths if worths)
        for chunk, trees in self.policy.together([lesson.pages for lesson in played]):
            right_places = [answer_places for n in chunk for answer_places in played[n].right]
            worths = [decision_worths for n in chunk for decision_worths in played[n].worths]
            scores = self.policy.scored_together(trees)
            logs = scores.log_softmax(-1)
            good = torch.zeros(scores.shape, dtype=torch.bool)
            for row, places in enumerate(right_places):
                good[row, places] = True
            losses = -logs.masked_fill(~good.to(logs.device), -torch.inf).logsumexp(-1)
            (losses.sum() / n_decisions).backward()
            moved = torch.tensor(
                [bool(decision_worths) for decision_worths in worths], device=logs.device
            )
            losses, logs = losses.detach(), logs.detach()
            samples = [
                Sample(Page([], []), decision_worths or [0.0], 0, 0.0) for decision_worths in worths
            ]
            figures["loss"] += float(losses[moved].sum()) / moves
            figures["foreseeing"] += float(losses[~moved].sum()) / max(n_decisions - moves, 1)
            figures["entropy"] -= float((logs.exp() * logs).nan_to_num()[moved].sum()) / moves
            lost_worth = regrets(scores.detach(), samples, self.policy.device)
            figures["expected"] += float(lost_worth[moved].sum()) / moves
        return figures


def how_it_went(envs: Sequence[TextEnv]) -> dict[str, Any]:
    """The mean of each reward column over all decisions."""
    column_values = defaultdict(list)
    for env in envs:
        for row in env.rows(("move", "their_move")):
            for name in ("regret", "payoff", "belief", "reply"):
                value = getattr(row.columns, name)
                if value is not None:
                    column_values[name].append(value)
    return {name: sum(values) / len(values) for name, values in column_values.items()}


def regrets(scores: torch.Tensor, samples: Sequence[Sample], device: str) -> torch.Tensor:
    """By decision, the regret to be expected of the policy, in units of payoff."""
    missed = torch.zeros(scores.shape)
    for n, sample in enumerate(samples):
        missed[n, : len(sample.worths)] = max(sample.worths) - torch.tensor(sample.worths)
    return (scores.softmax(-1) * missed.to(device)).sum(-1)


def given_up(worths: Sequence[float]) -> list[float]:
    """What each move gives up against the best one, as a share of the most that can be."""
    best, least = max(worths), min(worths)
    return [(best - worth) / max(best - least, 1e-9) for worth in worths]


def to_go(env: TextEnv) -> list[float]:
    """By decision, the regret from it to the end: payoff shaped by what optimal play would get."""
    total, totals = 0.0, []
    for row in reversed(env.rows()):
        total += row.columns.reward(env.weights)
        totals.append(total)
    return totals[::-1]


def against_group(keys: Sequence[Any], returns: Sequence[float]) -> list[float]:
    """Each return less the mean of its group, in units of the spread of all."""
    groups = defaultdict(list)
    for key, value in zip(keys, returns, strict=True):
        groups[key].append(value)
    means = {key: sum(values) / len(values) for key, values in groups.items()}
    differences = [value - means[key] for key, value in zip(keys, returns, strict=True)]
    spread = (
        sum(difference * difference for difference in differences) / max(len(differences), 1)
    ) ** 0.5
    return [difference / (spread + 1e-6) for difference in differences]


if __name__ == "__main__":
    main()
