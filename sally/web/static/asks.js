// What is asked of a seat: buttons for a finite menu, forms, and probes in a panel of their own.

import { Lost, Refused, call, freshKey } from "./api.js";
import { PHONE, capital, el, freshId, isHeading, spoken, titled } from "./dom.js";
import { Unfilled, makeField, pills } from "./fields.js";
import { glyph, pictured } from "./glyphs.js";
import { entry } from "./recipes.js";
import { t } from "./texts.js";

const TYPED = 400; // ms without a key after which what was typed is checked

export class AskPanel {
  constructor(ask, { limits = {}, faces = {} }, seat) {
    this.ask = ask;
    this.faces = faces; // how the buttons of some options are drawn, by their labels
    this.seat = seat; // {send(path, body), answer(body, taken), refresh(), tell(sentence)}
    this.sending = false;
    this.problem = el("p", { class: "refused", role: "alert" });
    this.progress = el("p", { class: "muted", role: "status" });
    this.fields = [];
    const heading = freshId("question");
    this.heading = el("h2", { class: "question", id: heading, tabindex: "-1" }, worded(ask.question));
    const probe = ask.kind === "probe";
    this.node = el("section", { class: probe ? "probe" : "ask", "aria-labelledby": heading },
      this.heading, probe ? this.#probe() : this.#move(limits), this.#tools(),
      this.problem, this.progress);
    this.node.addEventListener("keydown", (event) => this.#pressed(event));
    if (ask.refused) this.#explain(ask);
  }

  // A move that the rules refused comes back to its field, with the reason and the tries left.
  #explain({ refused, draft }) {
    const typed = this.fields.flatMap((form) => form.fields).filter((field) => field.draft);
    if (draft === null || !typed.length) {
      this.#complain(refused);
      return;
    }
    const { kind, ...values } = draft;
    const form = this.fields.find((each) => each.kind === kind);
    for (const field of form.fields) if (field.name in values) field.set?.(values[field.name]);
    form.fields.find((field) => field.draft).complain(this.#withTries(refused), false);
  }

  // Why a move is refused, and after a refusal how many tries are left.
  #withTries(problem) {
    const left = this.ask.tries_left;
    if (!problem || !left) return problem;
    return `${problem} ${left === 1 ? t("last_try") : t("tries_left", { n: left })}`;
  }

  // While a move is typed the rules say whether they would refuse it; that is no try.
  #watch(fields, read) {
    let timer = null;
    const look = async () => {
      if (this.sending || this.sent || !this.node.isConnected) return;
      let value = null;
      try {
        value = read();
      } catch (why) {
        if (why instanceof Unfilled) return; // it is not complete yet
        throw why;
      }
      try {
        const { problem } = await call("/api/seat/check", { token: this.seat.token, body: { ask: this.ask.id, value } });
        if (this.sending || !this.node.isConnected) return;
        const [, name, reason] = /^(\w+): (.*)$/s.exec(problem) || ["", "", problem];
        const typed = fields.filter((each) => each.draft);
        const field = typed.find((each) => each.name === name) || typed[0];
        for (const each of typed) each.complain(each === field ? this.#withTries(reason) : "", false);
      } catch (why) {
        if (!(why instanceof Refused || why instanceof Lost)) throw why; // then sending it will tell
      }
    };
    return () => {
      clearTimeout(timer);
      timer = setTimeout(look, TYPED);
    };
  }

  // --- moves ---------------------------------------------------------------------------------

