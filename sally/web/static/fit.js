// Board and question beside each other where they would not fit below each other (tall.css); on a
// phone a short question then stays at the bottom of the screen (phone.css), once the rules are read,
// and says so as long as it covers a part of the board. Messages stand between the two: a question
// that would cover the last of them stays below them.

import { t } from "./texts.js";

const columns = document.querySelector(".columns");
const heading = document.querySelector(".heading");
const board = document.getElementById("board");
const turn = document.getElementById("turn");
const talk = document.getElementById("talk");
const rules = document.getElementById("rules");

const SHORT = 0.4; // share of a phone's screen that a question may keep

// Only ever from below to beside: what a person reads should not jump back and forth.
export function fit() {
  if (board.hidden) return;
  const top = heading.offsetTop + heading.offsetHeight; // the rules between fold away
  const needed = top + columns.querySelector(".play").offsetHeight;
  if (needed > innerHeight) columns.classList.add("tall");
  const short = turn.offsetHeight < SHORT * innerHeight;
  columns.classList.toggle("high", columns.classList.contains("tall") && short && talk.hidden && !rules.open);
  tellCover();
}

function tellCover() {
  const log = turn.parentNode.querySelector(".past");
  const above = log || board;
  const covers = above.getBoundingClientRect().bottom > turn.getBoundingClientRect().top + 1;
  if (covers) turn.dataset.more = log ? t("log_goes_on") : t("board_goes_on");
  else delete turn.dataset.more;
}
addEventListener("scroll", tellCover, { passive: true });

// The only way back from beside to below: the size of the screen, or what stands on it, changed.
export function fitAgain() {
  columns.classList.remove("tall", "high");
  fit();
}
addEventListener("resize", fitAgain);
