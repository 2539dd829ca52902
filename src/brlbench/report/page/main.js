// The controls, the state they set, and what is drawn from it.

const PER_DECISION = ["mean", "median", "p95", "max"];
const find = (id) => document.getElementById(id);
const data = await readData().catch((error) => {
  find("about").textContent = `This browser can't read the results: use a newer one. (${error})`;
  throw error;
});
const state = {
  experiment: data.experiments[0],
  feature: data.feature,
  level: data.level,
  honest: false,
  hidden: new Set([data.reference]), // algorithms
};
const offline = new Bound(find("offline"), update);
const online = new Bound(find("online"), update);
const map = new BoundsMap(find("map"), find("legend"), offline, online);
const offlinePlot = new Scatter(find("offline-plot"), describe);
const onlinePlot = new Scatter(find("online-plot"), describe);
const table = new AgentTable(find("agents"), (agent) => {
  offlinePlot.highlight(agent);
  onlinePlot.highlight(agent);
});
let view;

// Redraws everything; called when anything but the bounds changes.
function choose() {
  const { experiment, feature, hidden, honest } = state;
  const agents = experiment.labels.map((_, i) => i);
  const competes = (i) => !hidden.has(experiment.algorithms[i]);
  const isReference = (i) => experiment.algorithms[i] === data.reference;
  const shown = agents.filter(competes);
  const references = agents.filter((i) => isReference(i) && !competes(i));
  view = {
    experiment,
    feature,
    shown,
    references,
    listed: agents.filter((i) => competes(i) || isReference(i)),
    algorithms: data.algorithms,
    far: data.far,
    online: experiment.features[feature],
    onlineLabel: `online time: ${onlineText(feature)[0]}`,
    reference: references.length ? Math.max(...references.map((i) => experiment.scores[i])) : null,
    score: scoreFormat(experiment.scores),
    comparison: new Comparison(experiment, feature, honest, data.limits[state.level], competes),
  };
  offline.setTimes(shown.map((i) => experiment.offline[i]));
  online.setTimes(shown.map((i) => view.online[i]));
  tellAbout();
  table.draw(view);
  draw();
}

function draw() {
  // All plots are measured before the first is drawn: measuring after drawing is slow.
  const areas = [offlinePlot, onlinePlot, map].map(({ svg }) => areaOf(svg));
  offlinePlot.draw(view, areas[0], view.experiment.offline, "offline time");
  onlinePlot.draw(view, areas[1], view.online, view.onlineLabel);
  map.draw(view, areas[2]);
  update();
}

// Updates what depends on the bounds.
function update() {
  const answer = view.comparison.within(offline.seconds, online.seconds);
  const { experiment, references } = view;
  const looks = experiment.labels.map((_, i) =>
    experiment.offline[i] <= offline.seconds && view.online[i] <= online.seconds ? "" : "out");
  for (const i of answer.best) looks[i] = "best";
  for (const i of answer.winners) looks[i] = "best winner";
  for (const i of references) looks[i] += " upper";
  tellAnswer(answer);
  drawBest(find("best"), view, answer);
  offlinePlot.update(looks, offline.seconds);
  onlinePlot.update(looks, online.seconds);
  map.update(answer);
  table.update(looks);
}

function tellAnswer({ best, winners }) {
  const name = (i) => element("strong", {}, data.algorithms[view.experiment.algorithms[i]].name);
  const bounds = [];
  if (offline.seconds < Infinity) bounds.push(`${formatSeconds(offline.seconds)} offline`);
  if (online.seconds < Infinity) {
    bounds.push(`${formatSeconds(online.seconds)} ${onlineText(state.feature)[1]}`);
  }
  const where = bounds.length ? `Within ${bounds.join(" and ")}` : "Without time bounds";
  const level = percent(data.levels[state.level]);
  const before = (k) => (k === 0 ? "" : k === winners.length - 1 ? " and " : ", ");
  const names = winners.flatMap((i, k) => [before(k), name(i)]);
  let end = ` is best: all others are significantly worse at ${level}.`;
  if (winners.length > 1) end = ` are best (not significantly different at ${level}).`;
  if (best.length === 1) end = " is the only algorithm.";
  if (best.length === 0) end = "no agent.";
  find("answer").replaceChildren(`${where}: `, ...names, end);
}

function tellAbout() {
  const { experiment, shown, references } = view;
  const { discount, horizon } = experiment.settings;
  const about = [experiment.name, `${experiment.numMdps} MDPs`];
  if (discount != null) about.push(`discount ${discount}`);
  if (horizon != null) about.push(`${horizon} decisions`);
  find("about").textContent = about.join(" · ");
  find("count").textContent = `${shown.length} of ${experiment.labels.length} compete`;
  find("best-note").textContent = "Z is the paired test of the best agent against each: below "
    + `${data.limits[state.level].toFixed(2)}, the agent is not significantly worse.`
    + (experiment.unadjusted ? " In brackets: mean returns, with their luck." : "")
    + (state.honest ? " Even-numbered MDPs choose, odd-numbered ones test; scores are over all." : "");
  find("reference-note").hidden = !references.length;
  find("adjusted-note").hidden = !experiment.unadjusted;
  const notes = [...experiment.notes, experiment.warnings[Number(state.honest)]].filter(Boolean);
  find("notes").hidden = !notes.length;
  find("notes").replaceChildren(...notes.map((note) => element("p", {}, note)));
}