  #move(limits) {
    const { options, forms, range } = this.ask;
    if (this.ask.answer === "number") return this.#whole(range);
    const ready = new Set(options.map((option) => option.value?.kind).filter(Boolean));
    const buttons = options.length ? this.#buttons(options) : null;
    const shown = saying(forms) ? [this.#letter(forms, limits)]
      : forms.map((form) => this.#form(form, limits, ready.has(form.kind)));
    const leads = shown.some((form) => form.matches("details.long"));
    return leads ? [shown, buttons] : [buttons, shown]; // a long form is the main thing to do
  }

  #buttons(choices) {
    const numeric = choices.every((choice) => /^\d+$/.test(choice.label));
    this.keys = choices.map((choice, i) => (numeric ? choice.label : String(i + 1)));
    this.buttons = choices.map((choice, i) =>
      el("button", { type: "button", class: "button", onclick: (event) => isFirst(event) && this.#send(choice.value) },
        numeric || i > 8 ? null : el("kbd", { "aria-hidden": "true" }, String(i + 1)), this.#face(choice.label)));
    const many = choices.length > 6 && choices.every((choice) => choice.label.length < 18);
    return el("div", { class: !many ? "options" : choices.length > 12 ? "options many very-many" : "options many", role: "group", "aria-label": t("choices") }, this.buttons);
  }

  // What a button shows: the option's name, or a picture with what is made and what that takes.
  #face(label) {
    const face = this.faces[label];
    if (!face) return [pictured(label), label];
    return [glyph(face.glyph), el("span", { class: "made", "aria-hidden": "true" }, face.text, el("span", { class: "muted" }, face.note)), spoken(label)];
  }

  // One whole number, as a move or as an answer aside.
  #whole([low, high]) {
    const field = makeField({ name: "number", label: t("your_number"), type: "whole", low, high, wide: true });
    this.dial = field.dial; // a scale on the board may hold it
    const submit = el("button", { type: "submit", class: "button primary" }, t("answer"));
    const form = el("form", { class: "form", novalidate: true }, field.node, submit);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit([field], () => field.read());
    });
    return form;
  }

  // A form that only spells out what a button does already is folded away; so is one that is higher
  // than a phone's screen.
  #form(form, limits, folded) {
    const fields = form.fields.map((field) => makeField(field, limits));
    const name = titled(form.label || form.kind);
    const letter = form.fields.length === 1 && form.fields[0].type === "text"; // something to say
    const says = form.fields.some((field) => field.type === "text") && !this.ask.options.length;
    const send = this.ask.forms.length === 1 && (letter || says);
    const submit = el("button", { type: "submit", class: "button primary" }, send ? t("send") : name);
    const node = el("form", { class: letter && form.fields[0].limit <= 80 ? "form one-line" : "form", novalidate: true, "aria-label": name },
      fields.map((field) => field.node), submit);
    node.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit(fields, () => ({ kind: form.kind, ...Object.fromEntries(fields.map((f) => [f.name, f.read()])) }));
    });
    const long = this.ask.options.length > 0 && form.fields.some((field) => field.type === "amounts");
    const shown = folded || long
      ? el("details", { class: folded ? "form" : "form long" }, el("summary", {}, folded ? t("own_way", { name }) : name), node) : node;
    if (long && !folded) {
      const fold = () => { shown.open = !PHONE.matches; };
      fold();
      PHONE.addEventListener("change", fold);
    }
    if (this.ask.is_checked && fields.some((field) => field.draft)) {
      node.addEventListener("input", this.#watch(fields, () => ({ kind: form.kind, ...Object.fromEntries(fields.map((f) => [f.name, f.peek ? f.peek() : f.read()])) })));
    }
    this.fields.push({ kind: form.kind, form: node, fields, shown, submit });
    return shown;
  }

  // Several kinds of message, such as the last one of a talk: one box with a button for each.
  #letter(forms, limits) {
    const fields = forms.map((form) => makeField(form.fields[0], limits));
    const [box] = fields;
    const submits = forms.map((form, i) => el("button", { type: i ? "button" : "submit", class: i ? "button" : "button primary" }, titled(form.label || form.kind)));
    const node = el("form", { class: "form", novalidate: true }, box.node, el("div", { class: "actions" }, submits));
    const send = (i) => this.#submit([box], () => {
      fields[i].set(box.draft.value);
      try {
        return { kind: forms[i].kind, [fields[i].name]: fields[i].read() };
      } catch (why) {
        if (why instanceof Unfilled) why.at = box;
        throw why;
      }
    });
    node.addEventListener("submit", (event) => {
      event.preventDefault();
      send(0);
    });
    submits.slice(1).forEach((button, i) => button.addEventListener("click", (event) => isFirst(event) && send(i + 1)));
    if (this.ask.is_checked) node.addEventListener("input", this.#watch([box], () => ({ kind: forms[0].kind, [box.name]: box.read() })));
    forms.forEach((form, i) => this.fields.push({ kind: form.kind, form: node, fields: [box], shown: node, submit: submits[i] }));
    return node;
  }

  #submit(fields, read) {
    for (const field of fields) field.complain("");
    this.#complain("");
    try {
      this.#send(read(), fields);
    } catch (why) {
      if (!(why instanceof Unfilled)) throw why;
      why.at.complain(why.message);
    }
  }

  // --- probes --------------------------------------------------------------------------------

  #probe() {
    const { answer, items, range } = this.ask;
    if (answer === "number") return this.#whole(range);
    if (answer === "odds") return this.#numbers(items, [0, 100], true);
    if (answer === "values") return this.#numbers(items, this.ask.range || [0, 10], false);
    return this.#buttons(items);
  }

  // One number for each item: shares of 100, or values on a scale.
  #numbers(items, [low, high], odds) {
    const few = !odds && Number.isInteger(low) && Number.isInteger(high) && high - low <= 2;
    const rows = items.map((item) => (few ? this.#scale(item, low, high) : this.#number(item, low)));
    const sum = el("p", { class: "sum", role: "status" });
    const submit = el("button", { type: "submit", class: "button primary" }, t("answer"));
    const form = el("form", { class: "form", novalidate: true }, rows.map((row) => row.node),
      odds ? sum : el("p", { class: "hint" }, t("each", { low, high })), submit);
    const given = () => rows.map((row) => row.read());
    const total = () => given().reduce((all, n) => all + (Number.isFinite(n) ? n : 0), 0);
    const count = () => { sum.textContent = t("percent", { sum: Number(total().toFixed(2)) }); };
    if (odds) {
      form.addEventListener("input", count);
      count();
    }
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#complain("");
      const values = given();
      if (values.some((n) => Number.isNaN(n) || (n !== null && (n < low || n > high)))) {
        this.#complain(t("each_wrong", { low, high }));
      } else if (odds && Math.abs(total() - 100) > 1) {
        this.#complain(t("percent_wrong", { sum: Number(total().toFixed(2)) }));
      } else if (!odds && values.every((n) => n === null)) {
        this.#complain(t("one_number"));
      } else {
        this.#send(odds ? values.map((n) => n ?? 0) : values);
      }
    });
    return form;
  }

  #number(item, low) {
    const input = el("input", { class: "number", type: "text", inputmode: low < 0 ? "text" : "decimal", autocomplete: "off", id: freshId("worth") });
    const node = el("div", { class: "worth" }, el("label", { class: "item", for: input.id }, item.label), input);
    const read = () => {
      const typed = input.value.trim().replace(",", ".");
      if (typed === "") return null;
      return /^-?\d+(\.\d+)?$/.test(typed) ? Number(typed) : NaN;
    };
    return { node, read };
  }

  #scale(item, low, high) {
    const values = [...Array(high - low + 1).keys()].map((n) => n + low);
    const node = el("fieldset", { class: "field worth" }, el("legend", { class: "item" }, item.label),
      pills(values, values.map(String), freshId("scale")));
    const read = () => {
      const input = node.querySelector("input:checked");
      return input ? values[Number(input.value)] : null;
    };
    return { node, read };
  }

  // --- looking things up ---------------------------------------------------------------------

  #tools() {
    return this.ask.tools.map((tool) => {
      const fields = tool.fields.map((field) => makeField({ ...field, brief: true }));
      const found = el("div", { class: "found", tabindex: "0", role: "status", hidden: true });
      const form = el("form", { novalidate: true }, el("p", { class: "hint" }, tool.about),
        fields.map((field) => field.node), el("button", { type: "submit", class: "button" }, t("look_up")), found);
      form.addEventListener("submit", (event) => {
        event.preventDefault();
        this.#look(tool, fields, found);
      });
      const node = el("details", { class: "form tool" }, el("summary", {}, `${t("look_up")}: ${titled(tool.label)}`), form);
      const item = fields.find((field) => field.name === "item");
      const asked = (event) => {
        if (!node.isConnected) return document.removeEventListener("item", asked);
        if (document.querySelector(".book")) return; // it has the answer, and looks nothing up
        node.open = true;
        item.set(event.detail);
        this.#look(tool, fields, found);
      };
      if (item) document.addEventListener("item", asked);
      return node;
    });
  }

  async #look(tool, fields, found) {
    try {
      const typed = fields.map((field) => [field.name, field.read()]);
      const given = Object.fromEntries(typed.filter(([, value]) => value !== ""));
      const body = { ask: this.ask.id, tool: tool.name, arguments: given };
      const told = await this.seat.send("/api/seat/look", body);
      found.replaceChildren(...this.#shown(told.found));
    } catch (why) {
      found.textContent = why.message;
    }
    found.hidden = false;
  }

  // What was found: recipes as a book has them, everything else as indented lines.
  #shown(found) {
    const lists = Array.isArray(found) ? { "": found } : found?.made_by ? { made_by: found.made_by, used_in: found.used_in } : null;
    if (!lists) return [readable(found)];
    return Object.entries(lists).flatMap(([name, recipes]) => [
      name ? el("h3", {}, t(name)) : null,
      recipes.length ? el("ul", { class: "recipes" }, recipes.map((each) => this.#recipe(each))) : el("p", { class: "muted" }, t("nothing")),
    ]).filter(Boolean).concat(found.items_per_fuel_unit ? [el("p", {}, t("burns", { n: found.items_per_fuel_unit }))] : []);
  }

  #recipe({ recipe: text, inputs, output, amount, fuel_units: fuel }) {
    const fill = inputs ? { inputs, output, amount } : null;
    const can = this.ask.forms.some((form) => form.fields.some((field) => field.name === "inputs"));
    return entry({ text, ready: Boolean(inputs), fuel: fuel === "0" ? "" : fuel, fill }, can ? (values) => this.fill(values) : null);
  }

  // --- sending -------------------------------------------------------------------------------

  // One answer at a time: a second click while the first is on its way does nothing.
  async #send(value, fields = []) {
    if (this.sending) return;
    this.#busy(true);
    this.#complain("");
    const body = { ask: this.ask.id, value, key: freshKey(), shown_seconds: this.seat.shownFor(this.ask.id) };
    try {
      await this.seat.answer(body, () => {
        this.progress.textContent = t("sent");
        this.sent = true;
      });
    } catch (why) {
      if (why instanceof Lost || !(why instanceof Refused)) throw why;
      this.#busy(false);
      if (why.status === 409) this.seat.tell(why.message); // this panel is about to go
      else this.#complain(why.message, fields);
      this.seat.refresh();
    }
  }

  #busy(busy) {
    this.sending = busy;
    this.progress.textContent = busy ? t("sending") : "";
    for (const button of this.node.querySelectorAll("button")) {
      if (busy) button.setAttribute("aria-disabled", "true");
      else button.removeAttribute("aria-disabled");
    }
  }

  // A reason that names a field stands beside it, any other one below the question.
  #complain(sentence, fields = []) {
    const [, named, rest] = /^(\w+): (.*)$/s.exec(sentence) || [];
    const field = fields.find((each) => each.name === named);
    if (field) field.complain(capital(rest));
    this.problem.textContent = field ? "" : sentence;
  }

  // Write values into the form that has a field for each; nothing is sent yet.
  fill({ kind, ...values }) {
    const names = Object.keys(values);
    const fits = this.fields.find(({ fields }) => names.every((name) => fields.some((f) => f.name === name && f.set)));
    if (!fits) return;
    for (const field of fits.fields) if (field.name in values) field.set(values[field.name]);
    if (fits.shown.tagName === "DETAILS") fits.shown.open = true;
    fits.submit.focus();
    fits.form.scrollIntoView({ block: "center" });
  }

  // Hide the buttons of options that are on the board itself, and say where they are.
  cover(options) {
    if (!this.buttons) return;
    const there = (i) => options.has(this.ask.options[i]?.label);
    this.buttons.forEach((button, i) => { button.hidden = there(i); });
    this.keys = this.keys.map((key, i) => (there(i) ? "" : key));
    this.elsewhere ??= el("p", { class: "muted" }, t("on_board"));
    if (this.buttons.some((_, i) => there(i))) this.heading.after(this.elsewhere);
  }

  // Press the button with this label, from wherever it is drawn again.
  press(label) {
    this.buttons?.[this.ask.options.findIndex((option) => option.label === label)]?.click();
  }

  #pressed(event) {
    if (!this.buttons || event.repeat || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.target.closest("input, textarea, select")) return;
    const place = this.keys.indexOf(event.key);
    if (place >= 0) this.buttons[place].click();
  }
}

