// The lobby: choose a game, who sits where, and sit down.

import { call, insist, sleep } from "./api.js";
import { capital, el, freshId, titled } from "./dom.js";
import { pills } from "./fields.js";
import { glyph } from "./glyphs.js";

const $ = (id) => document.getElementById(id);
const PERSON = "person";

// What is wrong stands beside the setting that it names, else below the form, else on top.
function complain(sentence) {
  for (const each of document.querySelectorAll("#setup .refused")) each.textContent = "";
  const named = /^(\w+) must /.exec(sentence)?.[1];
  const place = document.querySelector(`#setup .refused[data-for="${named}"]`)
    || document.querySelector("#setup .refused[data-for='']") || $("problem");
  place.textContent = sentence;
  const row = place.closest("details");
  if (sentence && row) row.open = true;
  if (sentence) place.scrollIntoView({ block: "nearest" });
}

const refusal = (name) => el("p", { class: "refused", role: "alert", "data-for": name });

async function tried(act) {
  complain("");
  try {
    return await act();
  } catch (why) {
    complain(why.message);
    return null;
  }
}

// Games that are told in the same sentence are variants of one: they share a tile.
function families(games) {
  const told = new Map();
  for (const game of games) told.set(game.about, [...(told.get(game.about) || []), game]);
  return [...told.values()];
}

const NARROW = matchMedia("(max-width: 60rem)"); // there the set-up stands below its tile

function tile(variants) {
  const [game] = variants;
  const minutes = variants.map((each) => each.minutes).filter(Boolean);
  const [low, high] = [Math.min(...minutes), Math.max(...minutes)];
  const facts = [game.seats.length === 1 ? "1 player" : `${game.seats.length} players`,
    minutes.length ? `about ${low === high ? low : `${low} to ${high}`} minutes` : "",
    variants.length > 1 ? `${variants.length} variants` : ""].filter(Boolean);
  const node = el("button", { type: "button", class: "tile", "aria-pressed": "false", "data-game": game.name },
    el("strong", {}, glyph(game.glyph), game.title), el("span", { class: "muted" }, capital(game.about)),
    el("span", { class: "facts" }, facts.join(" · ")));
  node.addEventListener("click", () => {
    for (const each of document.querySelectorAll(".tile")) each.setAttribute("aria-pressed", String(each === node));
    if (NARROW.matches) node.after($("setup"));
    setUp(game, variants);
  });
  return node;
}

// Another variant of the same game is set up in place of this one.
function variantField(game, variants) {
  if (variants.length < 2) return null;
  const select = el("select", { id: freshId("variant"), "data-variant": "" }, variants.map((each) =>
    el("option", { value: each.name, selected: each === game }, each.title)));
  select.addEventListener("change", () => setUp(variants.find((each) => each.name === select.value), variants));
  return el("div", { class: "field" }, el("label", { for: select.id }, "Variant"), select);
}

function setUp(game, variants) {
  const at = problems(game); // where there are problems to choose from, one of them has the seats
  const seats = el("div");
  const mine = el("fieldset", { class: "field" }, el("legend", {}, "You are"), seats);
  const others = el("div");
  const sit = el("button", { type: "submit", class: "button primary" }, "Play");
  const wait = game.seats.length > 1
    ? el("button", { type: "button", class: "button", onclick: () => tried(() => pair(game, variants)) }, "Play with another visitor")
    : null;
  const heading = el("h2", { tabindex: "-1" }, game.title);
  const params = settings(game.parameters);
  const asides = el("div");
  const fill = () => {
    others.replaceChildren(...otherSeats(game, at.seats(), chosenSeat(seats)));
    asides.replaceChildren(...probes(game.probes[chosenSeat(seats)]));
  };
  const place = () => {
    const chairs = pills(at.seats(), at.seats().map((seat) => capital(game.roles[seat])), freshId("seat"));
    const boxes = [...chairs.querySelectorAll("input")];
    boxes.forEach((box, i) => box.setAttribute("data-seat", at.seats()[i]));
    boxes[0].checked = true;
    seats.replaceChildren(chairs);
    mine.hidden = at.seats().length === 1;
    fill();
  };
  seats.addEventListener("change", fill);
  at.node?.addEventListener("change", place);
  place();
  const form = el("form", { novalidate: true }, variantField(game, variants), at.node, mine, others, params.node, asides, el("div", { class: "actions" }, sit, wait),
    wait && at.node ? el("p", { class: "hint" }, "You play the default two-player table together.") : null, refusal(""));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    tried(() => open(game, at.id(), chosenSeat(seats), others, params, asides));
  });
  $("setup").replaceChildren(heading, el("p", { class: "muted" }, capital(game.about)), form);
  heading.focus();
  heading.scrollIntoView({ block: "nearest" });
}

const chosenSeat = (seats) => seats.querySelector("input:checked").dataset.seat;

// Frozen problems are chosen step by step; each step offers what is left after the ones before.
function problems(game) {
  if (!game.problems?.length) return { node: null, id: () => "", seats: () => game.seats };
  const selects = game.asked.map((name) => el("select", { id: freshId("problem"), "data-asked": name }));
  const left = (step) => game.problems.filter((each) =>
    each.choice.slice(0, step).every((value, i) => value === selects[i].value));
  const offer = (from) => selects.slice(from).forEach((select, i) => {
    const had = select.value;
    const values = [...new Set(left(from + i).map((each) => each.choice[from + i]))];
    select.replaceChildren(...values.map((value) => el("option", { value }, value)));
    if (values.includes(had)) select.value = had;
  });
  selects.forEach((select, i) => select.addEventListener("change", () => offer(i + 1)));
  offer(0);
  const chosen = () => left(selects.length)[0];
  const node = el("div", { class: "problems" }, selects.map((select, i) =>
    el("div", { class: "field" }, el("label", { for: select.id }, game.asked[i]), select)));
  return { node, id: () => chosen().id, seats: () => chosen().seats };
}

