// What Python packed: names as JSON; numbers as float64, deflated, the bytes sorted by place.

async function readData() {
  const content = JSON.parse(document.getElementById("content").textContent);
  const numbers = await unpack(document.getElementById("numbers").textContent);
  const column = ([start, length]) => numbers.subarray(start, start + length);
  for (const experiment of content.experiments) {
    for (const name of ["offline", "ci95", "returns"]) experiment[name] = column(experiment[name]);
    experiment.normalised &&= column(experiment.normalised);
    experiment.means = experiment.means.map(column);
    for (const name in experiment.features) {
      experiment.features[name] = column(experiment.features[name]);
    }
    experiment.tests = [new PairedTests(experiment, false), new PairedTests(experiment, true)];
  }
  return content;
}

async function unpack(text) {
  const letters = atob(text);
  const packed = new Uint8Array(letters.length);
  for (let i = 0; i < packed.length; i++) packed[i] = letters.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const sorted = new Uint8Array(await new Response(stream).arrayBuffer());
  const bytes = new Uint8Array(sorted.length);
  const count = sorted.length / 8;
  for (let place = 0, from = 0; place < 8; place++) {
    for (let i = 0; i < count; i++) bytes[8 * i + place] = sorted[from++];
  }
  return new Float64Array(bytes.buffer);
}
