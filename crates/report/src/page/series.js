// Draws the course of the chosen run with uPlot, and sorts the run list.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("run-data").textContent);
  const table = document.getElementById("run-table");
  const panel = document.getElementById("course");
  if (!table || !panel) return;
  const place = document.getElementById("course-charts");
  const rows = [...table.tBodies[0].rows];
  let charts = [];
  let chosen = data.chosen;
  let whole = [0, 1];

  // On paper the light colours hold, whatever the screen shows: the style sheet gives them to `.paper`.
  const paper = document.createElement("div");
  paper.className = "paper";
  paper.hidden = true;
  document.body.append(paper);
  let source = document.documentElement;
  const colour = (name) => getComputedStyle(source).getPropertyValue(name).trim();

  const short = (value) => {
    if (value == null) return "–";
    if (value >= 1e6) return +(value / 1e6).toPrecision(3) + "M";
    if (value >= 1e3) return +(value / 1e3).toPrecision(3) + "k";
    return String(+value.toPrecision(3));
  };

  // Shades the warm-up, which does not count.
  const shade = (chart, until) => {
    if (!until) return;
    const { left, top, width, height } = chart.bbox;
    const right = left + width;
    const at = (t) => Math.min(right, Math.max(left, chart.valToPos(t, "x", true)));
    chart.ctx.save();
    chart.ctx.fillStyle = colour("--shade");
    chart.ctx.fillRect(left, top, at(until) - left, height);
    chart.ctx.restore();
  };

  // 1, 2 and 5 times the powers of ten around low to high, as on the logarithmic axes of the static charts.
  const steps = (low, high) => {
    const found = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
      found.push(10 ** power, 2 * 10 ** power, 5 * 10 ** power);
    }
    return found;
  };
  const ends = (low, high) => {
    const around = steps(low, high);
    return [around.findLast((step) => step <= low) ?? low, around.find((step) => step >= high && step > low) ?? high];
  };
  const logTicks = (low, high) => {
    const within = steps(low, high).filter((step) => step >= low && step <= high);
    return within.length <= 7 ? within : within.filter((step) => Number.isInteger(Math.log10(step)));
  };

  const DASHES = [[], [7, 3], [2, 3], [8, 3, 2, 3]];

  const options = (run, chart, last) => {
    const axis = { stroke: colour("--muted"), grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line"), width: 1 } };
    const values = { ...axis, size: 58, values: (_, ticks) => ticks.map(short) };
    // The library would label few of its ticks, and the odd end of the axis.
    if (chart.logarithmic) Object.assign(values, { splits: (_, __, low, high) => logTicks(low, high), filter: (_, ticks) => ticks });
    return {
      width: Math.max(280, place.clientWidth),
      height: last ? 212 : 190,
      cursor: { sync: { key: "course" }, drag: { x: true, y: false } },
      scales: {
        x: { time: false, range: (_, low, high) => [low ?? whole[0], high ?? whole[1]] },
        y: chart.logarithmic
          ? { distr: 3, range: (_, low, high) => ends(low > 0 ? low : 0.1, high > 0 ? high : 1) }
          : { range: (_, low, high) => [0, high > 0 ? high * 1.05 : 1] },
      },
      axes: [last ? { ...axis, label: "seconds", labelSize: 22 } : axis, values],
      series: [
        { label: "second", value: (_, t) => (t == null ? "–" : t.toFixed(1)) },
        ...chart.lines.map((line) => ({
          label: line.name,
          stroke: colour("--s" + line.style),
          width: 1.75,
          dash: DASHES[line.style % DASHES.length],
          // A value between two gaps has no line.
          points: { show: true, size: 4, filter: (u, at) => alone(u.data[at]) },
          value: (_, value) => short(value),
        })),
      ],
      hooks: { drawClear: [(u) => shade(u, run.measured_from)] },
    };
  };

  const alone = (values) =>
    values.flatMap((value, at) => (value != null && values[at - 1] == null && values[at + 1] == null ? [at] : []));

  // A table whose rows are named by their first cell.
  const tableOf = (caption, names, cells, named) => {
    const made = document.createElement("table");
    made.createCaption().textContent = caption;
    const head = made.createTHead().insertRow();
    for (const name of names) {
      const cell = document.createElement("th");
      cell.scope = "col";
      cell.textContent = name;
      head.append(cell);
    }
    const body = made.createTBody();
    for (const texts of cells) {
      const row = body.insertRow();
      texts.forEach((text, index) => {
        const cell = index === 0 && named ? document.createElement("th") : document.createElement("td");
        if (cell.tagName === "TH") cell.scope = "row";
        cell.textContent = text;
        row.append(cell);
      });
    }
    return made;
  };

  const numbers = (run) => {
    const made = run.charts.map((chart) =>
      tableOf(
        chart.title + ", " + chart.unit,
        ["second", ...chart.lines.map((line) => line.name)],
        chart.t.map((t, index) => [t.toFixed(1), ...chart.lines.map((line) => short(line.values[index]))]),
        false,
      ),
    );
    document.getElementById("course-numbers").replaceChildren(...made);
  };

  const totals = (run) => {
    const made = run.tables.map((data) => {
      const part = document.createElement("div");
      part.className = "scroll totals";
      part.tabIndex = 0;
      part.setAttribute("role", "region");
      part.setAttribute("aria-label", data.title);
      part.append(tableOf(data.title, data.head, data.rows, true));
      const note = document.createElement("p");
      note.className = "note";
      note.textContent = data.note;
      return data.note ? [part, note] : [part];
    });
    document.getElementById("course-totals").replaceChildren(...made.flat());
  };

  const draw = () => {
    const run = data.runs[chosen];
    charts.forEach((chart) => chart.destroy());
    place.replaceChildren();
    const instants = run.charts.flatMap((chart) => [chart.t[0], chart.t[chart.t.length - 1]]).filter((t) => t != null);
    whole = instants.length ? [Math.min(...instants), Math.max(...instants)] : [0, 1];
    charts = run.charts
      .filter((chart) => chart.t.length > 0)
      .map((chart, index, drawn) => {
        const figure = document.createElement("figure");
        const caption = document.createElement("figcaption");
        caption.textContent = chart.title + " (" + chart.unit + (chart.logarithmic ? ", log scale)" : ")");
        figure.append(caption);
        figure.setAttribute("aria-label", chart.title + " over time");
        place.append(figure);
        return new uPlot(options(run, chart, index === drawn.length - 1), [chart.t, ...chart.lines.map((line) => line.values)], figure);
      });
    zoom(whole);
  };

  const zoom = ([min, max]) => charts.forEach((chart) => chart.setScale("x", { min, max }));

  const choose = (index) => {
    chosen = index;
    const run = data.runs[index];
    panel.hidden = false;
    document.getElementById("course-title").textContent = run.title[0].toUpperCase() + run.title.slice(1);
    const warmUp = run.measured_from > 0 ? "Shaded: warm-up. " : "";
    document.getElementById("course-note").textContent = run.note + warmUp;
    for (const row of rows) {
      const mine = Number(row.dataset.run) === index;
      row.classList.toggle("chosen", mine);
      row.querySelector("button").setAttribute("aria-pressed", String(mine));
    }
    draw();
    totals(run);
    numbers(run);
  };

  table.tBodies[0].addEventListener("click", (event) => {
    const row = event.target.closest("tr");
    if (row) choose(Number(row.dataset.run));
  });

  panel.addEventListener("click", (event) => {
    const action = event.target.dataset.zoom;
    if (!action || !charts.length) return;
    const { min, max } = charts[0].scales.x;
    const length = max - min;
    const moves = {
      in: [min + length / 4, max - length / 4],
      out: [min - length / 2, max + length / 2],
      earlier: [min - length / 2, max - length / 2],
      later: [min + length / 2, max + length / 2],
      all: whole,
    };
    let [from, to] = moves[action];
    const width = Math.min(to - from, whole[1] - whole[0]);
    from = Math.min(Math.max(from, whole[0]), whole[1] - width);
    zoom([from, from + width]);
  });

  const key = (row, column) => {
    const cell = row.cells[column];
    const text = cell.dataset.value ?? cell.textContent;
    const number = Number(text);
    return text.trim() !== "" && Number.isFinite(number) ? number : text;
  };
  const compare = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true }));

  table.tHead.addEventListener("click", (event) => {
    const heading = event.target.closest("th");
    if (!event.target.closest("[data-sort]") || !heading) return;
    const down = heading.getAttribute("aria-sort") === "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", down ? "descending" : "ascending");
    rows.sort((a, b) => compare(key(a, heading.cellIndex), key(b, heading.cellIndex)) * (down ? -1 : 1));
    table.tBodies[0].append(...rows);
  });

  let width = 0;
  new ResizeObserver(() => {
    if (place.clientWidth === width) return;
    width = place.clientWidth;
    charts.forEach((chart) => chart.setSize({ width: Math.max(280, width), height: chart.height }));
  }).observe(place);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  addEventListener("beforeprint", () => { source = paper; draw(); });
  addEventListener("afterprint", () => { source = document.documentElement; draw(); });

  choose(chosen);
})();
