// The scores of all agents against a time, with intervals and the bound on that time.

class Scatter {
  constructor(svg) {
    this.svg = svg;
    this.legend = svg.nextElementSibling;
    this.points = [];
    svg.addEventListener("pointermove", (event) => this.point(this.nearest(event)));
    svg.addEventListener("pointerleave", () => this.point(null));
    svg.addEventListener("blur", () => this.point(null));
    svg.addEventListener("keydown", (event) => this.walk(event));
  }

  draw(view, area, times, label) {
    const { experiment, measured, shown, algorithmOf, lines } = view;
    this.view = view;
    this.area = area;
    const drawn = shown.filter((i) => Number.isFinite(times[i]));
    const error = (i) => measured.ci95[i] || 0;
    const mean = (i) => measured.scores[i];
    this.x = logScale(drawn.map((i) => times[i]), area.left, area.right);
    const y = scoreScale(drawn.map((i) => [mean(i) - error(i), mean(i) + error(i)]), lines, area);
    frame(this.svg, area, this.x, y, label, view.scoreLabel);
    this.svg.append(...drawLines(lines, y, area, view.score));
    this.points = drawn.map((i) => {
      const algorithm = algorithmOf(i);
      const [px, py] = [this.x.at(times[i]), y.at(mean(i))];
      const bar = Math.abs(y.at(mean(i) + error(i)) - py);
      const node = shape("g", { transform: `translate(${px} ${py})`, color: algorithm.color },
        shape("line", { y1: -bar, y2: bar }),
        shape("path", { d: markerPath(algorithm) }));
      return { agent: i, x: px, y: py, node, isOwn: algorithm.isOwn, className: null };
    }).sort((a, b) => a.x - b.x || a.agent - b.agent);
    this.dots = shape("g", {}, ...this.points.map((point) => point.node));
    this.beyond = shape("rect", { class: "beyond", y: area.top, height: area.bottom - area.top });
    this.line = shape("line", { class: "bound-line", y1: area.top, y2: area.bottom });
    this.ring = shape("circle", { class: "ring", r: 10, visibility: "hidden" });
    this.svg.append(this.beyond, this.dots, this.line, this.ring);
    const kinds = [...new Set(drawn.map((i) => experiment.algorithms[i]))].sort((a, b) => a - b);
    this.legend.replaceChildren(...kinds.map((k) => element("li", {}, mark(algorithms[k]), algorithms[k].name)));
  }

  update(classes, bound) {
    const { right } = this.area, x = this.x.at(bound);
    this.beyond.setAttribute("x", x);
    this.beyond.setAttribute("width", right - x);
    this.line.setAttribute("x1", x);
    this.line.setAttribute("x2", x);
    for (const point of this.points) {
      const className = classes[point.agent];
      if (className === point.className) continue;
      point.node.setAttribute("class", `agent ${className}`);
      point.className = className;
      if (className.includes("best")) this.dots.append(point.node); // on top of the others
    }
    this.dots.append(...this.points.filter(({ isOwn }) => isOwn).map(({ node }) => node));
  }

  nearest(event) {
    const box = this.svg.getBoundingClientRect();
    const distance = (p) => Math.hypot(p.x + box.left - event.clientX, p.y + box.top - event.clientY);
    let nearest = null, least = 22;
    for (const point of this.points) {
      if (distance(point) < least) [nearest, least] = [point, distance(point)];
    }
    return nearest;
  }

  walk(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
    if (event.key === "Escape") this.point(null);
    if (step === undefined || !this.points.length) return;
    event.preventDefault();
    const now = this.points.indexOf(this.current);
    this.point(this.points[Math.min(this.points.length - 1, Math.max(0, now + step))]);
  }

  // Points at an agent: a ring around it, and its description beside it.
  point(point) {
    if (point === this.current) return;
    this.current = point;
    this.highlight(point?.agent);
    if (!point) return hideTip();
    const box = this.svg.getBoundingClientRect();
    showTip(describe(this.view, point.agent), box.left + point.x, box.top + point.y);
  }

  highlight(agent) {
    const point = this.points.find((p) => p.agent === agent);
    this.ring.setAttribute("visibility", point ? "visible" : "hidden");
    if (point) this.ring.setAttribute("transform", `translate(${point.x} ${point.y})`);
  }
}

// Covers all intervals, and the lines that are not far above them.
function scoreScale(intervals, lines, area) {
  let low = Math.min(...intervals.map(([from]) => from));
  let high = Math.max(...intervals.map(([, to]) => to));
  if (!intervals.length) [low, high] = [0, 1];
  const near = lines.filter(({ at }) => at - high < 1.5 * (high - low));
  [low, high] = [Math.min(low, ...near.map(({ at }) => at)), Math.max(high, ...near.map(({ at }) => at))];
  const margin = 0.05 * (high - low) || Math.abs(high) * 0.1 || 1;
  return linearScale(low - margin, high + margin, area.bottom, area.top);
}

// Lines with their names below. Names that would touch are moved down, and those that are too long
// are broken; those of lines far above the area come last.
function drawLines(lines, y, area, format) {
  const { left, right, top } = area;
  const isAbove = ({ at }) => y.at(at) < top;
  let free = top + 14;
  return [...lines].sort((a, b) => isAbove(a) - isAbove(b) || b.at - a.at).flatMap((line) => {
    const { name, text = format(line.at), className = "reference" } = line;
    const place = y.at(line.at), height = Math.max(free, place + 14);
    const label = isAbove(line) ? `${name}, far above: ${text} ↑` : `${name} ${text}`;
    const parts = inLines(label, right - left - 12);
    free = height + 15 * parts.length;
    const words = shape("text", { "text-anchor": "end" }, ...parts.map((part, k) =>
      shape("tspan", { x: right - 6, y: height + 15 * k }, part)));
    if (isAbove(line)) return [words];
    return [shape("line", { class: className, x1: left, x2: right, y1: place, y2: place }), words];
  });
}

// A text in as few lines as have room, broken after spaces.
function inLines(text, width) {
  return text.split(/(?<= )/).reduce((lines, word) => {
    const longer = (lines.at(-1) ?? "") + word;
    return lines.length && textWidth(document.body, longer) <= width ? lines.with(-1, longer) : [...lines, word];
  }, []);
}
