"use strict";
// The page reads well without this: it makes tables sortable and opens what a link leads into.

function cellValue(row, at) {
  const cell = row.cells[at];
  if (cell === undefined) return null;
  if (cell.dataset.v !== undefined) return Number(cell.dataset.v);
  const said = cell.textContent.trim();
  return said === "–" ? null : said;
}

function compare(a, b) {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1; // blanks come last
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b), undefined, { numeric: true });
}

function sortBy(table, head) {
  const at = head.cellIndex;
  const down = head.getAttribute("aria-sort") === "ascending";
  for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  const body = table.tBodies[0];
  const rows = Array.from(body.rows, (row) => [cellValue(row, at), row]);
  rows.sort(([a], [b]) => (a === null || b === null || !down ? compare(a, b) : -compare(a, b)));
  body.append(...rows.map(([, row]) => row));
}

for (const table of document.querySelectorAll("table.sortable")) {
  for (const head of table.tHead.rows[0].cells) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...Array.from(head.childNodes).filter((node) => node.nodeName !== "SMALL"));
    button.addEventListener("click", () => sortBy(table, head));
    head.prepend(button);
  }
}

function reveal() {
  for (const old of document.querySelectorAll(".sought")) old.classList.remove("sought");
  const sought = document.getElementById(location.hash.slice(1));
  if (sought === null) return;
  for (let at = sought; at !== null; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
  if (sought.tagName === "TH") {
    const rows = sought.closest("table").rows;
    for (const row of rows) row.cells[sought.cellIndex].classList.add("sought");
    sought.closest("details").scrollIntoView();
    sought.scrollIntoView({ block: "nearest", inline: "center" });
  } else {
    sought.scrollIntoView();
  }
}

addEventListener("hashchange", reveal);
reveal();

// the board: rows that contain every word of the filter, of the ticked entries
function narrow() {
  const words = document.getElementById("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const ticked = Array.from(document.querySelectorAll("input[name=entry]:checked"), (box) => box.value);
  for (const row of document.querySelectorAll("tr[data-n]")) {
    const names = row.dataset.n.split("\n");
    const wanted = ticked.length === 0 || names.every((name) => ticked.includes(name));
    const text = row.textContent.toLowerCase();
    row.hidden = !wanted || !words.every((word) => text.includes(word));
  }
}

if (document.getElementById("filter") !== null) {
  for (const input of document.querySelectorAll("#filter, input[name=entry]")) {
    input.addEventListener("input", narrow);
  }
}
