// Pages of a study: wait for a partner, count characters, send a form once, note how it is done.

import { watch } from "./events.js";
import { t } from "./texts.js";

const events = document.querySelector("[data-events]");
if (events) watch(events.dataset.events, events.dataset.page);

for (const part of document.querySelectorAll("[data-waiting]")) {
  const look = async () => {
    const answer = await fetch(part.dataset.waiting, { credentials: "same-origin" });
    if (answer.ok && !(await answer.json()).waiting) location.reload();
  };
  setInterval(() => look().catch(() => {}), 2000);
  const waited = part.querySelector("[data-waited]");
  const began = Date.now() - 1000 * Number(waited.dataset.waited);
  const pad = (n) => String(n).padStart(2, "0");
  setInterval(() => {
    const seconds = Math.round((Date.now() - began) / 1000);
    waited.textContent = t("waited", { time: `${Math.floor(seconds / 60)}:${pad(seconds % 60)}` });
  }, 1000);
}

// A chat of a group: new messages come by polling; one is sent without leaving the page.
for (const part of document.querySelectorAll("[data-chat]")) {
  const list = part.querySelector("[data-said]");
  const status = part.querySelector(".status");
  const form = part.querySelector("[data-say]");
  const show = ({ said, left }) => {
    status.textContent = left === null ? t("chat_waiting") : t("chat_left", { seconds: left });
    form.hidden = left === null;
    for (const [who, words] of said.slice(list.children.length)) {
      const line = document.createElement("li");
      if (who === "you") line.className = "mark-yours";
      for (const [kind, text] of [["by", who === "you" ? t("chat_you") : t("chat_other", { number: who })], ["words", words]]) {
        const span = document.createElement("span");
        span.className = kind;
        span.textContent = text;
        line.append(span, " ");
      }
      list.append(line);
      list.parentElement.scrollTop = list.parentElement.scrollHeight;
    }
  };
  const look = async () => {
    const answer = await fetch(part.dataset.chat, { credentials: "same-origin" });
    if (!answer.ok) return;
    const told = await answer.json();
    if (told.over) location.reload();
    else show(told);
  };
  setInterval(() => look().catch(() => {}), 1500);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const sent = new URLSearchParams(new FormData(form));
    if (!form.elements.text.value.trim()) return;
    const answer = await fetch(part.dataset.chat, { method: "POST", body: sent, credentials: "same-origin" }).catch(() => null);
    if (answer?.ok) form.elements.text.value = "";
    look().catch(() => {});
  });
}

for (const text of document.querySelectorAll("textarea[data-count]")) {
  const hint = text.parentElement.querySelector(".counter");
  const most = text.maxLength;
  const count = () => { hint.textContent = t("characters", { n: text.value.length, limit: most }); };
  text.addEventListener("input", count);
  count();
}

// A slider that was not moved has no value of its own, so it is not sent.
for (const slider of document.querySelectorAll("[data-slider]")) {
  const name = slider.name;
  const shown = slider.parentElement.querySelector("output");
  slider.dataset.name = name;
  const moved = ({ key }) => {
    if (key === "Tab" || key === "Shift") return; // whoever only passes by has not answered
    slider.name = name;
    slider.dataset.moved = "";
    shown.textContent = slider.value;
  };
  if (!("moved" in slider.dataset)) slider.removeAttribute("name");
  for (const kind of ["input", "change", "keydown", "pointerdown"]) slider.addEventListener(kind, moved);
}

for (const form of document.querySelectorAll("form.step")) {
  form.addEventListener("submit", (event) => {
    if (form.dataset.sent) event.preventDefault(); // a double click sends once; the server knows too
    form.dataset.sent = "true";
  });
}
addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form.step")) delete form.dataset.sent;
});
