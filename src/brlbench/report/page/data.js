// Unpacks what Python packed: names as JSON; numbers deflated, all first bytes first.

async function readData() {
  const text = (id) => document.getElementById(id).textContent;
  const content = JSON.parse(text("content"));
  const numbers = new Float64Array(await unpack(text("numbers"), 8));
  const steps = new Int16Array(await unpack(text("tests"), 2));
  const curves = new Float32Array(await unpack(text("curves"), 4));
  const part = (array, [start, length]) => array.subarray(start, start + length);
  const column = (place) => part(numbers, place);
  for (const experiment of content.experiments) {
    experiment.offline = column(experiment.offline);
    experiment.memory &&= column(experiment.memory);
    for (const name in experiment.features) {
      experiment.features[name] = column(experiment.features[name]);
    }
    for (const half of experiment.measured) {
      for (const name of ["scores", "ci95"]) half[name] = column(half[name]);
      half.unadjusted &&= half.unadjusted.map(column);
      half.normalised &&= column(half.normalised);
      half.pairs = new Pairs(half, part(steps, half.tests), part(steps, half.widths), content.steps);
    }
    experiment.curves = curvesOf(experiment.learning, curves);
  }
  return content;
}

// By agent, its learning curve: a point per decision that is kept.
function curvesOf(learning, numbers) {
  if (!learning) return new Map();
  const { decisions, agents, curves: [start] } = learning;
  return new Map(agents.map((agent, k) => {
    const from = start + 2 * k * decisions.length;
    const points = decisions.map((decision, p) =>
      ({ decision, mean: numbers[from + p], ci95: numbers[from + decisions.length + p] || 0 }));
    return [agent, points];
  }));
}

async function unpack(text, size) {
  const letters = atob(text);
  const packed = new Uint8Array(letters.length);
  for (let i = 0; i < packed.length; i++) packed[i] = letters.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const sorted = new Uint8Array(await new Response(stream).arrayBuffer());
  const bytes = new Uint8Array(sorted.length);
  for (let place = 0, from = 0; place < size; place++) {
    for (let i = place; i < bytes.length; i += size) bytes[i] = sorted[from++];
  }
  return bytes.buffer;
}
