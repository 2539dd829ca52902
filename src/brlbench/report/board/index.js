// The overview: which view the controls choose, and the tables and plots of it.

const { agents, contests, priors, thresholds, quantities } = content;
const MOST_LINES = 8; // in the profile, until others are chosen
const score = known((value) => minus(value.toFixed(3)));
const between = (low, high) => `${score(low)} – ${score(high)}`;
const limitText = (seconds) => (seconds === null ? "no limit" : formatSeconds(seconds));
const rankText = ([rank, low, high]) => (low === high ? `${rank}` : `${rank} (${low}–${high})`);
const represented = `its best agent in each experiment, ${content.selection}`;

const CONTROLS = {
  offline: content.offline.map((seconds) => [seconds, limitText(seconds)]),
  online: content.online.map((seconds) => [seconds, limitText(seconds)]),
  prior: priors.map(({ name }) => [name, name]),
  problem: [["", "all"], ...[...new Set(contests.map(({ problem }) => problem))].map((name) => [name, name])],
  rows: [["best", "the best agent of each algorithm"], ["single", "single agents, the same everywhere"]],
};
const state = {}; // by control: the place of what is chosen
const chosenValue = (name) => CONTROLS[name][state[name]][0];
const tables = {
  totals: new Table(find("totals"), { key: "rank", down: false }),
  matrix: new Table(find("matrix")),
  improvement: new Table(find("improvement")),
};

// The view that the controls choose. Rows are as `_table` in overview.py writes them.
function choose() {
  const rows = chosenValue("rows"), problem = chosenValue("problem");
  const view = content.views[state.offline][state.online];
  const prior = priors[state.prior], totals = content.totals[rows];
  const read = (source) => ([row, total, count, rank, costs, improvement]) =>
    ({ row, count, isComplete: count === prior.counted, rank, costs, improvement, ...source[total] });
  return {
    prior,
    view,
    isSingle: rows === "single",
    rows: view[rows][state.prior].map(read(totals)),
    best: view.best[state.prior].map(read(content.totals.best)),
    columns: prior.contests.filter((k) => !problem || contests[k].problem === problem),
  };
}

const algorithmOf = (row, isSingle) => algorithms[isSingle ? agents[row][1] : row];

// The name of a row: an algorithm, or an agent with a link to its page.
function nameOf(row, isSingle) {
  if (!isSingle) return labelOf(algorithms[row], algorithms[row].name);
  const [text, algorithm, page] = agents[row];
  const label = labelOf(algorithms[algorithm], "");
  label.lastChild.replaceChildren(element("a", { href: `agents/${page}.html` }, ...breakable(text)));
  return label;
}

const nameColumn = (isSingle, show) => ({ key: "name", title: isSingle ? "Agent" : "Algorithm", kind: "name", show });
// Says over how many experiments a number is, unless over all.
const overText = ({ isComplete, count }) => (isComplete ? "" : ` over ${count}`);
const withInterval = (estimate, row) =>
  (estimate ? [score(estimate[0]), small(between(estimate[1], estimate[2]) + overText(row))] : NONE);

// Rows that lack experiments sort below the others: their numbers are of other experiments.
const comparable = (value) => (row) => (row.isComplete ? value(row) : undefined);

function drawTotals({ rows, prior, isSingle }) {
  const complete = rows.filter(({ isComplete }) => isComplete);
  const known = complete.map(({ mean }) => mean.slice(1));
  const scale = intervalScale(known, innerWidth > 520 ? 160 : 100);
  const estimate = (key, title, hint, more = {}) =>
    ({ key, title, hint, ...more, value: comparable((row) => row[key][0]), show: (row) => withInterval(row[key], row) });
  const down = { down: true };
  tables.totals.draw([
    nameColumn(isSingle, ({ row }) => nameOf(row, isSingle)),
    {
      key: "rank", title: "Rank", hint: "Place by mean score, with its 95% interval",
      value: comparable(({ rank }) => rank[0]),
      show: ({ rank, isComplete }) => (rank ? rankText(rank) + (isComplete ? "" : ` of ${rank[3]}`) : NONE),
    },
    estimate("mean", "Mean", "Mean normalised score, with its 95% interval", down),
    {
      kind: "picture", title: scale.axis(find("totals")),
      show: ({ row, isComplete, mean }) => (isComplete ? scale.draw(algorithmOf(row, isSingle), mean[0], mean.slice(1)) : []),
    },
    estimate("iqm", "IQM", "Mean of the experiments' interquartile means, with its 95% interval", down),
    estimate("gap", "Optimality gap", "How far normalised returns are below 1, on average"),
    { key: "count", title: "Experiments", ...down, value: ({ count }) => count, format: (count) => `${count} of ${prior.counted}` },
    ...quantities.map(({ key, title, unit, hint }, k) =>
      ({ key, title, hint: `${hint}, in the experiment where it is largest`, value: ({ costs }) => costs[k], format: formatOf(unit) })),
  ], rows, ({ isComplete }) => (isComplete ? "" : "out"));
  const without = prior.contests.length - prior.counted;
  find("totals-note").textContent = `${counted(prior.counted, "experiment")} count${prior.counted === 1 ? "s" : ""} the same.`
    + (without ? ` ${without} without a scale (random actions, or a bound, have no known score) ${without === 1 ? "is" : "are"} left out.` : "")
    + (complete.length < rows.length ? ` Rows that lack experiments stand below: they are compared in those they have, with all that played these.` : "")
    + (isSingle ? "" : ` An algorithm is represented by ${represented}.`)
    + " Times and memory are the largest of the experiments.";
}

