// The controls, the state they set, and what is drawn from it.

const NO_DECISIONS = "There are none: they need results with single decisions, and not compact files or totals.";
const PER_DECISION = ["mean", "median", "p95", "max"];
const find = (id) => document.getElementById(id);
const data = await readData().catch((error) => {
  find("about").textContent = `This browser can't read the results: use a newer one. (${error})`;
  throw error;
});
const state = { experiment: data.experiments[0], feature: data.feature }; // the rest is in the address
const offline = new Bound(find("offline"), update);
const online = new Bound(find("online"), update);
const map = new BoundsMap(find("map"), find("legend"), offline, online);
const offlinePlot = new Scatter(find("offline-plot"), describe);
const onlinePlot = new Scatter(find("online-plot"), describe);
const table = new AgentTable(find("agents"), (agent) => {
  offlinePlot.highlight(agent);
  onlinePlot.highlight(agent);
});
const soFarPlot = new LearningPlot(find("so-far-plot"), "discounted reward so far");
const regretPlot = new LearningPlot(find("regret-plot"), "regret: optimal minus agent");
let view, learningAreas, toWrite;

// Redraws everything; called when anything but the bounds changes.
function choose() {
  const { experiment, feature, hidden, honest } = state;
  const measured = experiment.measured[Number(honest)];
  const competes = (i) => !hidden.has(experiment.algorithms[i]);
  const comparison = new Comparison(experiment, feature, honest, data.limits[state.level], competes);
  const agents = experiment.labels.map((_, i) => i);
  const isReference = (i) => experiment.algorithms[i] === data.reference;
  const shown = agents.filter(competes);
  const references = agents.filter((i) => isReference(i) && !competes(i));
  view = {
    experiment,
    measured,
    feature,
    shown,
    references,
    listed: agents.filter((i) => competes(i) || isReference(i)),
    algorithms: data.algorithms,
    far: data.far,
    online: experiment.features[feature],
    onlineLabel: `online time: ${onlineText(feature)[0]}`,
    lines: scoreLines(experiment, references.map((i) => measured.scores[i])),
    score: scoreFormat(measured.scores),
    scoreLabel: "mean discounted return" + (honest ? ` (${measured.numMdps} MDPs)` : ""),
    pairs: measured.pairs,
    comparison,
  };
  offline.setTimes(shown.map((i) => experiment.offline[i]));
  online.setTimes(shown.map((i) => view.online[i]));
  tellAbout();
  table.draw(view);
  draw();
}

function draw() {
  // All plots are measured before the first is drawn: measuring after drawing is slow.
  find("so-far-plot").toggleAttribute("hidden", !view.experiment.curves.size);
  find("regret").hidden = !referenceCurve();
  const plots = [offlinePlot, onlinePlot, map, soFarPlot, regretPlot];
  const areas = plots.map(({ svg }) => areaOf(svg));
  learningAreas = areas.slice(3);
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
  for (const i of references) looks[i] += " reference";
  const z = zTexts(view, answer.best);
  tellAnswer(answer);
  drawBest(find("best"), view, answer, z);
  drawDifferences(find("differences"), view, answer);
  drawLearning(answer);
  offlinePlot.update(looks, offline.seconds);
  onlinePlot.update(looks, online.seconds);
  map.update(answer);
  table.update(looks, z);
  clearTimeout(toWrite); // browsers refuse many changes of the address per second
  toWrite = setTimeout(() => writeAddress(state, { offline: offline.seconds, online: online.seconds }), 100);
}

// The learning curve of the reference, if it has one.
function referenceCurve() {
  const { algorithms, curves } = state.experiment;
  return [...curves].find(([agent]) => algorithms[agent] === data.reference)?.[1];
}

