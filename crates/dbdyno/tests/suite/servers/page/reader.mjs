// Reads a report as people do, in a real browser, and prints what was seen as JSON.
//
//   node reader.mjs PLAYWRIGHT-CORE REPORT BROKEN-COPY [DIRECTORY FOR SCREENSHOTS]
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [, , library, report, brokenCopy, screenshots] = process.argv;
const { chromium } = createRequire(import.meta.url)(library);
const seen = { complaints: [], requests: [], broken: { complaints: [], requests: [] } };

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu"],
});

// A window onto the report or its broken copy; what it complains of and what it asks of a network is kept.
const open = async (width, colorScheme, file = report, kept = seen) => {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
  const page = await context.newPage();
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && kept.complaints.push(message.text()));
  page.on("pageerror", (error) => kept.complaints.push(error.message));
  await context.route(/^(?!file:|data:)/, (route) => {
    kept.requests.push(route.request().url());
    return route.abort();
  });
  await page.goto(pathToFileURL(file).href);
  if (screenshots) {
    await page.screenshot({ path: `${screenshots}/${colorScheme}-${width}.png`, fullPage: true });
  }
  return page;
};

// What is painted on every canvas: it changes when a chart does.
const painted = (page) => page.$$eval("#course canvas", (canvases) => canvases.map((canvas) => canvas.toDataURL()));
// Redrawing waits for a frame.
const settled = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
const text = (page, selector) => page.locator(selector).innerText();

const broken = await open(1400, "light", brokenCopy, seen.broken);
await settled(broken);
await broken.close();

const page = await open(1400, "light");
seen.loaded_ms = await page.evaluate(() => performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd);

// Static charts: every point of the chart that shows the answer, with the value that it stands for.
seen.hints = await page.$$eval("svg.chart g g > title", (titles) => titles.map((title) => title.textContent));
seen.unnamed = await page.$$eval("svg.chart", (charts) =>
  charts.filter((chart) => !chart.querySelector("title")?.textContent || !chart.querySelector("desc")?.textContent).length,
);

// What stands in the way of a screen reader or of the keyboard.
seen.landmarks = await page.$$eval("header, nav, main, footer", (all) => all.map((one) => one.tagName.toLowerCase()));
seen.headings = await page.$$eval("h1, h2, h3", (all) => all.map((one) => Number(one.tagName[1])));
seen.twice = await page.$$eval("[id]", (all) => all.map((one) => one.id).filter((id, at, ids) => ids.indexOf(id) !== at));
seen.dangling = await page.$$eval("[aria-labelledby], [aria-controls], a[href^='#']", (all) =>
  all.flatMap((one) =>
    [one.getAttribute("aria-labelledby"), one.getAttribute("aria-controls"), one.getAttribute("href")?.slice(1)]
      .flatMap((ids) => ids?.split(" ") ?? [])
      .filter((id) => !document.getElementById(id)),
  ),
);
seen.headless = await page.$$eval("table", (tables) =>
  tables.filter((table) => table.tHead && [...table.tHead.querySelectorAll("th")].some((cell) => cell.scope !== "col")).length,
);
seen.unlabelled = await page.$$eval("table", (tables) =>
  tables.filter((table) => !table.caption && !table.closest("[aria-label]")).length,
);
await page.keyboard.press("Tab");
seen.first_stop = await page.evaluate(() => document.activeElement.textContent);

// Text that is hard to read on what lies behind it, by the formula of WCAG.
const faint = (page) =>
  page.evaluate(() => {
    const channels = (colour) => colour.match(/[\d.]+/g).map(Number);
    const luminance = ([r, g, b]) =>
      [r, g, b]
        .map((value) => value / 255)
        .map((value) => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
        .reduce((sum, value, at) => sum + value * [0.2126, 0.7152, 0.0722][at], 0);
    const behind = (one) => {
      for (let at = one; at; at = at.parentElement) {
        const colour = channels(getComputedStyle(at).backgroundColor);
        if (colour.length === 3 || colour[3] > 0.5) return colour;
      }
      return [255, 255, 255];
    };
    return [...document.querySelectorAll("p, td, th, h1, h2, h3, a, dt, dd, summary, button, li")]
      .filter((one) => one.textContent.trim() && one.checkVisibility())
      .map((one) => {
        const [a, b] = [luminance(channels(getComputedStyle(one).color)), luminance(behind(one))];
        return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), one.tagName + " " + one.className];
      })
      .filter(([contrast]) => contrast < 4.5)
      .map(([contrast, what]) => what + " " + contrast.toFixed(1));
  });
seen.faint = { light: await faint(page) };

