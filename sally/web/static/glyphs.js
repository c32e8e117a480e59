// Small pictures of kinds of things, drawn by us: a kind is a colour and a few simple shapes.

const SVG = "http://www.w3.org/2000/svg";

// By kind: the fill, then paths in a square of 24.
const KINDS = {
  log: ["#a9794a", "M5 7h11v10H5z", "M16 7a3 5 0 0 1 0 10a3 5 0 0 1 0-10z"],
  plank: ["#c99a5b", "M3 6h18v4H3z", "M3 10h18v4H3z", "M3 14h18v4H3z"],
  stick: ["#a9794a", "M17 3l4 4L7 21l-4-4z"],
  paper: ["#e9e4d8", "M6 3h9l4 4v14H6z", "M15 3v4h4", "M9 11h7", "M9 15h7"],
  scissors: ["#c3cad0", "M7 4l8 11", "M17 4l-8 11", "M7 15a3 3 0 1 1 0 6a3 3 0 0 1 0-6z", "M17 15a3 3 0 1 1 0 6a3 3 0 0 1 0-6z"],
  stone: ["#9aa0a6", "M4 18l2-9 6-4 7 4 2 9z"],
  ore: ["#8b9197", "M3 18l3-10 7-3 6 4 2 9z", "M9 11h3v3H9z", "M14 14h3v2h-3z"],
  ingot: ["#d0d6db", "M3 16l3-7h12l3 7z", "M6 9l1-2h10l1 2z"],
  nugget: ["#d9b44a", "M8 9l4-2 5 2 1 5-4 3-5-1-2-4z"],
  coal: ["#4a4f55", "M4 15l3-8 7-2 6 5-2 8-8 2z"],
  gem: ["#7fc8d8", "M7 4h10l4 6-9 10L3 10z", "M3 10h18"],
  glass: ["#cfe6ee", "M5 3h14v18H5z", "M8 14l6-8", "M11 17l5-7"],
  dust: ["#c96f5f", "M3 19c3-7 6-10 9-10s6 3 9 10z"],
  tool: ["#b7bdc3", "M5 21l-2-2L13 9l2 2z", "M12 4c5-1 8 2 8 7l-3-1-5-5z"],
  armour: ["#aab4c0", "M4 5l8-2 8 2v7c0 5-4 8-8 9c-4-1-8-4-8-9z"],
  vessel: ["#b9b3a6", "M4 7h16l-2 13H6z", "M4 7a8 2.5 0 0 1 16 0a8 2.5 0 0 1-16 0z"],
  machine: ["#9a9aa8", "M4 4h16v16H4z", "M8 8h8v5H8z", "M8 16h8"],
  rail: ["#b0a08a", "M7 3v18", "M17 3v18", "M4 7h16", "M4 12h16", "M4 17h16"],
  boat: ["#b98850", "M2 13h20l-4 7H6z", "M12 3v10l7-2z"],
  flame: ["#eda13c", "M12 2c5 6 7 9 7 13a7 7 0 0 1-14 0c0-3 2-5 3-8l2 3c1-3 2-5 2-8z"],
  food: ["#d9714f", "M12 7c4-3 9 0 8 6c-1 5-4 8-8 8s-7-3-8-8c-1-6 4-9 8-6z", "M12 7c0-2 1-4 3-4"],
  plant: ["#7cae5b", "M12 21c-1-8 0-12 8-17c1 9-1 13-8 13z", "M12 21c0-5-2-8-8-9c0 6 3 9 8 9z"],
  cloth: ["#e4ddcf", "M4 5c4 2 12-2 16 0v13c-4-2-12 2-16 0z", "M4 10c4 2 12-2 16 0"],
  water: ["#6fa8dc", "M12 3c4 6 7 8 7 12a7 7 0 0 1-14 0c0-4 3-6 7-12z"],
  air: ["#bcd0dc", "M3 9h11c4 0 4-5 1-5", "M3 13h15c4 0 4 6 0 6", "M3 17h8"],
  house: ["#c58b6a", "M3 11l9-8 9 8z", "M6 11h12v10H6z", "M10 15h4v6h-4z"],
  animal: ["#d8b28a", "M7 13a5 5 0 0 1 10 0c2 1 3 3 3 6H4c0-3 1-5 3-6z", "M8 8l-1-4 4 3z", "M16 8l1-4-4 3z"],
  bone: ["#e9e3d5", "M6 4a3 3 0 0 0-2 5l10 10a3 3 0 1 0 4-4L8 5a3 3 0 0 0-2-1z"],
  shape0: ["#c3a5d6", "M12 3a9 9 0 0 1 0 18a9 9 0 0 1 0-18z"],
  shape1: ["#a5c8d6", "M4 4h16v16H4z"],
  shape2: ["#d6c5a5", "M12 3l9 17H3z"],
  shape3: ["#a5d6b6", "M12 2l10 10-10 10L2 12z"],
  shape4: ["#d6a5b3", "M7 4h10l5 8-5 8H7l-5-8z"],
  shape5: ["#b3b6e0", "M12 2l3 7h7l-6 5 2 8-6-5-6 5 2-8-6-5h7z"],
};

// Pictures of options that have one.
const OPTIONS = { rock: "stone", paper: "paper", scissors: "scissors" };
export const pictured = (label) => glyph(OPTIONS[label.toLowerCase()] || "");

// A picture beside a name says nothing that the name does not, so it is not read out.
export function glyph(kind) {
  if (!(kind in KINDS)) return null;
  const [fill, ...paths] = KINDS[kind];
  const drawing = document.createElementNS(SVG, "svg");
  for (const [name, value] of [["viewBox", "0 0 24 24"], ["class", "glyph"], ["aria-hidden", "true"]]) {
    drawing.setAttribute(name, value);
  }
  for (const d of paths) {
    const path = document.createElementNS(SVG, "path");
    path.setAttribute("d", d);
    path.setAttribute("fill", /z$/.test(d) ? fill : "none");
    drawing.append(path);
  }
  return drawing;
}
