// The overview: which view the controls choose, and the tables and plots of it.

const { algorithms, agents, contests, priors, thresholds } = content;
const MOST_LINES = 8; // in the profile, until others are chosen
const NONE = "–";
const number = (value, ...parts) => element("td", { class: "number", "data-value": value ?? "" }, ...parts);
const score = (value) => (value === null ? NONE : value.toFixed(3).replace("-", "−"));
const between = (low, high) => `${score(low)} – ${score(high)}`;
const limitText = (seconds) => (seconds === null ? "no limit" : formatSeconds(seconds));
const rankText = ([rank, low, high]) => (low === high ? `${rank}` : `${rank} (${low}–${high})`);
const small = (text) => element("div", { class: "muted" }, text);

const CONTROLS = {
  offline: { values: content.offline, text: limitText },
  online: { values: content.online, text: limitText },
  prior: { values: priors.map(({ name }) => name), text: (name) => name },
};
const state = {};
const tables = {
  totals: new SortableTable(find("totals"), { key: "iqm", down: true }),
  matrix: new SortableTable(find("matrix"), null),
};

// What the controls choose.
function choose() {
  const view = content.views[state.offline][state.online];
  const prior = priors[state.prior];
  const isShown = (k) => !state.problem || contests[k].problem === state.problem;
  return {
    prior,
    view,
    best: view.best[state.prior],
    rows: view[state.rows][state.prior],
    columns: prior.contests.filter(isShown),
    totals: content.totals[state.rows],
    isSingle: state.rows === "single",
  };
}

// The name of a row: an algorithm, or an agent with a link to its page.
function nameOf(row, isSingle) {
  if (!isSingle) return label(algorithms[row], algorithms[row].name);
  const [text, algorithm, page] = agents[row];
  const made = label(algorithms[algorithm], text);
  const link = element("a", { href: `agents/${page}.html` }, ...made.lastChild.childNodes);
  made.lastChild.append(link);
  return made;
}

const algorithmOf = (row, isSingle) => algorithms[isSingle ? agents[row][1] : row];
// An axis for a heading, above pictures that share its scale.
function axisOf(x, width) {
  const ticks = ticksApart(x, width / 50, (text) => textWidth(find("totals"), text), [0, width]);
  return shape("svg", { width, height: 20, viewBox: `0 0 ${width} 20`, "aria-hidden": true }, ...ticks.flatMap((tick) => [
    shape("text", { class: "tick", x: tick.middle, y: 10, "text-anchor": "middle" }, tick.label),
    shape("line", { class: "zero", x1: tick.place, x2: tick.place, y1: 14, y2: 20 }),
  ]));
}

const heading = (key, title, more = {}) => element("th", { scope: "col", "data-key": key, ...more }, title);
const down = { "data-down": "" };
const rowHead = (row, isSingle, ...more) =>
  element("th", { scope: "row", class: "name" }, nameOf(row, isSingle), ...more);

