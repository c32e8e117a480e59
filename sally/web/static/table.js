// The game page: polls the screen of one seat and draws what changed.

import { Lost, Refused, call, freshKey, insist, serverTime, sleep } from "./api.js";
import { AskPanel } from "./asks.js";
import { drawn, facts } from "./boards.js";
import { PHONE, el, isHeading, prose } from "./dom.js";
import { watch } from "./events.js";
import { fit, fitAgain } from "./fit.js";
import { t } from "./texts.js";

const $ = (id) => document.getElementById(id);
const { token, back, problem } = await seated(addressed(location.hash.slice(1)));
const panels = new Map(); // by ask id: what has been typed stays as long as the ask stands
let screen = null;
let wake = () => {};
let touched = false; // whether anything was sent from this page
const QUIET = 3000; // ms: whoever answers faster than this needs no news in between
let quiet = 0; // until when there is nothing to wait for but this person

// The seat's token, and where a study goes on; a place elsewhere is not followed.
function addressed(fragment) {
  const [seat, ...rest] = fragment.split("&");
  const next = new URL(new URLSearchParams(rest.join("&")).get("back") || "/", location.origin);
  const ours = next.origin === location.origin && next.pathname.startsWith("/study/");
  return { token: seat, invited: rest.includes("invited"), back: ours ? next.pathname + next.search : "" };
}

// The first browser to open an invitation exchanges it for its own token, so that the sender
// loses access. The same browser may open the link again.
async function seated({ token, invited, back }) {
  if (!invited) return { token, back };
  const own = ownToken(`sally invitation ${token.slice(0, 16)}`);
  try {
    await insist("/api/seat/take", { token, body: { token: own } });
  } catch (why) {
    if (!(why instanceof Refused)) throw why;
    return { token: "", back, problem: why.message };
  }
  history.replaceState(null, "", `#${own}`);
  return { token: own, back };
}

function ownToken(name) {
  const fresh = freshKey() + freshKey();
  try {
    const own = localStorage.getItem(name) || fresh;
    localStorage.setItem(name, own);
    return own;
  } catch {
    return fresh; // storage may be switched off
  }
}

const seat = {
  token,
  async send(path, body) {
    touched = true; // before it is taken: news of it may come first
    const told = await insist(path, { token, body, patience: 20000 }, () => connection(false));
    connection(true);
    return told;
  },
  // What is seen after an answer comes with its receipt, so there need be no news for a while.
  async answer(body, taken) {
    const lines = screen.version ? screen.lines.length : 0;
    const before = $("lines").children.length;
    const told = await this.send("/api/seat/answer", { ...body, lines });
    taken();
    if (panels.get(body.ask)?.ask.kind === "move") remember("answered", String(before));
    quiet = told.screen.asks.length ? Date.now() + QUIET : 0;
    show(told.screen);
    if (!quiet) wake();
  },
  // Seconds since a question was displayed; null if it is answered with the rules still open.
  shownFor: (id) => (shownAt.has(id) ? Math.round(Math.max(0, instant() - shownAt.get(id))) / 1000 : null),
  refresh: () => look(),
  tell: (sentence) => notice("bad", sentence),
};

// When each question was first displayed, in ms: after the rules were read, and before a reload.
const instant = () => performance.timeOrigin + performance.now();
const shownAt = new Map();
function noteShown() {
  if ($("rules").open) return;
  for (const id of panels.keys()) {
    if (shownAt.has(id)) continue;
    shownAt.set(id, Number(recall(`shown ${id}`)) || instant());
    remember(`shown ${id}`, String(shownAt.get(id)));
  }
}

// --- following the server ----------------------------------------------------------------------

async function follow() {
  let wait = 500;
  for (;;) {
    try {
      if (Date.now() < quiet) await pause(quiet - Date.now());
      const since = screen === null || !connected ? "" : `?since=${screen.version}&lines=${screen.lines.length}`;
      const asked = Date.now();
      const told = await call(`/api/seat${since}`, { token });
      connection(true);
      wait = 500;
      const same = screen !== null && told.version === screen.version;
      show(told);
      if (told.over) return;
      if (same && Date.now() - asked < 1000) await pause(1000);
    } catch (why) {
      if (why instanceof Refused && [401, 403, 404].includes(why.status)) return gone(why.message);
      if (why instanceof Lost || why.status >= 500) connection(false);
      else if (!(why instanceof Refused)) throw why;
      await pause(wait);
      wait = Math.min(2 * wait, 5000);
    }
  }
}

