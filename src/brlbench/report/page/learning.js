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
      const places = curve.map((p) => ({
        x: x.at(p.decision), y: y.at(p.mean), low: y.at(p.mean - p.ci95), high: y.at(p.mean + p.ci95),
      }));
      const look = winners.includes(agent) ? "curve winner" : "curve";
      drawCurve(this.svg, algorithm, places, { look, band: lines.length <= MOST_BANDS || order === 0, order });
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
