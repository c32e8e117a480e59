const dots = JSON.parse(document.getElementById("dots").textContent);
const about = document.getElementById("about");
function line(text, tag) {
  const e = document.createElement(tag || "div"); e.textContent = text; return e; }
function show(n) {
  const d = dots[n];
  about.replaceChildren(line(d.told, "strong"), line(d.column));
  for (const id of d.episodes) {
    const e = line("sally show " + d.store + "/" + id, "code"); const row = line(""); row.append(e);
    about.append(row); }
  if (!d.episodes.length) about.append(line("no episode is stored for this dot")); }
for (const g of document.querySelectorAll(".dot")) {
  const at = +g.dataset.n;
  g.addEventListener("pointerenter", () => show(at));
  g.parentNode.addEventListener("focus", () => show(at));
  g.parentNode.addEventListener("click", () => { show(at);
    document.getElementById("dot-" + at).closest("details").open = true; }); }
for (const box of document.querySelectorAll(".filters input"))
  box.addEventListener("change", () => {
    for (const g of document.querySelectorAll(`.dot[data-kind="${box.value}"]`))
      g.classList.toggle("off", !box.checked); });
