// The page of a problem: the map of winners, scores against time, and the table of all agents.

markLabels();
const entrants = new SortableTable(find("entrants"), { key: "rank", down: false });
addEventListener("hashchange", () => entrants.restore());

const { of, competing, scores, ci95, online, labels } = content;
const shown = labels.map((_, i) => i).slice(0, competing);
const view = {
  algorithms: content.algorithms,
  experiment: { algorithms: of },
  measured: { scores, ci95 },
  shown,
  score: scoreFormat(scores),
  scoreLabel: "mean discounted return",
  lines: scoreLines(content, scores.slice(competing)),
};

// Python has found the winners within all bounds: the map only looks them up.
const { map: regions } = content;
const place = (times, bound) => times.findLastIndex((time) => time <= bound);
const found = {
  regions: () => regions,
  within(offline, online) {
    const row = place(regions.offline, offline), column = place(regions.online, online);
    const cell = row < 0 || column < 0 ? -1 : regions.cells[row * regions.online.length + column];
    return { winners: regions.sets[cell] ?? [] };
  },
};
const fixed = (times) => ({ times, setBelow() {}, step() {} });
const map = new BoundsMap(find("map"), find("legend"), fixed(regions.offline), fixed(regions.online));
const mapView = {
  algorithms: content.algorithms,
  experiment: { algorithms: content.algorithms.map((_, k) => k) },
  comparison: found,
  onlineLabel: "time per decision",
};

const plot = new Scatter(find("online-plot"), (i) => [
  element("strong", {}, labels[i]),
  element("div", {}, `${view.score(scores[i])} ± ${view.score(ci95[i] ?? NaN)}`),
  element("div", { class: "muted" }, `${formatSeconds(online[i])} per decision`),
]);
const looks = labels.map((_, i) =>
  content.winners.includes(i) ? "best winner" : content.best.includes(i) ? "best" : "");

drawAlways(() => {
  const areas = [areaOf(map.svg), areaOf(plot.svg)];
  map.draw(mapView, areas[0]);
  plot.draw(view, areas[1], online, "time per decision");
  plot.update(looks, Infinity);
  for (const node of [plot.line, plot.beyond]) node.remove(); // there are no bounds on this page
  plot.legend.lastChild.textContent = "Large: the best agent of its algorithm; outlined: winner.";
});

const onlyBest = find("only-best");
function restoreBest() {
  onlyBest.checked = readAddress().get("only") === "best";
  entrants.table.classList.toggle("only-best", onlyBest.checked);
}
onlyBest.addEventListener("change", () => {
  writeAddress({ only: onlyBest.checked ? "best" : null });
  restoreBest();
});
addEventListener("hashchange", restoreBest);
restoreBest();
