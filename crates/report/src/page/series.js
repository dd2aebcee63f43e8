// Draws the course of the chosen run with uPlot, and sorts the run list.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("run-data").textContent);
  // Instants at equal distances come as their first, their distance and their count.
  for (const chart of data.runs.flatMap((run) => run.charts)) {
    if (!Array.isArray(chart.t)) {
      const { from, step, count } = chart.t;
      chart.t = Array.from({ length: count }, (_, at) => +(from + at * step).toFixed(3));
    }
  }
  const table = document.getElementById("run-table");
  const panel = document.getElementById("course");
  if (!table || !panel) return;
  // What clients saw stands open; machine and server are drawn where they are looked at.
  const place = document.getElementById("course-charts");
  const restPlace = document.getElementById("course-rest");
  const more = document.getElementById("course-more");
  const OPEN = 2;
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

  // Shades the warm-up, which does not count, and marks stalls, planned events and stages.
  const shade = (chart, run) => {
    const { left, top, width, height } = chart.bbox;
    const right = left + width;
    const at = (t) => Math.min(right, Math.max(left, chart.valToPos(t, "x", true)));
    const fill = (from, to, paint, tall) => {
      chart.ctx.fillStyle = paint;
      if (at(to) > at(from)) chart.ctx.fillRect(at(from), top + height - tall, at(to) - at(from), tall);
    };
    chart.ctx.save();
    if (run.measured_from) fill(chart.scales.x.min, run.measured_from, colour("--shade"), height);
    for (const [from, to] of run.stalls) {
      fill(from, to, colour("--stall"), height);
      fill(from, to, colour("--stall-edge"), 4 * devicePixelRatio);
    }
    for (const [from, to] of run.events) {
      fill(from, to, colour("--event"), height);
      chart.ctx.fillStyle = colour("--event-edge");
      for (const t of from === to ? [from] : [from, to]) {
        if (t >= chart.scales.x.min && t <= chart.scales.x.max) chart.ctx.fillRect(at(t), top, devicePixelRatio, height);
      }
    }
    chart.ctx.fillStyle = colour("--event-edge");
    for (const t of run.stages) {
      if (t > chart.scales.x.min && t <= chart.scales.x.max) chart.ctx.fillRect(at(t), top, devicePixelRatio, height);
    }
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

  const faint = (hex) => hex + "2e";

  const DASHES = [[], [7, 3], [2, 3], [8, 3, 2, 3]];

  const options = (run, chart, width) => {
    const axis = { stroke: colour("--muted"), grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line"), width: 1 } };
    const values = { ...axis, size: 58, values: (_, ticks) => ticks.map(short) };
    // The library would label few of its ticks, and the odd end of the axis.
    if (chart.logarithmic) Object.assign(values, { splits: (_, __, low, high) => logTicks(low, high), filter: (_, ticks) => ticks });
    return {
      width,
      height: 190,
      cursor: { sync: { key: "course" }, drag: { x: true, y: false } },
      scales: {
        x: { time: false, range: (_, low, high) => [low ?? whole[0], high ?? whole[1]] },
        y: chart.logarithmic
          ? { distr: 3, range: (_, low, high) => ends(low > 0 ? low : 0.1, high > 0 ? high : 1) }
          : { range: (_, low, high) => [0, high > 0 ? high * 1.05 : 1] },
      },
      axes: [{ ...axis, size: 30 }, values],
      series: [
        // Without the pointer over the chart there is no value to show, and a name alone is the legend.
        { label: "second", value: (_, t) => (t == null ? "" : t.toFixed(1)) },
        ...chart.lines.map((line) => ({
          label: line.name,
          stroke: colour("--s" + line.style),
          width: 1.75,
          dash: DASHES[line.style % DASHES.length],
          // A value between two gaps has no line.
          points: { show: true, size: 4, filter: (u, at) => alone(u.data[at]) },
          value: (_, value, __, at) => (at == null ? "" : short(value)),
        })),
      ],
      bands: chart.bands.map(([upper, lower, style]) => ({ series: [upper + 1, lower + 1], fill: faint(colour("--s" + style)) })),
      hooks: {
        // Dragging over one chart zooms all of them.
        setScale: [(u, key) => key === "x" && u === charts[0] && tell(u.scales.x)],
        drawClear: [(u) => shade(u, run)],
      },
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

  // Built when it is looked at: a long table takes longer than all charts.
  const numbersPlace = document.getElementById("course-numbers");
  const numbers = (run) => {
    numbersPlace.replaceChildren();
    if (!numbersPlace.closest("details").open) return;
    const made = run.charts.map((chart) =>
      tableOf(
        chart.title + ", " + chart.unit,
        ["second", ...chart.lines.map((line) => line.name)],
        chart.t.map((t, index) => [t.toFixed(1), ...chart.lines.map((line) => short(line.values[index]))]),
        false,
      ),
    );
    numbersPlace.replaceChildren(...made);
  };

  // The first stands open; which others do stays as the reader left it.
  const opened = new Map();
  const totals = (run) => {
    const made = run.tables.map((data, index) => {
      const part = document.createElement("details");
      part.open = opened.get(data.title) ?? index === 0;
      part.addEventListener("toggle", () => opened.set(data.title, part.open));
      const summary = document.createElement("summary");
      summary.textContent = data.title;
      const scroll = document.createElement("div");
      scroll.className = "scroll totals";
      scroll.tabIndex = 0;
      scroll.setAttribute("role", "region");
      scroll.setAttribute("aria-label", data.title);
      const table = tableOf(data.title, data.head, data.rows, true);
      table.caption.className = "hidden";
      scroll.append(table);
      const note = document.createElement("p");
      note.className = "note";
      note.textContent = data.note;
      part.append(summary, scroll, ...(data.note ? [note] : []));
      return part;
    });
    document.getElementById("course-totals").replaceChildren(...made);
  };

  // What a chart shows, for those who cannot see it.
  const inWords = (chart) => {
    const lines = chart.lines.map((line) => {
      const values = line.values.filter((value) => value != null);
      return line.name + " " + short(Math.min(...values)) + " to " + short(Math.max(...values));
    });
    return chart.title + " over time, " + chart.unit + ": " + lines.join("; ");
  };

  const widthOf = (figure) => Math.max(260, figure.clientWidth);

  const draw = () => {
    const run = data.runs[chosen];
    charts.forEach((chart) => chart.destroy());
    place.replaceChildren();
    restPlace.replaceChildren();
    const instants = run.charts.flatMap((chart) => [chart.t[0], chart.t[chart.t.length - 1]]).filter((t) => t != null);
    whole = instants.length ? [Math.min(...instants), Math.max(...instants)] : [0, 1];
    const shownCharts = run.charts.filter((chart) => chart.t.length > 0).filter((_, at) => at < OPEN || more.open);
    // All figures first: the width of each depends on how many there are.
    const figures = shownCharts.map((chart, at) => {
      const figure = document.createElement("figure");
      const caption = document.createElement("figcaption");
      caption.textContent = chart.title + " (" + chart.unit + (chart.logarithmic ? ", log scale)" : ")");
      figure.append(caption);
      (at < OPEN ? place : restPlace).append(figure);
      return figure;
    });
    charts = shownCharts.map((chart, at) => {
      const figure = figures[at];
      const drawnChart = new uPlot(options(run, chart, widthOf(figure)), [chart.t, ...chart.lines.map((line) => line.values)], figure);
      const canvas = figure.querySelector("canvas");
      canvas.setAttribute("role", "img");
      canvas.setAttribute("aria-label", inWords(chart));
      return drawnChart;
    });
    zoom(whole);
  };

  const zoom = ([min, max]) => charts.forEach((chart) => chart.setScale("x", { min, max }));

  const shown = document.getElementById("course-shown");
  const tell = ({ min, max }) => {
    const all = min <= whole[0] && max >= whole[1];
    shown.textContent = all ? "Whole run" : "Seconds " + min.toFixed(1) + " to " + max.toFixed(1);
  };

  // Scrolls the list, not the page, to a row that is out of sight.
  const list = table.parentElement;
  const show = (row) => {
    const top = row.offsetTop - table.tHead.offsetHeight;
    const bottom = row.offsetTop + row.offsetHeight - list.clientHeight;
    if (list.scrollTop > top || list.scrollTop < bottom) list.scrollTop = (top + bottom) / 2;
  };

  const choose = (index) => {
    chosen = index;
    const run = data.runs[index];
    panel.hidden = false;
    document.getElementById("course-title").textContent = run.title[0].toUpperCase() + run.title.slice(1);
    const warmUp = run.measured_from > 0 ? "Shaded: warm-up. " : "";
    document.getElementById("course-note").textContent = run.note + warmUp + run.marks;
    for (const row of rows) {
      const mine = Number(row.dataset.run) === index;
      row.classList.toggle("chosen", mine);
      row.querySelector("button").setAttribute("aria-pressed", String(mine));
      if (mine) show(row);
    }
    draw();
    totals(run);
    numbers(run);
  };

  table.tBodies[0].addEventListener("click", (event) => {
    const row = event.target.closest("tr");
    if (row) choose(Number(row.dataset.run));
  });

  // The run before or after the chosen one, in the order of the list.
  const step = (by) => {
    // A run with stages has a row for each of them.
    const mine = rows.map((row) => Number(row.dataset.run) === chosen);
    const row = rows[(by > 0 ? mine.lastIndexOf(true) : mine.indexOf(true)) + by];
    if (!row) return;
    choose(Number(row.dataset.run));
  };

  const move = (action) => {
    if (!charts.length) return;
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
  };

  panel.addEventListener("click", (event) => {
    const { zoom: action, step: by } = event.target.dataset;
    if (action) move(action);
    if (by) step(Number(by));
  });

  const KEYS = { "+": "in", "=": "in", "-": "out", ArrowLeft: "earlier", ArrowRight: "later", Home: "all", 0: "all" };
  for (const charted of [place, restPlace]) {
    charted.addEventListener("keydown", (event) => {
      const action = KEYS[event.key];
      if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      move(action);
    });
    charted.addEventListener("dblclick", () => move("all"));
  }
  more.addEventListener("toggle", () => draw());
  numbersPlace.closest("details").addEventListener("toggle", () => numbers(data.runs[chosen]));

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
    charts.forEach((chart) => chart.setSize({ width: widthOf(chart.root.parentElement), height: chart.height }));
  }).observe(place);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  // On paper nothing can be opened: what is folded is printed, but for the long tables.
  let folded = [];
  addEventListener("beforeprint", () => {
    source = paper;
    folded = [...document.querySelectorAll("details:is(.part, .finding, .all-runs, #course-more):not([open])")];
    for (const part of folded) part.open = true;
    draw();
  });
  addEventListener("afterprint", () => {
    source = document.documentElement;
    for (const part of folded) part.open = false;
    draw();
  });

  choose(chosen);
})();
