// Fields made from the action schema. Each has a node, reads itself as JSON, and can complain.

import { el, freshId, titled } from "./dom.js";
import { t } from "./texts.js";

// Something is missing; `at` is the field that lacks it, however deep it lies.
export class Unfilled extends Error {
  at = null;
}

const FINEST = 1000; // steps of a slider; with more of them nobody hits the one that is meant

const length = (text) => [...text].length; // characters as the rules count them, not code units

// Every field stands in a frame with a label, a hint and a place for what is wrong with it.
function framed(tag, field, hint, ...inputs) {
  const problem = el("p", { class: "refused", role: "alert", id: freshId("problem") });
  const label = titled(field.label || field.name);
  const title = tag === "fieldset" ? el("legend", {}, label) : el("label", {}, label);
  const node = el(tag, { class: "field" }, title, ...inputs, hint, problem);
  const input = node.querySelector("input, select, textarea");
  if (tag !== "fieldset" && input) {
    input.id = freshId("field");
    title.setAttribute("for", input.id);
  }
  const complain = (sentence, focus = true) => {
    for (const each of node.querySelectorAll(".refused")) each.textContent = "";
    problem.textContent = sentence;
    for (const each of node.querySelectorAll("input, select, textarea")) {
      if (sentence) each.setAttribute("aria-invalid", "true");
      else each.removeAttribute("aria-invalid");
    }
    if (sentence && input) input.setAttribute("aria-describedby", problem.id);
    if (sentence && input && focus) input.focus();
  };
  node.addEventListener("input", () => problem.textContent && complain(""));
  return { node, complain, name: field.name };
}

const hint = (text) => (text ? el("p", { class: "hint" }, text) : null);

function pills(values, labels, name) {
  return el("div", { class: "pills" }, values.map((value, i) =>
    el("label", { class: "pill" },
      el("input", { type: "radio", name, value: String(i) }), el("span", {}, labels[i]))));
}

function chosen(node, values) {
  const input = node.querySelector("input:checked");
  if (!input) throw new Unfilled(t("choose"));
  return values[Number(input.value)];
}

function choice(field) {
  const { values } = field;
  const labels = field.labels || values.map(String);
  if (values.length === 1) { // there is nothing to choose, but it is good to know
    const frame = framed("div", field, null, el("span", { class: "only" }, labels[0]));
    return { ...frame, set: () => {}, read: () => values[0] };
  }
  if (values.length <= 8) {
    const frame = framed("fieldset", field, null, pills(values, labels, freshId("choice")));
    const set = (value) => { frame.node.querySelectorAll("input")[values.indexOf(value)].checked = true; };
    const peek = () => values[Number(frame.node.querySelector("input:checked")?.value ?? 0)]; // before one is chosen
    return { ...frame, set, peek, read: () => chosen(frame.node, values) };
  }
  const select = el("select", {}, values.map((_, i) => el("option", { value: String(i) }, labels[i])));
  const set = (value) => { select.value = String(values.indexOf(value)); };
  return { ...framed("div", field, null, select), set, read: () => values[Number(select.value)] };
}