function drawLearning({ best, winners }) {
  const { curves, labels } = view.experiment;
  const lines = best.filter((i) => curves.has(i)).map((i) => ({ agent: i, points: curves.get(i) }));
  const missing = best.filter((i) => !curves.has(i)).map((i) => labels[i]);
  const few = lines.length <= MOST_BANDS;
  let note = `Means over all MDPs; 95% ${few ? "bands" : "band of the best agent"}.`;
  if (missing.length) note += ` Without single decisions, so not shown: ${missing.join(", ")}.`;
  if (!curves.size) note = NO_DECISIONS;
  find("learning-note").textContent = note;
  soFarPlot.legend.replaceChildren();
  if (!curves.size) return;
  soFarPlot.draw(view, learningAreas[0], lines, winners, scoreLines(view.experiment, []));
  const reference = referenceCurve();
  if (!reference) return;
  const regrets = lines.map(({ agent, points }) => ({ agent, points: regretOf(points, reference) }));
  const { bound } = view.experiment, end = reference.at(-1).mean;
  const least = bound === null ? [] : [{ at: end - bound, name: "no agent ends below", look: "limit" }];
  regretPlot.draw(view, learningAreas[1], regrets, winners, least);
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
  const { experiment, measured, shown, references } = view;
  const { discount, horizon } = experiment.settings;
  const about = [experiment.name, `${experiment.numMdps} MDPs`];
  if (state.honest) about.push(`scores of ${measured.numMdps} of them`);
  if (discount != null) about.push(`discount ${discount}`);
  if (horizon != null) about.push(`${horizon} decisions`);
  if (experiment.bound !== null) about.push(`no agent can pass ${experiment.boundText}`);
  find("about").textContent = about.join(" · ");
  find("count").textContent = `${shown.length} of ${experiment.labels.length} compete`;
  find("best-note").textContent = "Z is the paired test of the best agent against each: below "
    + `${data.limits[state.level].toFixed(2)}, the agent is not significantly worse.`
    + (measured.unadjusted ? " In brackets: mean returns, with their luck." : "")
    + (state.honest ? ` Scores and Z are of ${measured.numMdps} MDPs, which had no part in choosing the agents.` : "");
  find("differences-note").textContent = "Mean returns minus those of the best agent, on the same "
    + `${measured.numMdps} MDPs. An interval that leaves out 0 is a difference that the MDPs show.`;
  tellChoice();
  find("reference-note").hidden = !references.length;
  find("bound-note").hidden = experiment.bound === null;
  find("scale-note").hidden = !measured.normalised;
  find("scale-top").textContent = experiment.bound === null ? "“optimal”" : "the bound";
  find("adjusted-note").hidden = !measured.unadjusted;
  const notes = [...experiment.notes, experiment.warnings[Number(state.honest)]].filter(Boolean);
  find("notes").hidden = !notes.length;
  find("notes").replaceChildren(...notes.map((note) => element("p", {}, note)));
}

// What the controls show, for print.
function tellChoice() {
  const left = data.algorithms.filter((_, k) => k !== data.reference && state.hidden.has(k));
  const parts = [
    `Problem ${state.experiment.problem}, prior ${state.experiment.case}`,
    view.onlineLabel,
    `significance ${percent(data.levels[state.level])}`,
    state.honest ? "honest: one half of the MDPs chose the agents, the other half tested them"
      : "agents were chosen and tested on the same MDPs",
  ];
  if (left.length) parts.push(`left out: ${left.map(({ name }) => name).join(", ")}`);
  find("chosen").textContent = `${parts.join("; ")}.`;
}

// The full description of an agent, for the tip.
function describe(i) {
  const { experiment, measured, score } = view;
  const rows = [...experiment.parameters[i]];
  rows.push(["score", `${score(measured.scores[i])} ± ${score(measured.ci95[i])}`]);
  if (measured.unadjusted) rows.push(["mean return", meanReturn(measured, i, score)]);
  if (measured.normalised) rows.push(["normalised", formatNormalised(measured.normalised[i])]);
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
  if (!features.includes(state.feature)) state.feature = data.feature;
  options("feature", features.map((name) => [name, onlineText(name)[0]]), state.feature);
  for (const box of find("algorithms").querySelectorAll("input")) {
    box.disabled = !state.experiment.algorithms.includes(Number(box.value));
  }
}

function offerAlgorithms() {
  colourAlgorithms(data.algorithms);
  find("algorithms").append(...data.algorithms.map((algorithm, k) => {
    const box = element("input", { type: "checkbox", value: k });
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

// Takes the state from the address.
function restore() {
  const { problem, prior, feature, offline: longest, online: longestDecision, ...rest } = readAddress();
  Object.assign(state, rest);
  find("problem").value = problems.includes(problem) ? problem : data.experiments[0].problem;
  state.experiment = data.experiments[0];
  state.feature = feature ?? data.feature;
  offerCases(prior);
  find("level").value = state.level;
  find("honest").checked = state.honest;
  for (const box of find("algorithms").querySelectorAll("input")) {
    box.checked = !state.hidden.has(Number(box.value));
  }
  offline.set(longest, false);
  online.set(longestDecision, false);
  choose();
}

function listen(id, type, act) {
  find(id).addEventListener(type, ({ target }) => act(target));
}

offerAlgorithms();
const problems = [...new Set(data.experiments.map(({ problem }) => problem))];
options("problem", problems.map((name) => [name, name]));
options("level", data.levels.map((level, k) => [k, percent(level)]));
listen("problem", "change", () => { offerCases(state.experiment.case); choose(); });
listen("case", "change", ({ value }) => { offerCases(value); choose(); });
listen("feature", "change", ({ value }) => chooseFeature(value));
listen("level", "change", ({ value }) => { state.level = Number(value); choose(); });
listen("honest", "change", ({ checked }) => { state.honest = checked; choose(); });
listen("algorithms", "change", () => filter());
listen("all", "click", () => filter(true));
listen("none", "click", () => filter(false));
listen("csv", "click", download);
find("controls").addEventListener("submit", (event) => event.preventDefault());
addEventListener("hashchange", restore);
restore();

let width = innerWidth;
addEventListener("resize", () => {
  if (innerWidth !== width) draw();
  width = innerWidth;
});
