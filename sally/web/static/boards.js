// Drawing what a seat knows. One function for each kind of part; an unknown kind is left out.

import { el, freshId, spoken } from "./dom.js";
import { pictured } from "./glyphs.js";
import { book, named } from "./recipes.js";
import { t } from "./texts.js";

const marked = (mark) => (mark ? `mark-${mark}` : null);
const captioned = (text) => {
  const id = freshId("caption");
  return [el("p", { class: "caption", id }, text), id];
};
const noted = (note) => (note ? spoken(` (${note})`) : null);

// A heading that names an option is a button in its place.
const pressable = (label, { labels, pick }) => (labels.includes(label)
  ? el("button", { type: "button", class: "button small pick", onclick: (event) => event.detail <= 1 && pick(label) }, pictured(label), label)
  : label);

function table(part, how) {
  const chooses = part.rows.every((row) => how.labels.includes(row.label));
  const wordy = part.rows.some((row) => row.cells.some((cell) => cell.text.length > 14));
  const corner = part.corner ? el("th", { scope: "col" }, part.corner) : el("td", { class: "corner" });
  const head = el("tr", {}, corner,
    part.columns.map((name) => el("th", { scope: "col" }, name)));
  const body = part.rows.map((row) =>
    el("tr", { class: marked(row.mark) }, el("th", { scope: "row" }, chooses ? pressable(row.label, how) : row.label),
      row.cells.map((cell, i) =>
        el("td", { class: cell.text === "–" && !cell.mark ? "none" : marked(cell.mark), title: cell.note || null, "data-column": part.columns[i] },
          cell.text, noted(cell.note)))));
  const [caption, id] = captioned(part.caption);
  const rounds = part.columns.length > 1 && part.columns.every((name) => /^\d+$/.test(name));
  const apart = part.rows.some((row) => row.cells.filter((cell) => cell.text.length > 14).length > 1);
  const kinds = [wordy ? "prosy" : part.columns.length < 6 ? "few" : "", rounds ? "rounds" : "", apart ? "wordy" : ""].filter(Boolean).join(" ");
  const drawn = el("table", { class: kinds || null, "aria-labelledby": id },
    el("thead", {}, head), el("tbody", {}, body));
  return [caption, scrolling(drawn, part.caption)];
}

function lockers(part) {
  const boxes = part.boxes.map((box) =>
    el("li", { class: "box" },
      el("span", { class: box.holds ? "inside" : "inside empty" }, box.holds || t("empty")),
      el("span", { class: "name" }, box.label)));
  return [el("p", { class: "caption" }, part.caption), el("ul", { class: "lockers" }, boxes)];
}

function grid(part, how) {
  const numbers = [...Array(part.cols).keys()];
  const head = el("tr", {}, el("td", { class: "corner" }), numbers.map((n) => el("th", { scope: "col" }, String(n))));
  const rows = [...Array(part.rows).keys()].map((row) =>
    el("tr", {}, part.squares.some((s) => s.option) ? null : el("th", { scope: "row" }, String(row)), numbers.map((col) =>
      el("td", {}, part.squares.filter((s) => s.row === row && s.col === col).map((square) =>
        onBoard(square.option, square.text, how, square.note) ||
        el("span", { class: `thing ${marked(square.mark) || ""}`, title: square.note },
          square.text, noted(square.note)))))));
  const [caption, id] = captioned(part.caption);
  const words = part.squares.some((square) => square.option); // cards, whose places have no numbers
  return [caption, el("table", { class: words ? "map words" : "map", "aria-labelledby": id },
    words ? null : el("thead", {}, head), el("tbody", {}, rows))];
}

// A button on the board that stands for an option, while that option is open.
function onBoard(option, text, { labels, pick }, note = "") {
  if (!option || !labels.includes(option)) return null;
  const spokenLabel = note ? `${option}, ${note}` : option;
  return el("button", { type: "button", class: "button small act", "data-option": option, "aria-label": spokenLabel,
    onclick: (event) => event.detail <= 1 && pick(option) }, text);
}

// Every tone has a shape, so that nobody needs to tell colours apart.
const SIGNS = ["", "■", "●", "▲", "◆", "★", "⬟", "○"];
function cards(part, how) {
  const one = (card) => el("li", { class: `playing tone${Number(card.tone)} ${marked(card.mark) || ""}`, title: card.note },
    el("span", { class: "face", "aria-hidden": "true" }, el("span", { class: "sign" }, SIGNS[card.tone] || ""), el("span", { class: "rank" }, card.text)),
    spoken(card.note),
    el("span", { class: "hints", "aria-hidden": "true" }, card.told.map((hint) => el("span", { class: "hint-tag" }, hint))),
    card.acts.map((act) => onBoard(act.option, act.text, how)));
  const rows = part.rows.map((row) => el("section", { class: `cards-row ${marked(row.mark) || ""}` },
    el("h2", {}, row.label), el("ul", { class: "cards" }, row.cards.map(one))));
  return [el("p", { class: "caption" }, part.caption), ...rows];
}

function hands(part) {
  const drawn = part.hands.map((hand) =>
    el("section", { class: `hand ${marked(hand.mark) || ""}` }, el("h2", {}, hand.label),
      hand.goods.length
        ? el("ul", { class: "goods" }, hand.goods.map((good) =>
            el("li", {}, good.glyph ? named(good.item, good.glyph, good.amount)
              : [el("span", {}, good.item), el("span", { class: "count" }, good.amount)])))
        : el("p", { class: "muted" }, t("nothing"))));
  return [el("p", { class: "caption" }, part.caption), el("div", { class: "hands" }, drawn)];
}

