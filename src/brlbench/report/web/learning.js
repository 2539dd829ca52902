// Learning curves: what agents have gained after each decision, or each episode.

const MOST_BANDS = 4;

// The points of a curve, one per decision or episode that is kept.
function pointsOf({ decisions, curves }, k) {
  const [means, ci95] = curves[k];
  return decisions.map((decision, p) => ({ decision, mean: means[p], ci95: ci95[p] || 0 }));
}

class LearningPlot {
  constructor(svg, title) {
    this.svg = svg;
    this.legend = svg.nextElementSibling;
    this.title = title;
  }

  // Draws lines, each with an algorithm, a label, points and whether it is thick. Bands of many lines
  // would hide each other: then only the first has one.
  draw(area, lines, limits, score, unit) {
    const points = lines.flatMap((line) => line.points);
    const x = linearScale(0, Math.max(1, ...points.map((p) => p.decision)), area.left, area.right);
    const y = scoreScale(points.map((p) => [p.mean - p.ci95, p.mean + p.ci95]), limits, area);
    frame(this.svg, area, x, y, unit, this.title);
    this.svg.append(...drawLines(limits, y, area, score));
    drawCurves(this.svg, lines.map(({ points: curve, ...line }) => ({
      ...line,
      points: curve.map((p) => ({
        x: x.at(p.decision), y: y.at(p.mean), low: y.at(p.mean - p.ci95), high: y.at(p.mean + p.ci95),
      })),
    })));
    const items = lines.map(({ algorithm, label: text }) => element("li", {}, mark(algorithm), text));
    this.legend.replaceChildren(...items);
  }
}

// The regret: the reference's mean minus the agent's, at each decision.
function regretOf(points, reference) {
  return points.map(({ decision, mean }, k) => ({ decision, mean: reference[k].mean - mean, ci95: 0 }));
}

// Draws lines with bands and a few markers: the first on top, above it those of users' agents. Points have pixels: x, y, and the
// band's low and high.
function drawCurves(svg, lines) {
  const nodes = lines.map(({ algorithm, points, isThick }, order) => {
    const path = (y, way) => points.map((p) => `${p.x},${p[y]}`)[way]().join("L");
    const places = points.filter((p, k) => k === points.length - 1 || k % 8 === (4 + 3 * order) % 8);
    const hasBand = lines.length <= MOST_BANDS || order === 0;
    const edges = `M${path("high", "slice")}L${path("low", "reverse")}z`;
    const node = shape("g", { class: isThick ? "curve winner" : "curve", color: algorithm.color },
      ...(hasBand ? [shape("path", { class: "band", d: edges })] : []),
      shape("path", { class: "mean", d: `M${path("y", "slice")}` }),
      ...places.map((p) =>
        shape("path", { class: "at", d: markerPath(algorithm), transform: `translate(${p.x} ${p.y})` })));
    return { node, isOwn: algorithm.isOwn };
  });
  nodes.reverse().sort((a, b) => a.isOwn - b.isOwn);
  svg.append(...nodes.map(({ node }) => node));
}
