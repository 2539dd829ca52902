// The page of an agent: its learning curves, and a table that sorts.

markLabels();
const table = new Table(find("scores"));
addEventListener("hashchange", () => table.restore());

// Agents of one algorithm share its colour, so labels tell them apart in the legend.
function draw() {
  const plots = [...document.querySelectorAll("svg.curves")];
  const areas = plots.map(areaOf);
  content.curves.forEach(({ learning, labels, algorithms: numbers, ...bound }, k) => {
    const lines = labels.map((label, i) =>
      ({ label, algorithm: algorithms[numbers[i]], points: pointsOf(learning, i), isThick: i === 0 }));
    const score = scoreFormat(lines.flatMap(({ points }) => points.map(({ mean }) => mean)));
    new LearningPlot(plots[k], "discounted reward so far").draw(areas[k], lines, scoreLines(bound, []), score, learning.unit);
  });
}

draw();
onResize(draw);
