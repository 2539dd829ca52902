// The page of an agent: its scores beside the best ones, its learning curves, and a table that sorts.

markLabels();
const table = new Table(find("scores"));
addEventListener("hashchange", () => table.restore());

// Agents of one algorithm share its colour, so labels tell them apart in the legend.
function drawScores() {
  const node = find("normalised");
  if (!node) return;
  const ends = ([, mean, half]) => [mean - half, mean + half];
  const width = Math.max(140, Math.min(700, node.parentElement.clientWidth - 260));
  const scale = intervalScale(content.scores.flatMap(({ scores }) => scores.map(ends)), width, 0);
  const picture = ([own, best]) => {
    const drawn = (score) => scale.draw(algorithms[score[0]], score[1], ends(score));
    const image = drawn(best ?? own);
    if (best) {
      image.querySelector(".interval").classList.add("pale");
      image.append(drawn(own).querySelector(".interval"));
    }
    return image;
  };
  new Table(node).draw([
    { title: "Experiment", kind: "name", show: ({ name, page }) => element("a", { href: `../problems/${page}.html` }, name) },
    { title: "Score", show: ({ scores: [[, mean]] }) => minus(mean.toFixed(3)) },
    { kind: "picture", title: scale.axis(node), show: ({ scores }) => picture(scores) },
  ], content.scores);
}

function draw() {
  drawScores();
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