function drawTotals({ rows, totals, prior, isSingle }) {
  const known = rows.filter(([, total]) => total !== null).map(([, total]) => totals[total].iqm);
  const low = Math.min(...known.map((iqm) => iqm[1])), high = Math.max(...known.map((iqm) => iqm[2]));
  const width = innerWidth > 520 ? 200 : 100;
  const x = linearScale(low, high > low ? high : low + 1, 10, width - 10);
  const hasMemory = rows.some((row) => row[6] !== null);
  const heads = [
    heading("name", isSingle ? "Agent" : "Algorithm", { "data-text": "" }),
    heading("iqm", "IQM", { ...down, title: "Interquartile mean of normalised returns, with its 95% interval" }),
    element("th", { "aria-hidden": true, class: "picture" }, ...(known.length ? [axisOf(x, width)] : [])),
    heading("mean", "Mean", { ...down, title: "Mean normalised score, with its 95% interval" }),
    heading("gap", "Optimality gap", { title: "How far normalised returns are below 1, on average" }),
    heading("rank", "Rank", { title: "Place by mean score, with its 95% interval" }),
    heading("count", "Experiments", down),
    heading("offline", "Time before", { title: "Longest training in any experiment" }),
    heading("online", "Per decision", { title: "Mean time of a decision, in the experiment where it is longest" }),
    ...(hasMemory ? [heading("memory", "Memory", { title: "Largest peak memory in any experiment" })] : []),
  ];
  const body = rows.map(([row, total, count, rank, offline, online, memory]) => {
    const { iqm, mean, gap } = totals[total] ?? {};
    const estimate = (found) => (found ? number(found[0], score(found[0]), small(between(found[1], found[2]))) : number(null, NONE));
    const picture = iqm ? [intervalPicture(algorithmOf(row, isSingle), iqm[0], [iqm[1], iqm[2]], x)] : [];
    return element("tr", { class: iqm ? "" : "out" },
      rowHead(row, isSingle),
      estimate(iqm),
      element("td", { class: "picture" }, ...picture),
      estimate(mean),
      estimate(gap),
      number(rank?.[0], rank ? rankText(rank) : NONE),
      number(count, `${count} of ${prior.counted}`),
      number(offline, formatSeconds(offline)),
      number(online, formatSeconds(online)),
      ...(hasMemory ? [number(memory, formatMemory(memory ?? NaN))] : []));
  });
  show(tables.totals, heads, body);
  const without = prior.contests.length - prior.counted;
  find("totals-note").textContent = `Normalised: 0 is random, 1 is the best possible. ${prior.counted} `
    + `${plural("experiment", prior.counted)} count${prior.counted === 1 ? "s" : ""} the same.`
    + (without ? ` ${without} without a scale (no score of random, or no bound) ${without === 1 ? "is" : "are"} left out.` : "")
    + (isSingle ? "" : " Every algorithm is represented by its best agent within the bounds on time, in each experiment anew.")
    + " Times and memory are the largest of the experiments.";
}

const plural = (word, count) => (count === 1 ? word : `${word}s`);

function show(sortable, heads, body) {
  sortable.table.tHead.replaceChildren(element("tr", {}, ...heads));
  sortable.table.tBodies[0].replaceChildren(...body);
  sortable.prepare();
}

function drawMatrix({ rows, view, columns, isSingle, prior }) {
  const cells = columns.map((k) => cellsOf(contests[k], view.contests[k], isSingle));
  const heads = columns.map((k) => {
    const { name, page, mdps, case: told } = contests[k];
    return heading(`on-${page}`, name, { ...down, title: `${told}, ${mdps} MDPs` });
  });
  const listed = [...new Set([...rows.map(([row]) => row), ...cells.flatMap((column) => [...column.keys()])])]
    .filter((row) => cells.some((column) => column.has(row)));
  const body = listed.map((row) => element("tr", {}, rowHead(row, isSingle),
    ...cells.map((column) => column.get(row) ?? number(null, NONE))));
  const references = columns.map((k) => contests[k].reference);
  if (references.some((i) => i !== null)) {
    const first = columns.find((_, k) => references[k] !== null);
    const algorithm = algorithms[agents[contests[first].agents[contests[first].reference]][1]];
    body.push(element("tr", { class: "reference" },
      element("th", { scope: "row", class: "name" }, label(algorithm, `${algorithm.name} (knows the MDP)`)),
      ...columns.map((k, c) => (references[c] === null ? number(null, NONE) : cellOf(contests[k], references[c], null, false)))));
  }
  show(tables.matrix, [heading("name", isSingle ? "Agent" : "Algorithm", { "data-text": "" }), ...heads], body);
  for (const [c, k] of columns.entries()) {
    const head = tables.matrix.table.tHead.rows[0].cells[c + 1];
    if (!head.querySelector("a")) head.append(small(""), element("a", { href: `problems/${contests[k].page}.html` }, "page"));
  }
  find("matrix-note").textContent = "Normalised score ± 95%, and below it the rank with its 95% interval; ★ marks winners. "
    + "A score links to the agent that has it, “page” to the problem."
    + (columns.length < prior.contests.length ? ` Shown: ${columns.length} of ${prior.contests.length} experiments.` : "");
}