// The full description of an agent, for the tip.
function describe(i) {
  const { experiment, score } = view;
  const rows = [...experiment.parameters[i]];
  rows.push(["score", `${score(experiment.scores[i])} ± ${score(experiment.ci95[i])}`]);
  if (experiment.unadjusted) rows.push(["mean return", meanReturn(experiment, i, score)]);
  if (experiment.normalised) rows.push(["normalised", formatNormalised(experiment.normalised[i])]);
  rows.push(["offline", formatSeconds(experiment.offline[i])]);
  for (const [feature, times] of Object.entries(experiment.features)) {
    rows.push([onlineText(feature)[0], formatSeconds(times[i])]);
  }
  const terms = rows.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]);
  const name = data.algorithms[experiment.algorithms[i]].name;
  return [element("strong", {}, name), element("dl", {}, ...terms)];
}

function options(id, entries, chosen) {
  const made = entries.map(([value, text]) => new Option(text, value, false, value === chosen));
  find(id).replaceChildren(...made);
}

// Chooses the wanted prior of the chosen problem, or else one as accurate as the current one.
function offerCases(wanted) {
  const { accurate } = state.experiment;
  const same = data.experiments.filter(({ problem }) => problem === find("problem").value);
  state.experiment = same.find((experiment) => experiment.case === wanted)
    ?? same.find((experiment) => experiment.accurate === accurate) ?? same[0];
  options("case", same.map((experiment) => [experiment.case, experiment.case]), state.experiment.case);
  const features = Object.keys(state.experiment.features);
  if (!features.includes(state.feature)) state.feature = features[0];
  options("feature", features.map((name) => [name, onlineText(name)[0]]), state.feature);
  for (const box of find("algorithms").querySelectorAll("input")) {
    box.disabled = !state.experiment.algorithms.includes(Number(box.value));
  }
}

function offerAlgorithms() {
  const { style } = document.documentElement;
  find("algorithms").append(...data.algorithms.map((algorithm, k) => {
    style.setProperty(`--algorithm-${k}`, `light-dark(${algorithm.light}, ${algorithm.dark})`);
    algorithm.color = `var(--algorithm-${k})`;
    const box = element("input", { type: "checkbox", value: k });
    box.checked = !state.hidden.has(k);
    const note = k === data.reference ? " (knows the MDP)" : "";
    return element("label", {}, box, mark(algorithm), algorithm.name + note);
  }));
}

function filter(tick) {
  const boxes = [...find("algorithms").querySelectorAll("input")];
  if (tick !== undefined) {
    for (const box of boxes) box.checked = tick && Number(box.value) !== data.reference;
  }
  state.hidden = new Set(boxes.filter((box) => !box.checked).map((box) => Number(box.value)));
  choose();
}

function chooseFeature(feature) {
  // A bound per decision says nothing about a whole trajectory.
  const alike = PER_DECISION.includes(feature) && PER_DECISION.includes(state.feature);
  if (!alike) online.set(Infinity, false);
  state.feature = feature;
  choose();
}

function download() {
  const address = URL.createObjectURL(new Blob([table.csv()], { type: "text/csv" }));
  const name = `${view.experiment.name.replace(/[^\w.-]+/g, "_")}.csv`;
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

function toggleTheme() {
  const { dataset } = document.documentElement;
  const now = dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  dataset.theme = now === "dark" ? "light" : "dark";
}

function listen(id, type, act) {
  find(id).addEventListener(type, ({ target }) => act(target));
}

offerAlgorithms();
const problems = [...new Set(data.experiments.map(({ problem }) => problem))];
options("problem", problems.map((name) => [name, name]), state.experiment.problem);
options("level", data.levels.map((level, k) => [k, percent(level)]), state.level);
offerCases(state.experiment.case);
listen("problem", "change", () => { offerCases(state.experiment.case); choose(); });
listen("case", "change", ({ value }) => { offerCases(value); choose(); });
listen("feature", "change", ({ value }) => chooseFeature(value));
listen("level", "change", ({ value }) => { state.level = Number(value); choose(); });
listen("honest", "change", ({ checked }) => { state.honest = checked; choose(); });
listen("algorithms", "change", () => filter());
listen("all", "click", () => filter(true));
listen("none", "click", () => filter(false));
listen("csv", "click", download);
listen("theme", "click", toggleTheme);
find("controls").addEventListener("submit", (event) => event.preventDefault());
choose();

let width = innerWidth;
addEventListener("resize", () => {
  if (innerWidth !== width) draw();
  width = innerWidth;
});
