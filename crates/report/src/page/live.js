// Loads the page of a running experiment again when there is more to show, and keeps what the reader unfolded.
"use strict";
(() => {
  const EVERY_MS = 2000;
  const KEPT = "dbdyno-open";
  const live = document.querySelector(".live");
  const folds = [...document.querySelectorAll("details")];
  const nameOf = (fold) => fold.querySelector("summary")?.textContent ?? "";
  let open = [];
  try {
    open = JSON.parse(sessionStorage.getItem(KEPT) ?? "[]");
  } catch {
    // A browser that keeps nothing folds everything again.
  }
  for (const fold of folds) if (open.includes(nameOf(fold))) fold.open = true;

  const reload = () => {
    try {
      sessionStorage.setItem(KEPT, JSON.stringify(folds.filter((it) => it.open).map(nameOf)));
    } catch {
      // See above.
    }
    location.reload();
  };
  const end = () => {
    live.querySelector("iframe").remove();
    live.querySelector("p").textContent =
      "dbdyno does not answer any more: the experiment has ended. Its report is the file report.html in the directory of its results.";
  };
  const look = async () => {
    if (document.hidden) return void setTimeout(look, EVERY_MS);
    try {
      const answer = await fetch("/version", { cache: "no-store" });
      if (answer.ok && (await answer.text()).trim() !== live.dataset.version) return reload();
    } catch {
      return end();
    }
    setTimeout(look, EVERY_MS);
  };
  setTimeout(look, EVERY_MS);
})();