// The question itself, without the headline that marks it on a page of plain text.
const worded = (question) => question.split("\n").filter((line) => !isHeading(line)).join("\n");

// Whether all that can be done is to say something, in one way or another.
function saying(forms) {
  const [first] = forms.map((form) => form.fields[0]);
  return forms.length > 1 && forms.every(({ fields: [field, ...rest] }) =>
    !rest.length && field?.type === "text" && field.name === first.name && field.limit === first.limit);
}

// The second click of a double click may fall on the next question, which was not meant.
const isFirst = (event) => event.detail <= 1;

// What was looked up, as indented lines.
function readable(found, indent = "") {
  if (found === null || found === undefined) return t("nothing");
  if (Array.isArray(found)) {
    if (!found.length) return t("nothing");
    return found.map((each) => `${indent}- ${readable(each, `${indent}  `).trimStart()}`).join("\n");
  }
  if (typeof found === "object") {
    return Object.entries(found).map(([key, value]) =>
      value !== null && typeof value === "object"
        ? `${indent}${titled(key)}:\n${readable(value, `${indent}  `)}`
        : `${indent}${titled(key)}: ${readable(value)}`).join("\n");
  }
  return `${indent}${String(found).replace(/(?<=[a-z0-9])_(?=[a-z0-9])/g, " ")}`; // as on the screen
}
