// The page "Check a certificate here": takes a file, hands it to the worker, shows the verdict.
const place = document.getElementById("checker");
if (place) {
  const [file, matrix] = place.querySelectorAll("input");
  const verdict = place.querySelector("output");
  const base = new URL("../checker/", location.href);
  let worker = null;
  let last = null; // the certificate that was checked last

  const show = (state, text) => {
    verdict.dataset.state = state;
    verdict.textContent = text;
  };

  const check = async (certificate) => {
    last = certificate;
    if (!worker) {
      worker = new Worker(new URL("worker.js", base), { type: "module" });
      worker.onmessage = ({ data }) => show(["accepted", "rejected"][data.status] ?? "failed", data.text);
      worker.onerror = () =>
        show("failed", "Python cannot be loaded. Run instead: relaxboost check FILE");
    }
    show("working", "Python is being loaded (7 MB) and the certificate is being checked …");
    const given = matrix.files[0] ? await matrix.files[0].arrayBuffer() : null;
    worker.postMessage({ "certificate.json": await certificate.arrayBuffer(), matrix: given });
  };

  file.addEventListener("change", () => file.files[0] && check(file.files[0]));
  matrix.addEventListener("change", () => last && check(last));
  place.addEventListener("dragover", (event) => event.preventDefault());
  place.addEventListener("drop", (event) => {
    event.preventDefault();
    check(event.dataTransfer.files[0]);
  });
  // ?file=URL checks a certificate of the same site.
  const wanted = new URLSearchParams(location.search).get("file");
  if (wanted)
    fetch(new URL(wanted, location.href))
      .then(check)
      .catch(() => show("failed", `The file ${wanted} cannot be loaded.`));
}
