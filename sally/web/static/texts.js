// The sentences of this page in its language, as the server put them into it.

const TEXTS = JSON.parse(document.documentElement.dataset.texts || "{}");

// A sentence with its {slots} filled; a key that is missing shows itself, so that tests see it.
export function t(key, slots = {}) {
  return (TEXTS[key] ?? key).replace(/\{(\w+)\}/g, (_, name) => String(slots[name] ?? ""));
}