function drawMatrix({ rows, view, columns, isSingle, prior }) {
  const cells = columns.map((k) => cellsOf(contests[k], view.contests[k], isSingle));
  const listed = new Set([...rows.map(({ row }) => row), ...cells.flatMap((column) => [...column.keys()])]);
  const items = [...listed].filter((row) => cells.some((column) => column.has(row)));
  const references = columns.map((k) => contests[k].reference);
  const first = references.findIndex((i) => i !== null);
  if (first >= 0) {
    const contest = contests[columns[first]];
    items.push({ reference: algorithms[agents[contest.agents[contest.reference]][1]] });
    cells.forEach((column, c) => {
      if (references[c] !== null) column.set(items.at(-1), { contest: contests[columns[c]], i: references[c] });
    });
  }
  const name = (row) => (row.reference ? labelOf(row.reference, `${row.reference.name} (knows the MDP)`) : nameOf(row, isSingle));
  tables.matrix.draw([
    nameColumn(isSingle, name),
    ...columns.map((k, c) => ({
      key: `on-${contests[k].page}`, title: contests[k].name, down: true,
      hint: `${contests[k].case}, ${counted(contests[k].mdps, "MDP")}`,
      value: (row) => scoreOf(cells[c].get(row))[0],
      className: (row) => (cells[c].get(row)?.isWinner ? "winner" : ""),
      show: (row) => (cells[c].has(row) ? showCell(cells[c].get(row)) : NONE),
    })),
  ], items, (row) => (row.reference ? "reference last" : ""));
  columns.forEach((k, c) => {
    const link = element("a", { href: `problems/${contests[k].page}.html` }, "page");
    tables.matrix.head.rows[0].cells[c + 1].append(small(link));
  });
  find("matrix-note").textContent = "Normalised score ± 95%, and below it the rank with its 95% interval; ★ marks winners. "
    + "A score links to the agent that has it, “page” to the problem."
    + (columns.length < prior.contests.length ? ` Shown: ${columns.length} of ${counted(prior.contests.length, "experiment")}.` : "");
}

// The cells of an experiment, by row.
function cellsOf(contest, answer, isSingle) {
  const listed = isSingle ? answer.agents : answer.best;
  return new Map(listed.map(([i, ...rank]) => {
    const agent = contest.agents[i];
    return [isSingle ? agent : agents[agent][1], { contest, i, rank, isWinner: answer.winners.includes(i) }];
  }));
}

// The normalised score and its interval; without a scale, the score as it is.
function scoreOf({ contest, i } = {}) {
  if (!contest) return [];
  const [means, ci95] = contest.normalised ?? contest.scores;
  return [means[i], ci95[i]];
}

function showCell({ contest, i, rank, isWinner }) {
  const [mean, half] = scoreOf({ contest, i });
  const [text, , page] = agents[contest.agents[i]];
  const format = contest.normalised ? score : fixed(2);
  const part = contest.played[i] < contest.mdps ? ` (${contest.played[i]} of ${counted(contest.mdps, "MDP")})` : "";
  const costs = quantities.map(({ title, unit }, q) => `${title.toLowerCase()} ${formatOf(unit)(contest.costs[q][i])}`);
  const title = `${text}${part}: score ${contest.scores[0][i].toFixed(2)}, ${costs.join(", ")}`;
  const link = element("a", { href: `agents/${page}.html`, title }, format(mean));
  const width = element("span", { class: "muted" }, isMissing(half) ? "" : ` ± ${format(half)}`);
  const parts = [element("span", { class: "value" }, isWinner ? "★ " : "", link, width)];
  if (rank && rank[0] !== null) parts.push(small(`rank ${rankText(rank)}`));
  if (contest.normalised) {
    const bar = element("div", { class: "bar", "aria-hidden": true }, element("div"));
    bar.firstChild.style.width = `${100 * Math.min(1, Math.max(0, mean))}%`;
    parts.push(bar);
  }
  return parts;
}