function otherSeats(game, seats, mine) {
  return seats.filter((seat) => seat !== mine).map((seat) => {
    const select = el("select", { id: freshId("other"), "data-seat": seat }, game.players[seat].map((name) =>
      el("option", { value: name, selected: name === game.usual[seat] },
        name === PERSON ? "A person I invite" : titled(name))));
    const about = el("p", { class: "hint", role: "status" });
    const tell = () => { about.textContent = capital(game.sentences[select.value] || ""); };
    select.addEventListener("change", tell);
    tell();
    return el("div", { class: "field" }, el("label", { for: select.id }, `${capital(game.roles[seat])} is played by`), select, about);
  });
}

// Questions aside that this seat can be asked while it plays.
function probes(names) {
  if (!names.length) return [];
  const boxes = names.map((name) => el("label", { class: "check" },
    el("input", { type: "checkbox", value: name }), titled(name)));
  return [el("details", { class: "form" }, el("summary", {}, "Questions while you play"),
    el("p", { class: "hint" }, "You can be asked what you expect of the others while you play."), boxes)];
}

// Parameters as fields; what is left as it stands is not sent.
function settings(params) {
  if (!params.length) return { node: null, read: () => ({}) };
  const rows = params.map((param) => {
    const id = freshId("param");
    const shown = param.default === null || param.default === undefined ? "" : String(param.default);
    const { values, low, high } = param;
    const whole = low !== undefined;
    const input = values
      ? el("select", { id }, values.map((value, i) => el("option", { value: String(i), selected: String(value) === shown }, titled(value))))
      : el("input", { id, type: "text", inputmode: whole ? "numeric" : null, value: shown, autocomplete: "off" });
    const node = el("div", { class: "field" }, el("label", { for: id }, titled(param.label)), input,
      whole ? el("p", { class: "hint" }, `From ${low} to ${high}.`) : null, refusal(param.name));
    const read = () => {
      if (values) return values[Number(input.value)];
      const typed = input.value.trim();
      return whole && /^\d+$/.test(typed) ? Number(typed) : typed;
    };
    return { name: param.name, shown, node, read };
  });
  const node = el("details", { class: "form" }, el("summary", {}, "Settings"), rows.map((row) => row.node));
  const read = () => Object.fromEntries(
    rows.map((row) => [row, row.read()]).filter(([row, value]) => String(value) !== row.shown)
      .map(([row, value]) => [row.name, value]));
  return { node, read };
}

async function open(game, problem, seat, others, params, asides) {
  const seated = Object.fromEntries([...others.querySelectorAll("select")].map((s) => [s.dataset.seat, s.value]));
  const wanted = [...asides.querySelectorAll("input:checked")].map((box) => box.value);
  const body = { game: game.name, seat, others: seated, params: params.read(), probes: wanted, problem };
  const { token, invites } = await call("/api/tables", { body });
  if (!Object.keys(invites || {}).length) {
    location.href = `/table#${token}`;
    return;
  }
  const rows = Object.entries(invites).map(([who, theirs]) => invitation(game.roles[who], who, theirs));
  const heading = el("h2", { tabindex: "-1" }, "Invite the others");
  $("setup").replaceChildren(heading,
    el("p", {}, "Send each of these links to one person. The first person to open a link gets that seat."),
    ...rows, el("a", { class: "button primary", href: `/table#${token}` }, "Start the game"));
  heading.focus();
}

function invitation(role, seat, token) {
  const id = freshId("link");
  const link = el("input", { id, type: "text", readonly: true, value: `${location.origin}/table#${token}&invited`, "data-invite": seat });
  const copy = el("button", { type: "button", class: "button" }, "Copy");
  copy.addEventListener("click", async () => {
    link.select();
    try {
      await navigator.clipboard.writeText(link.value);
      copy.textContent = "Copied";
    } catch {
      copy.textContent = "Selected: copy it"; // no clipboard without a secure connection
    }
  });
  return el("div", {}, el("label", { class: "label", for: id }, `Link for ${role}`), el("div", { class: "invite" }, link, copy));
}

async function pair(game, variants) {
  const { ticket } = await call("/api/lobby", { body: { game: game.name } });
  const said = el("p", { class: "status waiting", role: "status" }, "Waiting for another visitor");
  let left = false;
  const leave = () => {
    left = true;
    call("/api/lobby/leave", { token: ticket, body: {}, keepalive: true }).catch(() => {});
  };
  addEventListener("pagehide", leave); // else somebody would be seated with nobody
  const stop = el("button", { type: "button", class: "button", onclick: () => { leave(); setUp(game, variants); } }, "Stop waiting");
  const heading = el("h2", { tabindex: "-1" }, game.title);
  $("setup").replaceChildren(heading, said,
    el("p", { class: "muted" }, "Keep this page open; the game opens automatically."), stop);
  heading.focus();
  while (!left) {
    const { token, waiting, needed } = await insist("/api/lobby?wait=1", { token: ticket });
    if (left) return;
    said.textContent = `Waiting for another visitor; ${waiting} of ${needed} are here`;
    if (token) {
      removeEventListener("pagehide", leave);
      location.href = `/table#${token}`;
      return;
    }
    await sleep(300);
  }
}

// Returning to this page restores the set-up: leaving it left the queue.
addEventListener("pageshow", (event) => event.persisted && location.reload());

const games = await tried(() => call("/api/games"));
$("games").removeAttribute("aria-busy");
$("games").replaceChildren(...families(games || []).map(tile));