// The cells of an experiment, by row.
function cellsOf(contest, found, isSingle) {
  const listed = isSingle ? found.agents : found.best;
  return new Map(listed.map(([i, ...rank]) => {
    const agent = contest.agents[i];
    return [isSingle ? agent : agents[agent][1], cellOf(contest, i, rank, found.winners.includes(i))];
  }));
}

// Without a scale, the score is shown as it is.
function cellOf(contest, i, rank, isWinner) {
  const scaled = contest.normalised[i];
  const [mean, half] = scaled ?? contest.scores[i];
  const [text, , page] = agents[contest.agents[i]];
  const format = scaled ? score : (value) => value.toFixed(2);
  const played = contest.played[i] < contest.mdps ? ` (${contest.played[i]} of ${contest.mdps} MDPs)` : "";
  const title = `${text}${played}: score ${contest.scores[i][0].toFixed(2)}, ${formatSeconds(contest.offline[i])} before, `
    + `${formatSeconds(contest.online[i])} per decision`;
  const link = element("a", { href: `agents/${page}.html`, title }, format(mean));
  const width = half === null ? "" : ` ± ${format(half)}`;
  const cell = number(mean, element("span", { class: "value" }, isWinner ? "★ " : "", link, element("span", { class: "muted" }, width)));
  if (rank && rank[0] !== null) cell.append(small(`rank ${rankText(rank)}`));
  if (scaled) {
    const bar = element("div", { class: "bar", "aria-hidden": true }, element("div"));
    bar.firstChild.style.width = `${100 * Math.min(1, Math.max(0, mean))}%`;
    cell.append(bar);
  }
  if (isWinner) cell.classList.add("winner");
  return cell;
}

// The rows of the best agents that have aggregates, the first one first.
const complete = ({ best }) => best.filter(([, total]) => total !== null);

// The lines of the profile to choose from, and which of them are shown.
function offerLines(chosen) {
  const names = complete(chosen).map(([row]) => algorithms[row].name);
  const isShown = (name) => (state.lines ? state.lines.has(name) : names.indexOf(name) < MOST_LINES);
  find("algorithms").replaceChildren(...complete(chosen).map(([row]) => {
    const box = element("input", { type: "checkbox", value: algorithms[row].name });
    box.checked = isShown(algorithms[row].name);
    return element("label", {}, box, mark(algorithms[row]), algorithms[row].name);
  }));
}

const chosenLines = () => [...find("algorithms").querySelectorAll(":checked")].map((box) => box.value);

function drawProfile(chosen) {
  const svg = find("profile"), area = areaOf(svg);
  const x = linearScale(thresholds[0], thresholds.at(-1), area.left, area.right);
  const y = linearScale(0, 1, area.bottom, area.top);
  frame(svg, area, x, y, "threshold of the normalised return", "share of MDPs above it");
  const shown = chosenLines();
  const lines = complete(chosen).filter(([row]) => shown.includes(algorithms[row].name));
  [...lines].reverse().forEach(([row, total], below) => {
    const order = lines.length - 1 - below;
    const [value, low, high] = content.totals.best[total].profile;
    const points = thresholds.map((at, k) => ({ x: x.at(at), y: y.at(value[k]), low: y.at(low[k]), high: y.at(high[k]) }));
    drawCurve(svg, algorithms[row], points, { band: lines.length <= 4 || order === 0, order });
  });
}