// The lines of the profile to choose from, and which of them are shown.
function offerLines({ best: rows }) {
  const numbers = rows.filter(({ profile }) => profile).map(({ row }) => row), names = readList("line");
  offerAlgorithms(numbers, (k) => (names ? names.includes(algorithms[k].name) : numbers.indexOf(k) < MOST_LINES));
}

function drawProfile({ best: rows }) {
  const svg = find("profile"), area = areaOf(svg);
  const x = linearScale(thresholds[0], thresholds.at(-1), area.left, area.right);
  const y = linearScale(0, 1, area.bottom, area.top);
  frame(svg, area, x, y, "threshold of the normalised return", "share of MDPs above it");
  const ticked = tickedAlgorithms();
  drawCurves(svg, rows.filter(({ row, profile }) => profile && ticked.includes(row)).map(({ row, profile: [value, low, high] }) => ({
    algorithm: algorithms[row],
    points: thresholds.map((at, k) => ({ x: x.at(at), y: y.at(value[k]), low: y.at(low[k]), high: y.at(high[k]) })),
  })));
}

function drawImprovement({ best: [first, ...rest], prior }) {
  const table = find("improvement"), others = rest.filter(({ improvement }) => improvement);
  const width = Math.min(340, Math.max(90, table.parentElement.clientWidth - 250));
  const scale = intervalScale(others.map(({ improvement }) => improvement.slice(1)), width, 0.5);
  tables.improvement.draw([
    { title: "Algorithm", kind: "name", show: ({ row }) => nameOf(row, false) },
    { title: "Probability", show: (row) => withInterval(row.improvement, row) },
    {
      kind: "picture", title: scale.axis(table),
      show: ({ row, improvement }) => scale.draw(algorithms[row], improvement[0], improvement.slice(1)),
    },
  ], others, ({ isComplete }) => (isComplete ? "" : "out"));
  find("improvement-note").textContent = first?.isComplete
    ? `How often an algorithm has a higher return than ${algorithms[first.row].name}, the first by mean score, on the same MDP of the experiments that it played; equal returns count half. Below 0.5, the first is ahead.`
    : `No algorithm is in all ${counted(prior.counted, "experiment")} within these bounds on time.`;
}

// What is ranked: of how many, over which experiments, chosen how.
function tellAnswer({ rows, prior, isSingle }) {
  const limits = [];
  if (chosenValue("offline") !== null) limits.push(`${limitText(chosenValue("offline"))} offline`);
  if (chosenValue("online") !== null) limits.push(`${limitText(chosenValue("online"))} per decision`);
  const where = limits.length ? `Within ${limits.join(" and ")}, ` : "Without bounds on time, ";
  const over = `all ${counted(prior.counted, "experiment")}`
    + (prior.name === "all" ? "" : ` with ${prior.name} priors`);
  const complete = rows.filter(({ isComplete }) => isComplete), [first] = complete;
  if (!first) {
    return find("answer").replaceChildren(`${where}no ${isSingle ? "agent" : "algorithm"} is in ${over}.`);
  }
  const name = isSingle ? agents[first.row][0] : algorithms[first.row].name;
  const ranked = isSingle
    ? `${complete.length} of ${rows.length} agents that are in ${over}.`
    : `${complete.length} of ${content.competing} algorithms that are in ${over}, each by ${represented}.`;
  find("answer").replaceChildren(where, element("strong", {}, name),
    ` has the highest mean score, ${score(first.mean[0])} (${between(first.mean[1], first.mean[2])}), of the ${ranked}`);
}

function draw() {
  const chosen = choose();
  tellAnswer(chosen);
  drawTotals(chosen);
  drawMatrix(chosen);
  offerLines(chosen);
  drawProfile(chosen);
  drawImprovement(chosen);
}

// Takes the state from the address.
function restore() {
  const named = readAddress();
  for (const name in CONTROLS) {
    state[name] = Math.max(0, CONTROLS[name].findIndex(([value]) => String(value) === named.get(name)));
    find(name).value = state[name];
  }
  for (const name in tables) tables[name].restore();
  draw();
}

for (const name in CONTROLS) {
  offer(name, CONTROLS[name].map(([, text], k) => [k, text]));
  listen(name, "change", ({ value }) => {
    state[name] = Number(value);
    writeAddress({ [name]: state[name] ? chosenValue(name) : null });
    draw();
  });
}
listen("algorithms", "change", () => {
  writeAddress({ line: tickedAlgorithms().map((k) => algorithms[k].name) });
  drawProfile(choose());
});
find("controls").addEventListener("submit", (event) => event.preventDefault());
addEventListener("hashchange", restore);
markLabels();
restore();
onResize(draw);
