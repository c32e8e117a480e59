// Board and question beside each other where they would not fit below each other (tall.css); on a
// phone a short question then stays at the bottom of the screen (phone.css).

const columns = document.querySelector(".columns");
const heading = document.querySelector(".heading");
const board = document.getElementById("board");

const SHORT = 0.4; // share of a phone's screen that a question may keep

// Only ever from below to beside: what a person reads should not jump back and forth.
export function fit() {
  if (board.hidden || columns.classList.contains("tall")) return;
  const top = heading.offsetTop + heading.offsetHeight; // the rules between fold away
  const needed = top + columns.querySelector(".play").offsetHeight;
  columns.classList.toggle("tall", needed > innerHeight);
  const turn = document.getElementById("turn");
  columns.classList.toggle("high", needed > innerHeight && turn.offsetHeight < SHORT * innerHeight);
}

addEventListener("resize", () => {
  columns.classList.remove("tall", "high");
  fit();
});