function recipes(part, how) {
  if (part.recipes.length) return book(part, how);
  return [el("p", { class: "caption" }, part.caption), el("p", { class: "muted" }, t("nothing_now"))];
}

function talk(part) {
  const lines = part.said.map((each) => el("li", { class: marked(each.mark) },
    el("span", { class: "by" }, each.who, each.note ? `, ${each.note}` : ""), el("span", { class: "words" }, each.text)));
  return [el("h2", { class: "caption" }, part.caption), el("ol", { class: "talk" }, lines)];
}

function notes(part) {
  if (part.notes.length === 1 && !part.notes[0].label) return [el("p", { class: "caption" }, part.caption), el("p", { class: "only-note" }, part.notes[0].text)];
  if (part.notes.every((note) => !note.label)) { // sentences in order, such as a story
    const told = part.notes.map((note) => el("li", { class: marked(note.mark) }, note.text));
    return [el("p", { class: "caption" }, part.caption), el("ol", { class: "story" }, told)];
  }
  const cards = part.notes.map((note) =>
    el("div", { class: `note ${marked(note.mark) || ""}` }, el("dt", {}, note.label),
      el("dd", {}, note.text)));
  return [el("p", { class: "caption" }, part.caption), el("dl", { class: "notes" }, cards)];
}

// A line from end to end; every spot says in words where it stands.
function scale(part, how) {
  const spots = part.spots.map((spot) => {
    const there = el("li", { class: `spot ${marked(spot.mark) || ""}` }, `${spot.text}: ${spot.at}`);
    const share = (100 * (spot.at - part.low)) / (part.high - part.low);
    there.style.setProperty("--at", `${Math.min(Math.max(share, 0), 100)}%`); // scripts may, attributes may not
    there.classList.add(share > 50 ? "rightmost" : "leftmost"); // the label takes the longer side
    there.style.maxWidth = `${Math.max(share, 100 - share)}%`;
    return there;
  });
  const ends = [part.low, part.high].map((n, i) => el("span", {}, part.ends[i] === String(n) ? part.ends[i] : `${n} ${part.ends[i]}`));
  const dial = how.dial?.low === part.low && how.dial?.high === part.high ? how.dial.node : null;
  const line = el("div", { class: dial ? "line dial" : "line", "aria-hidden": dial ? null : "true" }, dial);
  return [el("p", { class: "caption" }, part.caption), el("div", { class: "scale" },
    el("ul", { class: "spots" }, spots), line, el("p", { class: "ends" }, ends))];
}

// Both choices of a round face to face, each with its points.
function showdown(part) {
  const sides = part.sides.map((side) => el("li", { class: `side ${marked(side.mark) || ""}` },
    el("span", { class: "by" }, side.who), el("span", { class: "choice" }, pictured(side.choice), side.choice),
    side.points ? el("span", { class: "points" }, side.points) : null));
  return [el("p", { class: "caption" }, part.caption), el("ul", { class: "sides" }, sides)];
}

const picture = (part) => el("pre", { class: "picture", tabindex: "0" }, part.text);

// Shapes as data: only numbers and text reach the page, never markup.
const SVG = "http://www.w3.org/2000/svg";
const SHAPES = {
  rect: (s) => ["rect", { x: s.x, y: s.y, width: s.width || 0, height: s.height || 0, rx: 3 }],
  circle: (s) => ["circle", { cx: s.x, cy: s.y, r: (s.width || 0) / 2 }],
  line: (s) => ["line", { x1: s.x, y1: s.y, x2: s.x + (s.width || 0), y2: s.y + (s.height || 0) }],
  text: (s) => ["text", { x: s.x, y: s.y }],
};

function drawing(part) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", `0 0 ${Number(part.width)} ${Number(part.height)}`);
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", part.about);
  for (const shape of part.shapes.filter((one) => one.shape in SHAPES)) {
    const [name, places] = SHAPES[shape.shape](shape);
    const node = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(places)) node.setAttribute(key, String(Number(value)));
    node.setAttribute("class", `tone${Number(shape.tone || 0) % 7}${shape.filled ? " filled" : ""}`);
    node.textContent = shape.text || "";
    svg.append(node);
  }
  return [el("p", { class: "caption" }, part.caption), svg];
}

// What was hidden while the game was played, as labelled facts.
export const facts = (caption, hidden) => el("div", { class: "part part-notes" }, notes({ caption, notes: hidden }));

// What may be wider than the page scrolls by itself, and by keyboard too.
const scrolling = (node, label) =>
  el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, node);

const DRAW = { table, lockers, grid, cards, hands, recipes, notes, talk, scale, showdown, picture, drawing };

// `dial` is the slider of a question for one number: a scale with the same ends holds it.
export function drawn(board, labels = [], pick = () => {}, fill = null, dial = null) {
  return board.parts.filter((part) => part.kind in DRAW).map((part) => {
    const node = el("div", { class: `part part-${part.kind}` }, DRAW[part.kind](part, { labels, pick, fill, dial }));
    const columns = part.kind === "table" ? part.columns.length : 0;
    if (columns > 4 || node.querySelector(".prosy")) node.classList.add("part-wide"); // half a board holds four
    return node;
  });
}
