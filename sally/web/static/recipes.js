// A book of recipes: searched by name, by what one can make now, by what an item is for.

import { el, freshId } from "./dom.js";
import { glyph } from "./glyphs.js";
import { pills } from "./fields.js";
import { t } from "./texts.js";

const WAYS = ["all", "ready", "makes", "uses"]; // how the book can be looked through

// What was looked for stays while the board is drawn again after a move.
const looking = { words: "", way: 0 };

// Everything that shows an item may be pressed to ask the book about it.
export function ask(item) {
  document.dispatchEvent(new CustomEvent("item", { detail: item }));
}

export function named(item, kind, many = "") {
  return el("button", { type: "button", class: "named", title: t("what_for", { item }), onclick: () => ask(item) },
    glyph(kind), el("span", {}, item), many ? el("span", { class: "count" }, many) : null);
}

function matches(recipe, words, way) {
  const wanted = words.trim().toLowerCase();
  if (way === "ready" && !recipe.ready) return false;
  if (!wanted) return true;
  if (way === "makes") return recipe.makes.toLowerCase().includes(wanted);
  if (way === "uses") return recipe.uses.some((item) => item.toLowerCase().includes(wanted));
  return recipe.text.toLowerCase().includes(wanted)
    || recipe.uses.some((item) => item.toLowerCase().includes(wanted));
}

// One recipe in a line; `fill`, where there is a form for it, writes it there.
export function entry(recipe, fill) {
  const fits = recipe.fill && fill;
  const notes = [recipe.fuel ? t("fuel", { fuel: recipe.fuel }) : "", recipe.ready && !fits ? t("enough") : ""];
  return el("li", {}, glyph(recipe.glyph),
    el("span", { class: "line" }, el("span", { class: recipe.ready ? "ready" : null }, recipe.text.replace(" -> ", " → ")),
      el("span", { class: "muted" }, notes.join(""))),
    fits
      ? el("button", { type: "button", class: "button small", "aria-label": t("fill_in", { recipe: recipe.text }),
          onclick: () => fill(recipe.fill) }, t("fill"))
      : null);
}

export function book(part, { fill }) {
  const list = el("ul", { class: "recipes", tabindex: "0", "aria-label": part.caption });
  const count = el("p", { class: "muted", role: "status" });
  const search = el("input", { type: "search", autocomplete: "off", "aria-label": t("search"), placeholder: t("search") });
  const ways = pills(WAYS, WAYS.map((way) => t(`book_${way}`)), freshId("way"));
  const boxes = [...ways.querySelectorAll("input")];
  const draw = () => {
    const found = part.recipes.filter((recipe) => matches(recipe, looking.words, WAYS[looking.way]));
    list.replaceChildren(...found.map((recipe) => entry(recipe, fill)));
    count.textContent = t("found", { n: found.length, all: part.recipes.length });
  };
  const set = (words, way) => {
    Object.assign(looking, { words, way });
    search.value = words;
    boxes[way].checked = true;
    draw();
  };
  search.addEventListener("input", () => set(search.value, looking.way));
  ways.addEventListener("change", () => set(search.value, boxes.findIndex((box) => box.checked)));
  const node = el("details", { class: "book" }, el("summary", {}, `${part.caption} (${part.recipes.length})`),
    el("div", { class: "search" }, search, ways), count, list);
  const asked = (event) => {
    if (!node.isConnected) return document.removeEventListener("item", asked);
    node.open = true;
    set(event.detail, WAYS.indexOf("uses"));
    if (!list.children.length) set(event.detail, WAYS.indexOf("makes"));
    node.scrollIntoView({ block: "nearest" });
  };
  document.addEventListener("item", asked);
  set(looking.words, looking.way);
  return node;
}
