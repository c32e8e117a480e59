// Pages of a study: wait for a partner, count characters, send a form once.

for (const part of document.querySelectorAll("[data-waiting]")) {
  const look = async () => {
    const answer = await fetch(part.dataset.waiting, { credentials: "same-origin" });
    if (answer.ok && !(await answer.json()).waiting) location.reload();
  };
  setInterval(() => look().catch(() => {}), 2000);
}

for (const text of document.querySelectorAll("textarea[data-count]")) {
  const hint = text.parentElement.querySelector(".counter");
  const most = text.maxLength;
  const count = () => { hint.textContent = `${text.value.length} of at most ${most} characters.`; };
  text.addEventListener("input", count);
  count();
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
