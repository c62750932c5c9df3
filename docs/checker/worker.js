// Runs check.py, the standalone checker, in Python for browsers. Nothing leaves the machine.
import { loadPyodide } from "./pyodide/pyodide.mjs";

// The WebAssembly file is stored compressed, which makes the site 6 MB smaller.
const plainFetch = self.fetch;
self.fetch = async (resource, options) => {
  const url = String(resource.url ?? resource);
  if (!url.endsWith(".wasm")) return plainFetch(resource, options);
  const packed = await plainFetch(`${url}.packed`, options);
  const body = packed.body.pipeThrough(new DecompressionStream("gzip"));
  return new Response(body, { headers: { "Content-Type": "application/wasm" } });
};

async function start() {
  const lines = [];
  const keep = (line) => lines.push(line);
  const python = await loadPyodide({ stdout: keep, stderr: keep });
  const source = await (await plainFetch("./check.py")).text();
  python.FS.writeFile("/home/pyodide/check.py", source);
  python.runPython("import check");
  return { python, lines };
}

const ready = start();

self.onmessage = async ({ data }) => {
  try {
    const { python, lines } = await ready;
    lines.length = 0;
    const words = [];
    for (const [name, bytes] of Object.entries(data)) {
      if (bytes === null) continue;
      if (name === "matrix") words.push("--matrix");
      words.push(`/tmp/${name}`);
      python.FS.writeFile(`/tmp/${name}`, new Uint8Array(bytes));
    }
    python.globals.set("words", python.toPy(words));
    const status = python.runPython("check.main(words)");
    self.postMessage({ status, text: lines.join("\n") });
  } catch (error) {
    self.postMessage({ status: 2, text: `The checker did not run: ${error}` });
  }
};
