// The page of a problem: the map of winners, scores against time, and the table of all agents.

markLabels();
const state = { feature: content.feature, level: content.level, asInPaper: false, hidden: new Set([content.reference]) };
const [experiment] = content.experiments;
const view = viewOf(experiment, state);
const unbounded = { offline: Infinity, online: Infinity };
const classes = classesWithin(view, view.comparison.within(Infinity, Infinity), unbounded);
const map = new BoundsMap(find("map"), find("legend"));
const plot = new Scatter(find("online-plot"));
const table = new Table(find("entrants"), { key: "rank", down: false });

function restore() {
  table.restore();
  find("only-best").checked = readAddress().get("only") === "best";
  table.table.classList.toggle("only-best", find("only-best").checked);
}

function draw() {
  const areas = [areaOf(map.svg), areaOf(plot.svg)];
  map.draw(view, areas[0]);
  plot.draw(view, areas[1], view.online, view.onlineLabel);
  plot.update(classes, Infinity);
}

listen("only-best", "change", ({ checked }) => {
  writeAddress({ only: checked ? "best" : null });
  restore();
});
addEventListener("hashchange", restore);
restore();
draw();
onResize(draw);
