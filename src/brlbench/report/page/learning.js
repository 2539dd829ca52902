// Learning curves of the best agents: what they have gained after each decision.

const MOST_BANDS = 4;

class LearningPlot {
  constructor(svg, title) {
    this.svg = svg;
    this.legend = svg.nextElementSibling;
    this.title = title;
  }

  // Draws lines, each of an agent with points of a decision, a mean and an interval. Bands of many
  // agents would hide each other: then only the first has one.
  draw(view, area, lines, winners, limits) {
    const { experiment, algorithms } = view;
    const points = lines.flatMap((line) => line.points);
    const x = linearScale(0, Math.max(1, ...points.map((p) => p.decision)), area.left, area.right);
    const y = scoreScale(points.map((p) => [p.mean - p.ci95, p.mean + p.ci95]), limits, area);
    frame(this.svg, area, x, y, "decision", this.title);
    this.svg.append(...drawLines(limits, y, area, view.score));
    [...lines].reverse().forEach(({ agent, points: curve }, below) => { // the best on top
      const order = lines.length - 1 - below;
      const algorithm = algorithms[experiment.algorithms[agent]];
      const path = (value, way) => curve.map((p) => `${x.at(p.decision)},${y.at(value(p))}`)[way]().join("L");
      const upper = path((p) => p.mean + p.ci95, "slice"), lower = path((p) => p.mean - p.ci95, "reverse");
      const look = winners.includes(agent) ? "curve winner" : "curve";
      const places = curve.filter((p, k) => k === curve.length - 1 || k % 8 === (4 + 3 * order) % 8);
      const band = lines.length <= MOST_BANDS || order === 0;
      this.svg.append(shape("g", { class: look, color: algorithm.color },
        ...(band ? [shape("path", { class: "band", d: `M${upper}L${lower}z` })] : []),
        shape("path", { class: "mean", d: `M${path((p) => p.mean, "slice")}` }),
        ...places.map((p) => shape("path", {
          class: "at", d: markerPath(algorithm), transform: `translate(${x.at(p.decision)} ${y.at(p.mean)})`,
        }))));
    });
    this.legend.replaceChildren(...lines.map(({ agent }) => {
      const algorithm = algorithms[experiment.algorithms[agent]];
      return element("li", {}, mark(algorithm), algorithm.name);
    }));
  }
}

// How much less an agent has than the reference has at the same decision.
function regretOf(points, reference) {
  return points.map(({ decision, mean }, k) => ({ decision, mean: reference[k].mean - mean, ci95: 0 }));
}
