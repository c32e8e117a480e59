// Browser events (paste, focus, resize, typing time), if the study logs them.

const EVERY = 4000; // milliseconds between two reports
const MOST = 40; // events in one report
let waiting = [];
let address = "";
let page = "";

const note = (kind, detail = "") => {
  if (address && waiting.length < MOST) waiting.push({ kind, detail: String(detail), page });
};

function report() {
  if (!address || !waiting.length) return;
  const sent = waiting;
  waiting = [];
  const body = JSON.stringify({ events: sent });
  fetch(address, { method: "POST", headers: { "Content-Type": "application/json" }, body, credentials: "same-origin", keepalive: true })
    .then((reply) => { if (reply.status === 404) address = ""; }) // this study notes nothing
    .catch(() => { waiting = [...sent, ...waiting].slice(0, MOST); });
}

// From the first to the last key in a field, how long and how many characters.
function typing() {
  let began = 0;
  let field = null;
  const close = (now) => {
    if (field && began) note("typing", `${Math.round(now - began)} ms, ${field.value?.length ?? 0} characters`);
    began = 0;
    field = null;
  };
  addEventListener("input", (event) => {
    if (!event.target.matches?.("textarea, input[type=text]")) return;
    if (field !== event.target) close(event.timeStamp);
    field = event.target;
    began ||= event.timeStamp;
  });
  addEventListener("change", (event) => event.target === field && close(event.timeStamp));
  addEventListener("pagehide", (event) => close(event.timeStamp));
}

export function watch(where, name) {
  address = where;
  page = name;
  addEventListener("paste", (event) => note("paste", `${event.clipboardData?.getData("text").length ?? 0} characters`));
  addEventListener("visibilitychange", () => note(document.hidden ? "hidden" : "shown"));
  addEventListener("blur", () => note("blur"));
  addEventListener("focus", () => note("focus"));
  let size = null;
  addEventListener("resize", () => {
    clearTimeout(size);
    size = setTimeout(() => note("resize", `${innerWidth}x${innerHeight}`), 500);
  });
  typing();
  setInterval(report, EVERY);
  addEventListener("pagehide", report);
}
