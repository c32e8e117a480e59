// Board and question beside each other where they would not fit below each other (tall.css).

const columns = document.querySelector(".columns");
const heading = document.querySelector(".heading");
const board = document.getElementById("board");

// Only ever from below to beside: what a person reads should not jump back and forth.
export function fit() {
  if (board.hidden || columns.classList.contains("tall")) return;
  const top = heading.offsetTop + heading.offsetHeight; // the rules between fold away
  const needed = top + columns.querySelector(".play").offsetHeight;
  columns.classList.toggle("tall", needed > innerHeight);
}

addEventListener("resize", () => {
  columns.classList.remove("tall");
  fit();
});
