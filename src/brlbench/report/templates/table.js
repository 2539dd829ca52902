// The table of all agents, sortable, and the table of the best of each algorithm.

const COLUMNS = [
  { key: "agent", title: "Agent", name: true },
  { key: "offline", title: "Offline", format: formatSeconds },
  { key: "online", title: "Online", format: formatSeconds },
  { key: "score", title: "Score" },
  { key: "interval", title: "± 95%" },
  { key: "normalised", title: "Normalised", format: (value) => (Number.isNaN(value) ? "–" : value.toFixed(3)) },
  { key: "within", title: "Within bounds", format: (within) => (within ? "yes" : "no") },
  { key: "winner", title: "Winner", format: (winner) => (winner ? "★ winner" : "") },
];

class AgentTable {
  constructor(table, highlight) {
    [this.head, this.body] = [table.tHead, table.tBodies[0]];
    this.sorted = { key: "score", down: true };
    this.highlight = highlight;
  }

  draw(view) {
    const { experiment, online, score } = view;
    this.view = view;
    this.columns = COLUMNS.filter(({ key }) => key !== "normalised" || experiment.normalised)
      .map((column) => ({ format: score, ...column }));
    this.head.replaceChildren(element("tr", {}, ...this.columns.map((column) => this.header(column))));
    this.rows = view.listed.map((i) => {
      const values = { agent: experiment.labels[i], offline: experiment.offline[i], online: online[i],
        score: experiment.means[0][i], interval: experiment.ci95[i], normalised: experiment.normalised?.[i] };
      const algorithm = view.algorithms[experiment.algorithms[i]];
      const cells = this.columns.map(({ key, name, format }) => {
        if (name) return element("td", { class: "name" }, mark(algorithm), " ", values.agent);
        return element("td", { class: "number" }, key in values ? format(values[key]) : "");
      });
      const node = element("tr", {}, ...cells);
      node.addEventListener("pointerenter", () => this.highlight(i));
      node.addEventListener("pointerleave", () => this.highlight(null));
      return { agent: i, algorithm, values, node };
    });
  }

  header({ key, title, name }) {
    const button = element("button", { type: "button" }, title);
    button.addEventListener("click", () => {
      const again = this.sorted.key === key;
      this.sorted = { key, down: again ? !this.sorted.down : ["score", "normalised", "within", "winner"].includes(key) };
      this.arrange();
    });
    return element("th", { class: name ? "name" : "number", scope: "col", "data-key": key }, button);
  }

  update(looks) {
    const changing = this.columns.map(({ key }, k) => [key, k]).filter(([key]) => key === "within" || key === "winner");
    for (const { agent, values, node } of this.rows) {
      const look = looks[agent];
      values.within = !look.includes("out");
      values.winner = look.includes("winner");
      if (node.dataset.look === look) continue;
      node.dataset.look = node.className = look;
      for (const [key, k] of changing) node.cells[k].textContent = this.columns[k].format(values[key]);
      if (look.includes("upper")) node.cells[changing.at(-1)[1]].textContent = "upper bound";
    }
    this.arrange();
  }

  arrange() {
    const { key, down } = this.sorted;
    const compare = (a, b) => {
      const [first, second] = [a.values[key], b.values[key]];
      if (key === "agent") return first.localeCompare(second, undefined, { numeric: true });
      return first - second || 0;
    };
    const last = ({ values }) => Number.isNaN(values[key]);
    const rows = [...this.rows].sort((a, b) => last(a) - last(b) || (down ? compare(b, a) : compare(a, b)) || a.agent - b.agent);
    if (!rows.every(({ node }, k) => node === this.body.rows[k]) || rows.length !== this.body.rows.length) {
      this.body.replaceChildren(...rows.map(({ node }) => node));
    }
    this.rows = rows;
    for (const cell of this.head.rows[0].cells) {
      if (cell.dataset.key === key) cell.setAttribute("aria-sort", down ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
    }
  }

  csv() {
    const { feature } = this.view;
    const head = ["agent", "algorithm", "offline_seconds", `online_seconds_${feature}`, "score", "ci95",
      "normalised", "within_bounds", "winner"];
    const value = (number) => (Number.isNaN(number) ? "" : number);
    return csv([head, ...this.rows.map(({ algorithm, values: v }) => [v.agent, algorithm.name, v.offline, value(v.online),
      v.score, value(v.interval), value(v.normalised), v.within, v.winner])]);
  }
}

function drawBest(table, view, answer) {
  const { experiment, algorithms, score, online } = view;
  const titles = ["Agent", "Offline", "Online", "Score ± 95%", "", "Z"];
  table.tHead.replaceChildren(element("tr", {}, ...titles.map((title, k) => element("th", { scope: "col", class: k ? "number" : "" }, title))));
  const ends = answer.best.map((i) => [experiment.means[0][i], experiment.ci95[i] || 0]);
  const low = Math.min(...ends.map(([mean, half]) => mean - half)), high = Math.max(...ends.map(([mean, half]) => mean + half));
  const x = linearScale(low, high > low ? high : low + 1, 2, 108);
  table.tBodies[0].replaceChildren(...answer.best.map((i, k) => {
    const algorithm = algorithms[experiment.algorithms[i]], [mean, half] = ends[k];
    const path = shape("path", { d: markerPath(algorithm), transform: `translate(${x.at(mean)} 9)` });
    const line = shape("line", { x1: x.at(mean - half), x2: x.at(mean + half), y1: 9, y2: 9 });
    const picture = shape("svg", { class: "interval", color: algorithm.color, "aria-hidden": true }, line, path);
    const z = view.comparison.tests.z(answer.best[0], i);
    const texts = [formatSeconds(experiment.offline[i]), formatSeconds(online[i]), `${score(mean)} ± ${score(experiment.ci95[i])}`];
    const number = (...content) => element("td", { class: "number" }, ...content);
    return element("tr", { class: answer.winners.includes(i) ? "winner" : "" },
      element("td", { class: "name" }, mark(algorithm), " ", experiment.labels[i]),
      ...texts.map((text) => number(text)), number(picture), number(k === 0 ? "best" : Number.isFinite(z) ? z.toFixed(2) : "∞"));
  }));
}
