// Elements from data. Text only becomes text nodes and is never parsed as HTML.

export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return node;
}

export const PHONE = matchMedia("(max-width: 34rem)"); // as in phone.css

let made = 0;
export const freshId = (stem) => `${stem}-${++made}`;

export const spoken = (text) => el("span", { class: "unseen" }, text);

// Lines of plain text as paragraphs, lists ("- ...") and headings (ALL CAPITALS).
export function prose(text) {
  const nodes = [];
  let list = null;
  for (const line of text.split("\n")) {
    if (line.startsWith("- ")) {
      if (!list) nodes.push((list = el("ul")));
      list.append(el("li", {}, line.slice(2)));
      continue;
    }
    list = null;
    if (!line.trim()) continue;
    nodes.push(el(isHeading(line) ? "h3" : "p", {}, line));
  }
  return nodes;
}

export const isHeading = (line) => /^[A-Z][A-Z ,']{3,}(\(.*\))?$/.test(line.trim());

export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

export const titled = (name) => capital(String(name).replaceAll("_", " "));