seen.zoomable = (await page.locator("#run-data").count()) > 0;
if (seen.zoomable) {
  // The course of the chosen run is the one that was measured: its mean over the measurement is the list's throughput.
  seen.courses = await page.evaluate(() => {
    const heads = [...document.querySelectorAll("#run-table thead th")].map((head) => head.textContent);
    const rate = heads.indexOf("operations/s");
    const { runs } = JSON.parse(document.getElementById("run-data").textContent);
    return runs.map((run, index) => {
      const { t, lines } = run.charts[0];
      const at = Array.isArray(t) ? t : Array.from({ length: t.count }, (_, n) => t.from + n * t.step);
      const measured = lines[0].values.filter((_, n) => at[n] >= run.measured_from - 0.001);
      const row = document.querySelector(`#run-table tr[data-run="${index}"]`);
      return {
        run: run.title,
        drawn_per_s: measured.reduce((sum, value) => sum + value, 0) / measured.length,
        listed_per_s: Number(row.cells[rate].dataset.value),
        charts: run.charts.map((chart) => chart.title),
      };
    });
  });
  // What is folded until it is asked for.
  seen.canvases_at_first = await page.locator("#course canvas").count();
  await page.getByText("Machine and server in this run").click();
  await page.locator("#course-rest canvas").first().waitFor();
  await page.locator("details.all-runs > summary").click();
  await settled(page);
  seen.canvases = await page.locator("#course canvas").count();
  const named = await page.$$eval("#course canvas", (all) => all.filter((one) => one.ariaLabel && one.role === "img").length);
  seen.named_canvases = named;

  const whole = await painted(page);
  seen.zoom = { whole: await text(page, "#course-shown") };
  await page.getByRole("button", { name: "Zoom in" }).click();
  await settled(page);
  const zoomed = await painted(page);
  seen.zoom.button = await text(page, "#course-shown");
  seen.zoom.changed = zoomed.filter((paint, at) => paint !== whole[at]).length;
  await page.getByRole("button", { name: "Whole run" }).click();
  await settled(page);
  seen.zoom.back = await text(page, "#course-shown");

  // Dragging over one chart zooms all of them.
  const first = page.locator("#course-charts .u-over").first();
  await first.scrollIntoViewIfNeeded();
  const box = await first.boundingBox();
  await page.mouse.move(box.x + box.width * 0.5, box.y + 40);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.8, box.y + 40, { steps: 5 });
  await page.mouse.up();
  await settled(page);
  const dragged = await painted(page);
  seen.zoom.drag = await text(page, "#course-shown");
  seen.zoom.dragged = dragged.filter((paint, at) => paint !== whole[at]).length;

  await page.locator("#course-charts").focus();
  await page.keyboard.press("Home");
  await settled(page);
  seen.zoom.home = await text(page, "#course-shown");
  await page.keyboard.press("+");
  await settled(page);
  seen.zoom.key = await text(page, "#course-shown");

  const rows = page.locator("#run-table tbody tr");
  await rows.nth(1).getByRole("button").focus();
  await page.keyboard.press("Enter");
  await settled(page);
  seen.chosen = { second: await text(page, "#course-title") };
  seen.chosen.pressed = await page.$$eval('#run-table [aria-pressed="true"]', (all) => all.map((one) => one.closest("tr").rowIndex));
  seen.chosen.changed = (await painted(page)).some((paint, at) => paint !== whole[at]);
  await page.getByRole("button", { name: "Previous run" }).click();
  seen.chosen.first = await text(page, "#course-title");
  await page.locator("#run-table [data-sort]").first().click();
  await page.locator("#run-table [data-sort]").first().click();
  seen.sorted = await page.$$eval("#run-table tbody tr", (all) => all.map((row) => Number(row.cells[0].dataset.value)));
  await page.getByText("Values for each second").click();
  // The table is made by an event that comes after the click.
  const numbers = page.locator("#course-numbers tbody tr");
  await numbers.first().waitFor();
  seen.numbers = await numbers.count();
}

const ground = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
seen.light = await ground(page);
// A link to a folded part opens it.
await page.locator('nav a[href="#reproduce-part"]').click();
seen.opened = await page.locator("#reproduce-part").isVisible();
await page.emulateMedia({ media: "print" });
seen.print = await ground(page);
await page.close();

const dark = await open(1400, "dark");
seen.dark = await ground(dark);
seen.faint.dark = await faint(dark);
for (const scheme of ["light", "dark"]) {
  const narrow = await open(390, scheme);
  const beyond = await narrow.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  seen.beyond = Math.max(seen.beyond ?? 0, beyond);
  seen.screens = (await narrow.evaluate(() => document.documentElement.scrollHeight)) / 844;
  // Nothing of a chart is cut off.
  seen.cut = await narrow.$$eval("svg.chart", (charts) =>
    charts.filter((chart) => chart.checkVisibility() && chart.getBoundingClientRect().right > document.documentElement.clientWidth).length,
  );
}
await browser.close();
console.log(JSON.stringify(seen));