// A whole number: a slider for the hand and a field for the keyboard, in step with each other.
// Neither is set at first, and the slider hides where it stands: that would pull answers there.
export function numberInput(low, high, about = "number") {
  const slider = el("input", {
    type: "range", class: "slider unset", min: String(low), max: String(high), step: "1",
    "aria-label": `${t("slider")}: ${about}`, "aria-valuetext": t("not_set"),
  });
  slider.value = String(low);
  const input = el("input", { class: "number", type: "text", inputmode: low < 0 ? "text" : "numeric", autocomplete: "off" });
  const set = (number) => {
    slider.classList.toggle("unset", number === null);
    slider.setAttribute("aria-valuetext", number === null ? t("not_set") : String(number));
  };
  const read = () => {
    const typed = input.value.trim().replace("\u2212", "-");
    const number = /^-?\d+$/.test(typed) ? Number(typed) : NaN;
    if (!(number >= low && number <= high)) {
      throw new Unfilled(t("whole", { low, high }));
    }
    return number;
  };
  const slid = () => {
    input.value = slider.value;
    set(Number(slider.value));
    input.dispatchEvent(new Event("input", { bubbles: true })); // what was refused may be right now
  };
  slider.addEventListener("input", slid);
  slider.addEventListener("pointerup", slid); // a press where it already stands counts, too
  slider.addEventListener("keyup", (event) => event.key !== "Tab" && slid());
  input.addEventListener("input", () => {
    const number = Number(input.value.trim());
    const there = input.value.trim() !== "" && number >= low && number <= high;
    if (there) slider.value = String(number);
    set(there ? number : null);
  });
  const ends = [el("span", { class: "muted", "aria-hidden": "true" }, String(low)), slider,
    el("span", { class: "muted", "aria-hidden": "true" }, String(high))];
  return { input, read, nodes: [el("div", { class: "slide" }, ends)] };
}

function whole(field) {
  const { low, high } = field;
  if (high - low <= 7 && !field.wide) {
    const values = [...Array(high - low + 1).keys()].map((n) => n + low);
    return choice({ ...field, values });
  }
  const { input, read, nodes: slider } = numberInput(low, high, titled(field.label || field.name));
  const nodes = high - low > FINEST ? [] : slider;
  const dial = nodes.length ? { low, high, node: nodes[0].querySelector("input"), frame: nodes[0] } : null;
  const how = nodes.length ? t("whole_or_line", { low, high }) : t("whole", { low, high });
  return { ...framed("div", field, hint(how), input, ...nodes), read, set: written(input), dial };
}

// Write into a field as if it had been typed.
const written = (input) => (value) => {
  input.value = String(value);
  input.dispatchEvent(new Event("input", { bubbles: true }));
};

// What of a text counts: all of it, or what stands behind a line of its own.
function counted(text, after) {
  if (!after) return length(text);
  const parts = text.split(/^[ \t]*-{3,}[ \t]*$/m);
  return length((parts.length > 1 ? parts.slice(1).join("\n---\n") : text).trim());
}

function text(field, limits) {
  const limit = limits[field.name] || { limit: field.limit, after: "" };
  const cut = limits[field.name] !== undefined; // beyond it the rules cut, they do not refuse
  const input = limit.limit > 80 && !field.brief
    ? el("textarea", { rows: "4" })
    : el("input", { type: "text", autocomplete: "off", autocapitalize: "off", spellcheck: "false" });
  const counter = el("p", { class: "counter", id: freshId("counter") });
  const count = () => {
    const n = counted(input.value, limit.after);
    const over = n > limit.limit;
    counter.className = `counter ${over ? "over" : n > 0.9 * limit.limit ? "near" : ""}`;
    counter.textContent = t("characters", { n, limit: limit.limit })
      + (over ? (cut ? t("cut") : t("too_many", { n: n - limit.limit })) : "");
  };
  input.addEventListener("input", count);
  count();
  const frame = framed("div", field, null, input, field.brief ? null : counter);
  if (!field.brief) input.setAttribute("aria-describedby", counter.id);
  const read = () => {
    const n = length(input.value);
    if (n > field.limit) throw new Unfilled(t("at_most", { limit: field.limit, n }));
    if (length(input.value.trim()) < (field.required === false ? 0 : field.least ?? 1)) throw new Unfilled(t("write"));
    return input.value;
  };
  return { ...frame, read, draft: input, set: written(input) };
}

