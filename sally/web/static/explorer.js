// Reloads live parts; arrow keys step through an episode. All text is escaped by the server.

import { drawn } from "./boards.js";

const EVERY = 2500; // milliseconds between two looks

async function refresh(part) {
  if (document.hidden) return;
  const answer = await fetch(part.dataset.live, { credentials: "same-origin" });
  if (answer.redirected || !answer.ok) {
    part.dataset.stale = "true"; // logged out, or the server is away: what is shown is old
    return;
  }
  delete part.dataset.stale;
  const text = await answer.text();
  if (text === part.lastText) return;
  part.lastText = text;
  const page = new DOMParser().parseFromString(text, "text/html");
  part.replaceChildren(...page.body.childNodes);
}

for (const part of document.querySelectorAll("[data-live]")) {
  setInterval(() => refresh(part).catch(() => { part.dataset.stale = "true"; }), EVERY);
}

document.addEventListener("keydown", (event) => {
  if (event.target.closest("input, select, textarea") || event.altKey || event.ctrlKey || event.metaKey) return;
  const id = { ArrowLeft: "before", ArrowRight: "after" }[event.key];
  const link = id && document.getElementById(id);
  if (link) link.click();
});

const turn = document.getElementById("turn");
if (turn) turn.addEventListener("change", () => turn.form.submit());

for (const place of document.querySelectorAll("[data-board]")) {
  place.replaceChildren(...drawn(JSON.parse(place.dataset.board)));
}