// One look now, beside the long wait for news: after an answer, or when it was refused.
async function look() {
  try {
    show(await call("/api/seat", { token }));
  } catch (why) {
    if (!(why instanceof Lost || why instanceof Refused)) throw why;
  }
}

const pause = (ms) => Promise.race([sleep(ms), new Promise((done) => { wake = done; })]);
addEventListener("online", () => wake());
addEventListener("visibilitychange", () => document.hidden || wake());
addEventListener("hashchange", () => location.reload());

let connected = true;
function connection(up) {
  if (up === connected) return;
  connected = up;
  if (!up && screen) screen.version = 0; // whoever answers next may be another server
  if (up) notice("good", t("connected"));
  else notice("bad", t("lost"), Infinity);
}

function notice(kind, sentence, seconds = 6) {
  const said = el("p", { class: `notice ${kind}` }, sentence);
  $("connection").replaceChildren(said);
  if (seconds < Infinity) setTimeout(() => said.remove(), 1000 * seconds);
}

function gone(sentence) {
  $("title").textContent = t("nowhere");
  notice("bad", sentence, Infinity);
  for (const part of ["rules", "rules-again", "board", "probes", "turn", "leave"]) $(part).hidden = true;
  if (!$("end").children.length) $("end").append(onward());
  document.querySelector(".past").hidden = true;
}

// --- the time that is left ----------------------------------------------------------------------

const SHOWN = 60; // seconds before the end from which on the clock is shown
const HURRY = 15;
let deadline = Infinity;
let warned = false;
function keepTime({ due, over }) {
  if (over || due === null || due === undefined) {
    deadline = Infinity;
    warned = false;
  } else {
    if (1000 * due !== deadline) warned = false; // another answer
    deadline = 1000 * due;
  }
  tick();
}
function tick() {
  const left = Math.max(0, Math.ceil((deadline - serverTime()) / 1000));
  const clock = $("clock");
  clock.hidden = left > SHOWN;
  if (clock.hidden) {
    $("hurry").textContent = "";
    return;
  }
  const hurry = left <= HURRY;
  const urge = clock.dataset.late === "round" ? t("hurry_round", { seconds: left }) : t("hurry_match", { seconds: left });
  const said = hurry ? urge : t("time_left", { seconds: left });
  if (clock.textContent !== said) clock.textContent = said;
  clock.classList.toggle("hurry", hurry);
  if (hurry && !warned) {
    warned = true;
    $("hurry").textContent = said; // spoken once, not every second
  }
}
setInterval(tick, 500);

// --- drawing a screen -----------------------------------------------------------------------------

function show(next) {
  if (screen !== null && next.version < screen.version) return; // overtaken by a newer look
  const before = screen;
  screen = whole(next, before);
  if (!before) arrive();
  showLines(screen.lines);
  showNotes(screen);
  showProgress(screen);
  const isNew = showAsks(screen);
  showBoard(screen);
  placePast();
  showStatus(screen);
  noteShown();
  keepTime(next);
  if (screen.over) end(screen.over);
  showLatest();
  fit();
  if (isNew && PHONE.matches && !$("talk").hidden) $("turn").scrollIntoView({ block: "nearest" });
}

// News leaves out what this page has already: the rules, and the first lines of the past.
function whole(next, before) {
  const asks = first(next.asks);
  if (!next.lines_from || !before) return { ...next, asks };
  const lines = [...before.lines.slice(0, next.lines_from), ...next.lines];
  return { ...next, asks, rules: before.rules, lines };
}

// What is asked aside comes before the move, as it does for everybody else who is asked.
function first(asks) {
  const probes = asks.filter((ask) => ask.kind === "probe");
  return probes.length ? probes : asks;
}

function arrive() {
  $("title").textContent = screen.title;
  document.body.dataset.seat = screen.seat;
  $("who").textContent = screen.role ? t("you_are", { role: screen.role }) : "";
  $("rules-brief").replaceChildren(...prose(screen.brief));
  $("rules-brief").hidden = $("all-rules").hidden = !screen.brief;
  const rules = el("div", { class: "prose" }, prose(screen.rules));
  (screen.brief ? $("all-rules") : $("rules-text")).append(rules);
  $("rules-example").replaceChildren(...(screen.example ? drawn(screen.example) : []));
  for (const button of $("rules-example").querySelectorAll("button")) { // it is there to be seen
    button.replaceWith(el("span", { class: button.className }, ...button.childNodes));
  }
  $("rules-example").hidden = !screen.example;
  $("leave").hidden = false;
  readRules(recall("rules") === "read");
}

