// The page's data: JSON whose arrays of numbers report/web/__init__.py has packed.

const STORES = { f8: Float64Array, f4: Float32Array, i2: Int16Array };

async function readContent() {
  const { content, arrays } = JSON.parse(document.getElementById("content").textContent);
  const stores = {};
  for (const kind in arrays) {
    stores[kind] = new STORES[kind](await unpack(arrays[kind], STORES[kind].BYTES_PER_ELEMENT));
  }
  return revived(content, stores);
}

// The value with its arrays in the place of references to them.
function revived(value, stores) {
  if (value === null || typeof value !== "object") return value;
  if ("packed" in value) {
    const [kind, start, length] = value.packed;
    return stores[kind].subarray(start, start + length);
  }
  for (const key in value) value[key] = revived(value[key], stores);
  return value;
}

// Numbers are deflated, all first bytes first.
async function unpack(text, size) {
  const packed = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const sorted = new Uint8Array(await new Response(stream).arrayBuffer());
  const bytes = new Uint8Array(sorted.length);
  for (let place = 0, from = 0; place < size; place++) {
    for (let i = place; i < bytes.length; i += size) bytes[i] = sorted[from++];
  }
  return bytes.buffer;
}
