// Unpacks what Python packed: names as JSON; numbers deflated, all first bytes first.

async function readData() {
  const text = (id) => document.getElementById(id).textContent;
  const content = JSON.parse(text("content"));
  const numbers = new Float64Array(await unpack(text("numbers"), 8));
  const steps = new Int16Array(await unpack(text("tests"), 2));
  const column = ([start, length]) => numbers.subarray(start, start + length);
  for (const experiment of content.experiments) {
    for (const name of ["offline", "scores", "ci95"]) experiment[name] = column(experiment[name]);
    experiment.unadjusted &&= experiment.unadjusted.map(column);
    experiment.normalised &&= column(experiment.normalised);
    for (const name in experiment.features) {
      experiment.features[name] = column(experiment.features[name]);
    }
    experiment.tests = experiment.tests.map(([start, length], k) =>
      new PairedTests(experiment.ranked[k], steps.subarray(start, start + length), content.steps));
  }
  return content;
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