function showLines(lines) {
  const list = $("lines");
  const shown = list.children.length;
  const fresh = shown === 0;
  const wanted = lines.filter((line) => line.trim());
  for (const line of wanted.slice(shown)) {
    const kind = [isHeading(line) ? "heading" : null, fresh ? null : "new"].filter(Boolean).join(" ");
    list.append(el("li", { class: kind || null }, line.replace(/^- /, "")));
  }
  $("no-lines").hidden = wanted.length > 0;
  const past = list.closest(".past");
  // A list under a heading is to be read from its top.
  // So is whatever happened before the first visit.
  const page = fresh && wanted.length > 0 && (isHeading(wanted[0]) || wanted[0].endsWith(":") || !recall("rules"));
  if (wanted.length > shown && !page) scrollToNewest(past, list);
  tellMore();
}

// A box that shows only a part of the lines says on which side there are more.
function tellMore() {
  const past = document.querySelector(".past");
  const below = past.scrollHeight - past.clientHeight - past.scrollTop;
  const heading = past.querySelector("h2");
  if (past.scrollTop > 4) heading.dataset.above = t("more_above");
  else delete heading.dataset.above;
  if (below > 4) past.dataset.below = t("more_below");
  else delete past.dataset.below;
}
document.querySelector(".past").addEventListener("scroll", tellMore, { passive: true });
new ResizeObserver(tellMore).observe(document.querySelector(".past"));

// The box ends with the newest line and begins with a whole one, below its heading.
function scrollToNewest(past, list) {
  list.style.paddingBottom = "";
  past.scrollTop = past.scrollHeight;
  if (!past.scrollTop) return;
  const from = past.querySelector("h2").getBoundingClientRect().bottom;
  const top = [...list.children].map((line) => line.getBoundingClientRect().top).find((y) => y >= from);
  if (top === undefined) return; // one line is higher than the box
  list.style.paddingBottom = `${top - from}px`;
  past.scrollTop = past.scrollHeight;
}

// On a phone the last lines since one's own last move stand above the question as well, if the box
// with all lines ends below the screen (the log itself is read out, so these are not; phone.css).
const LATEST = 2;
function showLatest() {
  const all = [...$("lines").children];
  const answered = Number(recall("answered") ?? all.length);
  const below = all.length > 0 && document.querySelector(".past").getBoundingClientRect().bottom + scrollY > innerHeight;
  const told = screen.asks.some((ask) => ask.refused); // its field says why
  const lines = below && !told ? all.slice(answered).map((line) => line.textContent) : [];
  const begun = lines.findIndex((line) => line.startsWith(`${roundName()}:`)); // the board draws it
  const shown = (begun < 0 ? lines : lines.slice(0, begun)).slice(-LATEST);
  $("latest").replaceChildren(...shown.map((line) => el("p", {}, line)));
}

function roundName() {
  const { number, unit } = screen.board?.progress || {};
  return unit ? COUNTED[unit](false, { n: number }) : null;
}

// On a phone what was said stands above the answer to it, elsewhere beside it.
const placeTalk = () => (PHONE.matches ? $("turn").before($("talk")) : document.querySelector(".past").before($("talk")));
PHONE.addEventListener("change", placeTalk);
placeTalk();

// So does the log beside a locker: who saw what is in its lines alone.
function placePast() {
  const past = document.querySelector(".past");
  const isAbove = PHONE.matches && !screen.over && $("board").querySelector(".part-lockers");
  if (isAbove && past.parentNode !== $("turn").parentNode) $("turn").before(past);
  if (!isAbove && past.parentNode === $("turn").parentNode) document.querySelector(".beside").append(past);
}
PHONE.addEventListener("change", () => {
  if (!screen) return;
  placePast();
  fitAgain();
});