function drawImprovement(chosen) {
  const [first, ...others] = complete(chosen);
  const width = Math.min(340, Math.max(90, find("improvement").parentElement.clientWidth - 250));
  const ends = [0.5, ...others.flatMap((row) => row[7].slice(1))];
  const x = linearScale(Math.min(...ends) - 0.02, Math.max(...ends) + 0.02, 10, width - 10);
  const half = () => shape("line", { class: "zero", x1: x.at(0.5), x2: x.at(0.5), y1: 0, y2: 20 });
  const rows = others.map((row) => {
    const [value, low, high] = row[7];
    const algorithm = algorithms[row[0]];
    const interval = shape("g", { class: "interval", color: algorithm.color },
      shape("line", { x1: x.at(low), x2: x.at(high), y1: 10, y2: 10 }),
      shape("path", { d: markerPath(algorithm), transform: `translate(${x.at(value)} 10)` }));
    return element("tr", {}, rowHead(row[0], false),
      number(value, score(value), small(between(low, high))),
      element("td", { class: "picture" },
        shape("svg", { width, height: 20, viewBox: `0 0 ${width} 20`, "aria-hidden": true }, half(), interval)));
  });
  const table = find("improvement");
  table.tHead.replaceChildren(element("tr", {},
    element("th", { scope: "col" }, "Algorithm"),
    element("th", { scope: "col", class: "number" }, "Probability"),
    element("th", { "aria-hidden": true, class: "picture" }, axisOf(x, width))));
  table.tBodies[0].replaceChildren(...rows);
  find("improvement-note").textContent = first
    ? `How often an algorithm has a higher return than ${algorithms[first[0]].name}, the first by IQM, on the same MDP; equal returns count half. Below 0.5, the first is ahead.`
    : "No algorithm is in all experiments within these bounds on time.";
}

function tellAnswer({ rows, totals, prior, isSingle }) {
  const limits = [];
  if (content.offline[state.offline] !== null) limits.push(`${limitText(content.offline[state.offline])} before`);
  if (content.online[state.online] !== null) limits.push(`${limitText(content.online[state.online])} per decision`);
  const where = limits.length ? `Within ${limits.join(" and ")}, ` : "Without bounds on time, ";
  const [first] = rows.filter(([, total]) => total !== null);
  if (!first) {
    return find("answer").replaceChildren(`${where}no ${isSingle ? "agent" : "algorithm"} is in all ${prior.counted} ${plural("experiment", prior.counted)}.`);
  }
  const [value, low, high] = totals[first[1]].iqm;
  const name = isSingle ? agents[first[0]][0] : algorithms[first[0]].name;
  find("answer").replaceChildren(where, element("strong", {}, name),
    ` leads with an interquartile mean of ${score(value)} (${between(low, high)}) over ${prior.counted} ${plural("experiment", prior.counted)}`
    + (prior.name === "all" ? "." : ` with ${prior.name} priors.`));
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

function linesOf(text) {
  try {
    const names = JSON.parse(text);
    return Array.isArray(names) ? new Set(names) : null;
  } catch {
    return null;
  }
}

// Takes the state from the address; what it does not name, or names wrongly, is as at first.
function restore() {
  const named = readAddress();
  for (const [name, { values }] of Object.entries(CONTROLS)) {
    state[name] = Math.max(0, values.findIndex((value) => String(value) === named.get(name)));
    find(name).value = state[name];
  }
  for (const name of ["problem", "rows"]) {
    const select = find(name), wanted = named.get(name) ?? "";
    const known = [...select.options].some(({ value }) => value === wanted);
    state[name] = select.value = known ? wanted : select.options[0].value;
  }
  state.lines = linesOf(named.get("lines"));
  for (const table of Object.values(tables)) table.restore();
  draw();
}

for (const [name, { values, text }] of Object.entries(CONTROLS)) {
  find(name).replaceChildren(...values.map((value, k) => new Option(text(value), k)));
  find(name).addEventListener("change", ({ target }) => {
    state[name] = Number(target.value);
    writeAddress({ [name]: state[name] ? values[state[name]] : null });
    draw();
  });
}
for (const name of ["problem", "rows"]) {
  find(name).addEventListener("change", ({ target }) => {
    state[name] = target.value;
    writeAddress({ [name]: target.selectedIndex ? target.value : null });
    draw();
  });
}
find("algorithms").addEventListener("change", () => {
  state.lines = new Set(chosenLines());
  writeAddress({ lines: JSON.stringify([...state.lines]) });
  drawProfile(choose());
});
find("controls").addEventListener("submit", (event) => event.preventDefault());
addEventListener("hashchange", restore);
markLabels();
restore();
drawAlways(draw);