function amounts(field) {
  if (!field.most.length) {
    return { ...framed("fieldset", field, hint(t("no_choice"))), read: () => [] };
  }
  const rows = field.most.map(([item, most], i) => {
    const name = field.labels?.[i] ?? item;
    const input = el("input", {
      type: "text", inputmode: "text", placeholder: "0", autocomplete: "off",
      "aria-label": `${name}${t("of", { most: mixed(most) })}`,
    });
    const step = (by) => () => {
      const next = Math.max(0, Math.min(Math.floor(ceiling(most)), (Number(input.value) || 0) + by));
      input.value = next ? String(next) : "";
      input.dispatchEvent(new Event("input", { bubbles: true }));
    };
    const node = el("div", { class: "amount" },
      el("span", { class: "item" }, name, el("span", { class: "muted" }, t("of", { most: mixed(most) }))),
      el("span", { class: "stepper" },
        el("button", { type: "button", class: "button small", "aria-label": t("less", { item: name }), onclick: step(-1) }, "−"),
        input,
        el("button", { type: "button", class: "button small", "aria-label": t("more", { item: name }), onclick: step(1) }, "+")));
    return { item, name, input, node };
  });
  const frame = framed("fieldset", field, null, rows.map((row) => row.node));
  const read = () =>
    rows.map(({ item, input }) => [item, exact(input.value)]).filter(([, n]) => n !== "" && n !== "0");
  const set = (pairs) => {
    const given = new Map(Array.isArray(pairs) ? pairs : Object.entries(pairs));
    for (const { item, name, input } of rows) written(input)(given.get(item) ?? given.get(name) ?? "");
  };
  return { ...frame, read, set };
}

// People write 1 2/3 where the rules have 5/3.
function exact(typed) {
  const [, whole, above, below] = /^(\d+)\s+(\d+)\/(\d+)$/.exec(typed.trim()) || [];
  return below ? `${Number(whole) * Number(below) + Number(above)}/${below}` : typed.trim();
}

function mixed(most) {
  const [above, below] = most.split("/").map(Number);
  return below && above > below ? `${Math.floor(above / below)} ${above % below}/${below}` : most;
}

function ceiling(most) {
  const [above, below] = most.split("/").map(Number);
  return above / (below || 1);
}

function many(field, limits) {
  const entries = [];
  const list = el("div");
  const add = el("button", { type: "button", class: "button small" }, t("add"));
  const full = () => { add.hidden = entries.length >= field.most; };
  add.addEventListener("click", () => {
    const inner = made({ ...field.of, name: field.name, label: `${titled(field.label || field.name)} ${entries.length + 1}` }, limits);
    const remove = el("button", { type: "button", class: "button small" }, t("remove"));
    const node = el("div", { class: "entry" }, inner.node, remove);
    const entry = { ...inner, node };
    remove.addEventListener("click", () => {
      entries.splice(entries.indexOf(entry), 1);
      node.remove();
      full();
      add.focus();
    });
    entries.push(entry);
    list.append(node);
    full();
    node.querySelector("input, select, textarea")?.focus();
  });
  const frame = framed("fieldset", field, hint(t("up_to", { most: field.most })), list, add);
  return { ...frame, read: () => entries.map((entry) => entry.read()) };
}

function nested(field, limits) {
  const inner = field.fields.map((each) => made(each, limits));
  const frame = framed("fieldset", field, null, inner.map((each) => each.node));
  const read = () => ({
    ...(field.kind ? { kind: field.kind } : {}),
    ...Object.fromEntries(inner.map((each) => [each.name, each.read()])),
  });
  return { ...frame, read };
}

const MAKE = { choice, whole, text, amounts, many, form: nested };

function made(field, limits) {
  if (!(field.type in MAKE)) throw new Error(`This page does not know fields of type ${field.type}.`);
  const one = MAKE[field.type](field, limits);
  const read = () => {
    try {
      return one.read();
    } catch (why) {
      if (why instanceof Unfilled) why.at ??= one;
      throw why;
    }
  };
  return { ...one, read };
}

export const makeField = (field, limits = {}) => made(field, limits);
export { pills, titled };
