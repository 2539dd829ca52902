// The page of an agent: its learning curves, and tables that sort.

markLabels();
for (const table of document.querySelectorAll(".sortable")) new SortableTable(table);

// Agents of one algorithm share its colour, so labels tell them apart in the legend.
function drawCurves() {
  const plots = [...document.querySelectorAll("svg.curves")];
  const areas = plots.map(areaOf);
  content.curves.forEach(({ lines, bound, boundText }, k) => {
    const algorithms = lines.map((line) => ({ ...content.algorithms[line.algorithm], name: line.label }));
    const view = { algorithms, experiment: { algorithms: lines.map((_, i) => i) }, score: scoreFormat(lines.flatMap((line) => line.mean)) };
    const drawn = lines.map(({ decisions, mean, ci95 }, agent) => ({
      agent,
      points: decisions.map((decision, p) => ({ decision, mean: mean[p], ci95: ci95[p] ?? 0 })),
    }));
    new LearningPlot(plots[k], "discounted reward so far").draw(view, areas[k], drawn, [0], scoreLines({ bound, boundText }, []));
  });
}

drawAlways(drawCurves);