// A row or column that is named like one of the options can be pressed in its place.
let boardText = "";
function showBoard({ board, asks }) {
  const move = asks.find((ask) => ask.kind === "move");
  const labels = move ? move.options.map((option) => option.label) : [];
  const pick = (label) => panels.get(move.id)?.press(label);
  const text = JSON.stringify([board, labels, move?.id]);
  if (text === boardText) return;
  boardText = text;
  const open = [...$("board").querySelectorAll("details")].map((each) => each.open);
  const crafts = move?.forms.some((form) => form.fields.some((field) => field.name === "inputs"));
  const fill = crafts ? (values) => panels.get(move.id)?.fill(values) : null;
  const panel = move ? panels.get(move.id) : null;
  const dial = panel?.dial || null;
  const parts = board ? drawn(board, labels, pick, fill, dial) : [];
  if (dial) dial.frame.hidden = dial.node.closest(".slide") !== dial.frame; // it moved to the board
  const beside = parts.filter((part) => part.classList.contains("part-talk"));
  $("board").replaceChildren(...parts.filter((part) => !beside.includes(part)));
  $("talk").replaceChildren(...beside.flatMap((part) => [...part.children]));
  $("talk").hidden = !beside.length;
  $("talk").scrollTop = $("talk").scrollHeight;
  $("board").querySelectorAll("details").forEach((each, i) => { each.open = open[i] ?? each.open; });
  $("board").hidden = !board; // a hidden board does not scroll
  for (const rounds of $("board").querySelectorAll(".rounds")) scrollToLastRound(rounds);
  const acts = [...$("board").querySelectorAll("[data-option]")].map((act) => act.dataset.option);
  if (acts.length) panel?.cover(new Set(acts));
}

// The last rounds in sight, from a whole column on: the headings of the rows cover no part of one.
function scrollToLastRound(rounds) {
  const box = rounds.parentNode;
  box.scrollLeft = box.scrollWidth;
  if (!box.scrollLeft) return;
  const [heading, ...columns] = [...rounds.rows[0].cells].map((cell) => cell.getBoundingClientRect());
  const cut = columns.find((column) => column.left < heading.right - 1 && column.right > heading.right + 1);
  if (!cut) return;
  box.style.paddingRight = `${cut.right - heading.right}px`;
  box.scrollLeft = box.scrollWidth;
}

function showNotes({ told, now, over, sent, board }) {
  const own = sent ? [el("p", { class: "sent" }, t("you_sent", { move: sent }))] : [];
  $("told").replaceChildren(...told.map((line) => el("p", { class: "told" }, line)), ...own);
  $("now").replaceChildren(...prose(over ? "" : now));
  $("now").hidden = Boolean(over) || !now || Boolean(board?.progress); // the board says it
}

// Returns whether another question has taken the place of the one that was answered.
function showAsks({ asks, board }) {
  const had = document.activeElement;
  const here = $("asks").contains(had) || $("asides").contains(had) || had === $("status");
  const wanted = new Set(asks.map((ask) => ask.id));
  for (const [id, panel] of panels) {
    if (!wanted.has(id)) {
      panel.node.remove();
      panels.delete(id);
    }
  }
  let first = null;
  for (const ask of asks) {
    if (panels.has(ask.id)) continue;
    const panel = new AskPanel(ask, board || {}, seat);
    panels.set(ask.id, panel);
    (ask.kind === "probe" ? $("asides") : $("asks")).append(panel.node);
    first ??= panel;
  }
  const probe = asks.find((ask) => ask.kind === "probe");
  $("probes").hidden = !probe;
  if (probe) $("why-aside").textContent = probe.format; // as the game's words have it
  const isNew = Boolean(first) && here && touched;
  if (isNew) first.heading.focus();
  else if (here && touched && !asks.length) $("status").focus();
  return isNew;
}

function showStatus({ asks, waiting_for: others, over, title }) {
  const probing = asks.some((ask) => ask.kind === "probe");
  const moving = asks.some((ask) => ask.kind === "move");
  let said = "";
  const named = others.filter(Boolean);
  if (over) said = t("over");
  else if (moving) said = t("your_turn");
  else if (probing) said = t("question_first");
  else if (named.length) said = t("waiting_one", { who: named.join(t("and")) });
  else said = t("waiting");
  const status = $("status");
  if (status.textContent !== said) status.textContent = said;
  status.className = moving || probing || over ? "status" : "status waiting";
  document.title = `${moving || probing ? "● " : ""}${$("title").dataset.study || title}`;
}

const onward = () => el("a", { class: "button primary", href: back || "/" },
  back ? t("go_on") : t("play_another"));

function end({ how, payoff, text, scores, why, hidden }) {
  if ($("end").children.length) return;
  const heading = el("h2", { tabindex: "-1" }, how === "ended" ? t("over") : t("stopped"));
  $("end").append(el("section", { class: "card result", "aria-label": t("over") }, heading,
    payoff === null ? null : el("p", { class: "payoff" }, t("result", { payoff: payoff.toLocaleString(document.documentElement.lang) })),
    payoff === null ? el("p", {}, text) : null, why ? el("p", { class: "why" }, why) : null,
    scores.length ? ranking(scores) : null, hidden.length ? facts(t("was_hidden"), hidden) : null, onward()));
  document.body.classList.add("over");
  $("turn").hidden = true;
  $("leave").hidden = true;
  document.querySelector(".past").hidden = !screen.lines.some((line) => line.trim());
  if (touched) heading.focus();
}

// Who got what, of how much; one's own line first, and in money where points are paid.
function ranking(scores) {
  const said = (points, most) => {
    if (!most || /^[-−]/.test(points)) return t("points", { points }); // a loss is no share of the most
    return most === "1" ? t("points_of_one", { points }) : t("points_of", { points, most });
  };
  const line = ({ who, points, most, money }) => el("li", { class: who ? null : "mark-yours" },
    el("span", { class: "by" }, who || t("chat_you")),
    el("span", { class: "points" }, said(points, most)),
    money ? el("span", { class: "money" }, t("worth", { money })) : null);
  return el("ul", { class: "ranking" }, scores.map(line));
}

const COUNTED = {
  round: (of, slots) => (of ? t("round_of", slots) : t("round_n", slots)),
  turn: (of, slots) => (of ? t("turn_of", slots) : t("turn_n", slots)),
  board: (of, slots) => (of ? t("board_of", slots) : t("board_n", slots)),
  message: (of, slots) => (of ? t("message_of", slots) : t("message_n", slots)),
};

// How far the game is: the round, a bar where the number of rounds is known, and the points.
function showProgress({ board, over }) {
  const progress = over || board?.progress?.total === 1 ? null : board?.progress;
  $("progress").hidden = !progress;
  if (!progress) return;
  const { number, total, unit, score } = progress;
  const said = COUNTED[unit](Boolean(total), { n: number, total });
  const bar = total ? el("progress", { max: total, value: number - 1, "aria-label": said }) : null;
  $("progress").replaceChildren(...[el("strong", {}, said), bar,
    score ? el("span", {}, t("score", { score })) : null].filter(Boolean));
}

// --- rules and leaving -----------------------------------------------------------------------------

const place = `sally ${token.slice(0, 8)}`;
function recall(what) {
  try {
    return sessionStorage.getItem(`${place} ${what}`);
  } catch {
    return null; // storage may be switched off
  }
}
function remember(what, value) {
  try {
    sessionStorage.setItem(`${place} ${what}`, value);
  } catch {
    // then the rules stand open again after a reload
  }
}

// The rules stand open once; then they fold behind a button beside the title.
function readRules(read) {
  $("rules").open = !read;
  $("rules").hidden = read;
  $("rules-again").hidden = !read;
  if (read) noteShown();
  fit();
}
$("rules-again").addEventListener("click", () => {
  readRules(false);
  $("rules").querySelector("summary").focus();
});
$("rules").addEventListener("toggle", () => $("rules").open || readRules(true));
$("rules-read").addEventListener("click", () => {
  remember("rules", "read");
  readRules(true);
  const heading = [...panels.values()][0]?.heading || $("status");
  heading.focus();
});
$("leave-now").addEventListener("click", async () => {
  try {
    await seat.send("/api/seat/leave", { key: freshKey() });
  } catch (why) {
    if (!(why instanceof Refused)) throw why;
    notice("bad", why.message);
  }
  if (back) location.href = back;
  else look();
});

// Motion is small, follows the system's setting, and can be switched off here as well.
const still = $("still");
still.checked = recall("still") === "yes";
const settle = () => document.documentElement.classList.toggle("still", still.checked);
still.addEventListener("change", () => {
  remember("still", still.checked ? "yes" : "no");
  settle();
});
settle();
if (back) watch(`${location.pathname.replace(/\/table$/, "")}/events`, "game");

if (token) follow();
else gone(problem || t("no_seat"));
