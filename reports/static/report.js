// What a page does by itself: draws charts when they come into view, reads values off them, sorts
// and filters tables, and opens what a link points to. Nothing leaves the page. The report, the page
// of a trace and that of a comparison share it; each has a part of what it looks for.
"use strict";

// In a block, unlike in a function, two functions of one name are an error that no browser accepts.
{

  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const element = (tag, properties = {}, ...children) => {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  };
  const once = (made, key, make) => {
    if (!made.has(key)) made.set(key, make(key));
    return made.get(key);
  };
  const tellFailure = (place, what, error) => {
    place.append(element("p", { className: "failed" }, `${what} could not be shown: ${error.message}`));
    console.error(error);
  };
  const wordsOf = (text) => text.toLowerCase().split(/\s+/).filter(Boolean);
  const json = (id) => JSON.parse(document.getElementById(id).textContent);
  const store = document.getElementById("chart-data") ? json("chart-data") : { time: {}, charts: {} };

  // ---- What is packed (pages/packing.py): deflated, and each 4 bytes written as 5 characters ----

  const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;,=>?@^_`{|}~";
  const digitOf = new Uint8Array(128);
  [...DIGITS].forEach((digit, i) => { digitOf[digit.charCodeAt()] = i; });

  function textOf(packed) {
    const words = new DataView(new ArrayBuffer(4 * Math.ceil(packed.length / 5)));
    for (let i = 0; i < packed.length; i += 5) {
      let word = 0;
      for (const digit of packed.slice(i, i + 5).padEnd(5, "~")) word = 85 * word + digitOf[digit.charCodeAt()];
      words.setUint32(4 * i / 5, word);
    }
    const stream = new Blob([words.buffer.slice(0, Math.floor(4 * packed.length / 5))]).stream();
    return new Response(stream.pipeThrough(new DecompressionStream("deflate"))).text();
  }

  // Vega is as large as all else, and only a chart needs it.
  async function runVega() {
    const textContent = await textOf(document.getElementById("vega").textContent);
    document.head.append(element("script", { textContent }));
  }

  const loaded = new Map();
  const theVega = () => once(loaded, "vega", runVega);

  // ---- Packed parts of a report, in the page or in files beside it -----------------------------

  // What is packed, and in which part; null on pages that have no packed parts.
  const packedIndex = document.getElementById("shard-index");
  const indexed = packedIndex ? textOf(packedIndex.textContent).then(JSON.parse) : null;
  const fileOfRun = new Map();
  if (indexed) indexed.then(({ runs, time }) => {
    store.time = time;
    runs.forEach((run) => fileOfRun.set(run[0], run[4]));
  });

  const shard = (file) => once(loaded, file, loadShard);

  // A file of a page that was opened from a disk can be had as a script alone: it calls this.
  window.bdpbenchShard = (text) => document.currentScript.handOver(text);

  const partsInPage = all("script.shard");

  async function packedPart(part) {
    const { folder, files } = await indexed;
    if (!folder) return partsInPage[part].textContent;
    return new Promise((resolve, reject) => {
      const src = `${folder}/${files[part]}`;
      const onerror = () => {
        loaded.delete(part);
        reject(new Error(`${src}, which belongs beside this page, cannot be read`));
      };
      document.head.append(element("script", { handOver: resolve, onerror, src }));
    });
  }

  async function loadShard(part) {
    const content = JSON.parse(await textOf(await packedPart(part)));
    Object.assign(store.charts, content.charts);
    placePoints(content);
    Object.entries(content.series).forEach(([run, series]) => parsed.set(run, series));
    return content;
  }

  // Gives each series its differences, which stand by table (pages/shards.py).
  function placePoints({ series, t, v }) {
    const found = Object.values(series).flatMap((tables) => Object.entries(tables)
      .flatMap(([table, subjects]) => Object.values(subjects).filter(({ of }) => !of).map((each) => [table, each])));
    found.sort(([a], [b]) => (a < b ? -1 : Number(a > b)));
    found.forEach(([, each], i) => Object.assign(each, { t: t[i], v: v[i] }));
  }

  // Printing waits for nothing, so what the page itself carries is unpacked while nobody waits.
  async function unpackAll() {
    if (document.getElementById("vega")) await theVega();
    for (const part of partsInPage.keys()) {
      await shard(part);
    }
    document.documentElement.dataset.unpacked = "yes";
  }
  window.addEventListener("load", () => setTimeout(unpackAll, 500));

  // What an element shows, of the columns of its kind (pages/shards.py).
  function rowOf({ rows }, id) {
    const columns = rows[id.split("-")[0]];
    const i = columns.id.indexOf(id);
    return Object.fromEntries(Object.entries(columns).map(([key, values]) => [key, values[i]]));
  }

  const htmlOf = (content, id) => rowOf(content, id).html.join("\n");

  // The content of a chart, when it and the series of its runs are there.
  async function contentOf(name) {
    if (!indexed) return store.charts[name];
    if (!store.charts[name]) await shard((await indexed).charts[name]);
    const chart = store.charts[name];
    await indexed;
    const missing = (chart.traces || []).filter(({ run }) => !parsed.has(run));
    await Promise.all(missing.map(({ run }) => shard(fileOfRun.get(run))));
    return chart;
  }

  // ---- Series -----------------------------------------------------------------------------

  const parsed = new Map();
  const unpacked = new Map();

  function pointsOf(trace, table) {
    if (trace.points) return trace.points; // what the page itself has computed
    const key = `${trace.run} ${table} ${trace.subject}`;
    if (!unpacked.has(key)) {
      if (!parsed.has(trace.run)) parsed.set(trace.run, json(`series-${trace.run}`));
      const { dt, dv, t, v, of, by } = parsed.get(trace.run)[table][trace.subject];
      unpacked.set(key, of ? multiple(pointsOf(trace, of), by) : unpackedPoints({ dt, dv, t, v }));
    }
    return unpacked.get(key);
  }

  const unpackedPoints = ({ dt, dv, t, v }) => ({ t: running(t, dt), v: running(v, dv) });
  const multiple = ({ t, v }, by) => ({ t, v: v.map((value) => Number((value * by).toPrecision(6))) });

  // Sums of differences, in steps; dividing by a whole number leaves 12.34 what it is.
  function running(differences, step) {
    const perUnit = Math.round(1 / step);
    let count = 0;
    return differences.map((difference) => {
      count += difference;
      return step < 1 ? count / perUnit : count * step;
    });
  }

  function samplesOf(chart) {
    return chart.traces.flatMap((trace) => {
      const { t, v } = pointsOf(trace, chart.kind);
      const samples = t.map((time, i) => ({ t: time, v: v[i], s: trace.label }));
      // A step needs a beginning: the first mean covers as much time as the second.
      if (chart.kind === "throughput" && t.length > 1) {
        samples.unshift({ ...samples[0], t: Math.max(0, 2 * t[0] - t[1]) });
      }
      return chart.gap ? samples.flatMap((each, i) => broken(each, samples[i - 1], chart.gap)) : samples;
    });
  }

  // A sample, behind one without a value where more time than this lies between it and the last.
  function broken(sample, before, gap) {
    const isNear = !before || sample.t - before.t <= gap;
    return isNear ? [sample] : [{ ...sample, t: (sample.t + before.t) / 2, v: null }, sample];
  }

  // [time, packets] of what was dropped, of charts that show it.
  function dropsOf(chart) {
    return (chart.drops || []).flatMap((each) => {
      const { t, v } = pointsOf(each, "drops");
      return t.map((time, i) => [time, v[i]]);
    });
  }

  // ---- Drawing ----------------------------------------------------------------------------

  // Widths in pixels of a letter of a legend, and of what stands around a name.
  const LETTER = 7;
  const AROUND_A_NAME = 40;

  // The words of a rule at the top of a plot stand between it and the legend.
  const ABOVE_WORDS = 18;

  // Of a chart over time on a phone, px: several of them are seen at once.
  const NARROW = 420;
  const NARROW_HEIGHT = 160;

  const longestOf = (labels) => Math.max(...labels.map((label) => label.length));

  function specOf(chart, canvas) {
    const spec = chart.kind === "spec" ? structuredClone(chart.spec) : timeSpecOf(chart);
    const labels = chart.labels || chart.traces.map(({ label }) => label);
    const widest = longestOf(labels) * LETTER + AROUND_A_NAME;
    spec.config.legend.columns = Math.max(1, Math.floor(canvas.clientWidth / widest));
    if (chart.thresholds && chart.thresholds.length) spec.config.legend.offset = ABOVE_WORDS;
    if (chart.thresholds && canvas.clientWidth < NARROW) spec.height = NARROW_HEIGHT;
    spec.description = canvas.getAttribute("aria-label");
    nameOnce(spec, labelsFit(chart, labels, canvas));
    return spec;
  }

  // ---- Names at the ends of lines, or a legend ---------------------------------------------------

  const MOST_NAMED = 8;
  const NAME_LETTER = 6.2;
  const WIDEST_NAMES = 0.34; // of the chart

  function labelsFit(chart, labels, canvas) {
    if (labels.length < 2 || labels.length > MOST_NAMED || chart.unit) return false;
    return longestOf(labels) * NAME_LETTER < WIDEST_NAMES * canvas.clientWidth;
  }

  // The layer of the names is that of "names_at_ends" (pages/specs.py).
  function nameOnce(spec, atEnds) {
    const others = spec.layer.filter(({ name }) => name !== "ends");
    if (!atEnds) spec.layer = others;
    else if (others.length < spec.layer.length) {
      const channels = others.flatMap(({ encoding: { color, strokeDash } = {} }) => [color, strokeDash]);
      channels.filter((each) => each && each.field).forEach((each) => { each.legend = null; });
    }
  }

  // Marks outside of the plot of a chart that zooms get no events of their own.
  function pickByName(view) {
    view.addEventListener("click", ({ clientX, clientY }) => {
      const names = all("svg.marks .ends_layer_1_marks text", view.container());
      const hit = names.find((each) => {
        const { left, right, top, bottom } = each.getBoundingClientRect();
        return left <= clientX && clientX <= right && top <= clientY && clientY <= bottom;
      });
      if (hit) pick(view, hit.textContent);
    });
  }

  // Picks a line by its name, or no line if it is picked already, as the legend does.
  function pick(view, name) {
    const [now] = view.data("chosen_store");
    const fields = view.signal("chosen_tuple_fields");
    const row = { unit: "lines", fields, values: [name] };
    view.data("chosen_store", now && now.values[0] === name ? [] : [row]).runAsync();
  }

  function timeSpecOf(chart) {
    const spec = structuredClone(store.time[chart.kind]);
    const { x, y, color, strokeDash } = spec.layer[0].encoding;
    const { traces, thresholds, bands = [] } = chart;
    const domain = traces.map(({ label }) => label);
    x.scale.domain = [chart.start || 0, chart.end];
    y.scale.domain = [0, chart.top];
    color.scale = { domain, range: traces.map(({ colour }) => colour) };
    // Dashes tell curves of one chart apart; a single one needs none.
    strokeDash.scale = { domain, range: traces.map(({ dash }) => (traces.length > 1 ? dash : [1, 0])) };
    const drops = dropsOf(chart).map(([time]) => ({ t: time }));
    spec.datasets = { samples: samplesOf(chart), thresholds, drops, bands };
    // A layer without rows has no extent.
    spec.layer = spec.layer.filter(({ data, name }) => name === "lines" || spec.datasets[data.name].length);
    return spec;
  }

  const options = {
    renderer: "svg",
    actions: { export: true, source: false, compiled: false, editor: false },
  };

  const drawings = new Map();

  const draw = (canvas) => once(drawings, canvas, drawAnew);

  function redraw(canvas) {
    canvas.replaceChildren();
    canvas.classList.remove("vega-embed", "has-actions");
    delete canvas.dataset.drawn;
    drawings.delete(canvas);
    draw(canvas);
  }

  async function drawAnew(canvas) {
    try {
      const [chart, names] = onlyChosen(await contentOf(canvas.dataset.chart));
      tellChoice(canvas.closest("figure"), names);
      if (canvas.dataset.apart === undefined && (chart.medians || chart.apart)) {
        canvas.dataset.apart = "yes";
        offerBoth(canvas, chart.medians ? "as bands" : "one by one");
      }
      await (canvas.dataset.apart === "yes" ? drawParts : drawWhole)(chart, canvas);
      canvas.dataset.drawn = "yes";
    } catch (error) {
      tellFailure(canvas, "This chart", error);
      canvas.dataset.drawn = "failed";
    }
  }

  const embedded = async (place, spec, canvas) => {
    const named = { ...options, downloadFileName: canvas.dataset.chart };
    await theVega();
    const { view } = await window.vegaEmbed(place, spec, named);
    // The chart as a whole has a text alternative: its marks are not read out one by one.
    place.querySelector("svg.marks").setAttribute("aria-hidden", "true");
    place.querySelector("summary").setAttribute("aria-label", "Save the chart");
    // Vega names a gradient by the page's address, which a choice of the reader changes.
    all("[fill*='#gradient']", place).forEach((mark) => mark.setAttribute("fill", mark.getAttribute("fill").replace(/^url\(.*#/, "url(#")));
    return view;
  };

  async function drawWhole(chart, canvas) {
    const view = await embedded(canvas, specOf(chart, canvas), canvas);
    if (chart.kind === "spec") openRunsOnClick(view);
    else {
      pickByName(view);
      readValues(canvas, chart, view);
      if (!chart.unit) moveTogether(canvas, view);
    }
  }

  // ---- Curves that swing too often to lie on one another, and many as medians and bands -----------

  const PART_HEIGHT = 62;

  // What a part shows of one curve, without the words that stand above all parts.
  function onlyTrace(chart, trace) {
    const isOwn = ({ of }) => !of || of.includes(trace.label);
    const thresholds = chart.thresholds.filter(isOwn).map((each) => ({ ...each, label: "" }));
    return { ...chart, traces: [trace], thresholds };
  }

  function asBands(chart) {
    const traces = chart.medians.map((each) => ({ ...each, points: unpackedPoints(each.v) }));
    const bands = traces.flatMap(({ label, points: { t, v }, ...ends }) => {
      const [low, high] = [ends.low, ends.high].map((each) => unpackedPoints(each).v);
      return t.map((time, i) => ({ s: label, t: time, v: v[i], low: low[i], high: high[i] }));
    });
    return { ...chart, traces, bands };
  }

  async function drawParts(chart, canvas) {
    const { medians, thresholds } = chart;
    const rules = thresholds.map(({ label }) => label).filter(Boolean).join("; ");
    const title = `${store.time[chart.kind].layer[0].encoding.y.title}${rules ? `; dashed: ${rules}` : ""}`;
    const told = medians
      ? `Medians of ${chart.traces.length} curves; the bands hold those from the 10th to the 90th percentile.` : title;
    canvas.append(element("p", { className: "quantity" }, told));
    const parts = medians ? [asBands(chart)] : chart.traces.map((trace) => onlyTrace(chart, trace));
    for (const [i, own] of parts.entries()) {
      const place = element("div", { className: "part" });
      canvas.append(place);
      const spec = specOf(own, canvas);
      if (!medians) {
        const { x, y } = spec.layer[0].encoding;
        spec.height = PART_HEIGHT;
        spec.config.legend.offset = 2;
        y.axis = { tickCount: 3, title: null };
        if (i < parts.length - 1) x.axis = { labels: false, title: null };
      }
      const view = await embedded(place, spec, canvas);
      readValues(place, own, view);
      moveTogether(canvas, view);
    }
  }

  // A reader may lay the curves on one another after all.
  function offerBoth(canvas, otherwise) {
    const button = element("button", { type: "button", className: "csv" });
    const tell = () => { button.textContent = canvas.dataset.apart === "yes" ? "curves in one chart" : `curves ${otherwise}`; };
    button.addEventListener("click", () => {
      canvas.dataset.apart = canvas.dataset.apart === "yes" ? "no" : "yes";
      redraw(canvas);
      tell();
    });
    tell();
    canvas.closest("figure").querySelector("figcaption").append(" ", button);
  }

  function openRunsOnClick(view) {
    view.addEventListener("click", (_, item) => {
      const run = item && item.datum && item.datum.run_id;
      if (item && item.datum && item.datum.number) location.hash = `more-${item.datum.number}`;
      else if (run) location.hash = `run-${run}`;
    });
  }

  // Charts of one group share the interval of time that they show.
  const shown = new Map();

  function moveTogether(canvas, view) {
    const group = canvas.closest(".charts");
    if (!shown.has(group)) shown.set(group, { views: [], interval: null });
    const state = shown.get(group);
    state.views.push(view);
    if (state.interval) view.signal("zoom_t", state.interval).run();
    view.addSignalListener("zoom_t", (_, interval) => {
      if (String(interval) === String(state.interval)) return;
      state.interval = interval;
      for (const other of state.views) {
        if (other !== view) other.signal("zoom_t", interval).runAsync();
      }
    });
  }

  // ---- Values under the pointer -----------------------------------------------------------

  // A sample of a mean stands for the time that ends with it, any other for its own instant.
  const ENDS_ITS_TIME = new Set(["throughput", "utilization", "mean_queue", "delay", "rtt"]);

  function sampleAt(times, time, { kind, unit }) {
    const low = Math.max(0, times.findLastIndex((each) => each < time));
    const high = Math.min(low + 1, times.length - 1);
    if (time <= times[low]) return low;
    if (unit) return time < times[high] ? low : high; // a share holds up to the next value
    return ENDS_ITS_TIME.has(kind) || times[high] - time < time - times[low] ? high : low;
  }

  const number = new Intl.NumberFormat("en", { maximumSignificantDigits: 5 });
  const numberOf = (value) => (
    Number.isInteger(value) ? value.toLocaleString("en") : number.format(value)).replace("-", "−");

  function readValues(canvas, chart, view) {
    const [cursor, readout] = ["cursor", "readout"].map((className) => element("div", { className, hidden: true }));
    canvas.append(cursor, readout);
    const hide = () => { cursor.hidden = readout.hidden = true; };
    canvas.addEventListener("pointerleave", hide);
    canvas.addEventListener("pointermove", (event) => {
      const box = canvas.getBoundingClientRect();
      const pixel = event.clientX - canvas.querySelector("svg.marks").getBoundingClientRect().left;
      const { left: beside, top: above } = view.padding(); // which Vega does not count as origin
      const inside = pixel - beside - view.origin()[0];
      if (inside < 0 || inside > view.width()) return hide();
      const time = view.scale("x").invert(inside);
      cursor.style.left = `${event.clientX - box.left}px`;
      cursor.style.top = `${above + view.origin()[1]}px`;
      cursor.style.height = `${view.height()}px`;
      const reach = view.scale("x").invert(inside + NEAR_A_MARK) - time;
      readout.replaceChildren(...readoutLines(chart, time), ...droppedLines(chart, time, reach));
      cursor.hidden = readout.hidden = false;
      const room = box.width - (event.clientX - box.left);
      const width = readout.offsetWidth;
      const left = room > width + 16 ? box.width - room + 12 : box.width - room - width - 12;
      readout.style.left = `${Math.max(0, left)}px`;
      readout.style.top = "2rem";
    });
  }

  // Pixels from a mark within which it is told.
  const NEAR_A_MARK = 3;

  function droppedLines(chart, time, reach) {
    const near = dropsOf(chart).filter(([at]) => Math.abs(at - time) <= reach);
    if (!near.length) return [];
    const count = near.reduce((sum, [, packets]) => sum + packets, 0);
    return [element("div", {}, `packets dropped: ${number.format(count)}`)];
  }

  function readoutLines(chart, time) {
    const head = element("div", {}, `${number.format(time)} ${chart.unit || "s"}`);
    return [head, ...chart.traces.slice(0, 12).map((trace) => {
      const { t, v } = pointsOf(trace, chart.kind);
      const swatch = element("i");
      swatch.style.borderColor = trace.colour;
      return element("div", {}, swatch, `${trace.label}: ${number.format(v[sampleAt(t, time, chart)])}`);
    })];
  }

  // ---- Downloads -----------------------------------------------------------------------------

  // RFC 4180: a field with a separator, a quote or a line break stands in quotes.
  const csvField = (value) => {
    const text = value === null || value === undefined ? "" : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const csvOf = (rows) => rows.map((row) => `${row.map(csvField).join(",")}\r\n`).join("");

  function download(name, text, ending = "csv") {
    const href = URL.createObjectURL(new Blob([text], { type: ending === "csv" ? "text/csv" : "application/json" }));
    element("a", { href, download: `${document.documentElement.dataset.name}-${name}.${ending}` }).click();
    setTimeout(() => URL.revokeObjectURL(href), 10000);
  }

  // A cell with a value for sorting has it with all digits; the text is for readers.
  const cellText = (cell) => cell.innerText.replace(/\s+/g, " ").trim();
  const cellValue = (cell) => {
    const { value, csv } = cell.dataset;
    if (csv !== undefined) return csv; // where a reader sees symbols and marks
    return cell.classList.contains("number") && value !== undefined ? value : cellText(cell);
  };

  function rowsOfTable(table) {
    const rows = [...table.rows].filter((row) => !row.matches(".more-row, .group-row"));
    const kept = rows.filter((row) => !row.closest("tbody[hidden]") && !row.matches(".filtered-out"));
    return kept.map((row) => [...row.cells].map(cellValue));
  }

  // A list as a table: its parts that name a column, several of one column one after the other.
  function rowsOfList(list) {
    const columns = [...new Set(all("[data-column]", list).map(({ dataset }) => dataset.column))];
    const partsOf = (entry, column) => all(`[data-column="${column}"]`, entry).map(cellValue);
    const rows = all("[data-filter]:not([hidden])", list).map((entry) => [
      entry.dataset.id,
      ...columns.map((column) => partsOf(entry, column).join("; ")),
    ]);
    return [["Id", ...columns], ...rows];
  }

  // All rows of data that a specification has.
  const rowsOfSpec = (spec) => Object.values(spec.datasets || {}).flat();

  function rowsOfChart(chart) {
    if (chart.kind !== "spec") {
      const rows = chart.traces.flatMap((trace) => {
        const { t, v } = pointsOf(trace, chart.kind);
        return t.map((time, i) => [trace.run, trace.label, time, v[i]]);
      });
      const columns = ["run_id", "series", ...(chart.columns || ["time_s", chart.kind])];
      if (!chart.drops) return [columns, ...rows];
      const { run } = chart.drops[0];
      const dropped = dropsOf(chart).map(([time, packets]) => [run, "drops", time, "", packets]);
      return [[...columns, "dropped_pkts"], ...rows, ...dropped];
    }
    const records = rowsOfSpec(chart.spec);
    const columns = [...new Set(records.flatMap((record) => Object.keys(record)))];
    return [columns, ...records.map((record) => columns.map((column) => record[column]))];
  }

  function csvButton(what, onclick, kind = "CSV") {
    const title = `Download ${what} as ${kind}`;
    return element("button", { type: "button", className: "csv", title, ariaLabel: title, onclick }, kind);
  }

  const csvRow = (what, onclick) => element("p", { className: "csv-row screen-only" }, csvButton(what, onclick));

  function offerCsv(root) {
    all("figure.chart", root).forEach((figure) => {
      const canvas = figure.querySelector(".canvas");
      const name = canvas.dataset.chart;
      const rows = async () => download(name, csvOf(rowsOfChart(await contentOf(name))));
      const spec = async () => download(name, JSON.stringify(specOf(await contentOf(name), canvas)), "vl.json");
      const link = element("a", { className: "csv screen-only", href: `#${figure.id}`, title: "A link to this chart" }, "link");
      const buttons = [csvButton("the chart's data", rows), csvButton("the chart", spec, "Vega-Lite"), link];
      figure.querySelector("figcaption").append(...buttons.flatMap((each) => [" ", each]));
    });
    all("table", root).forEach((table, i) => {
      nameCells(table);
      const run = table.closest("details.run");
      const place = run ? run.id : (table.closest("section[id]") || document.body).id;
      const name = table.dataset.csv || `${place}-table-${i + 1}`;
      (table.closest(".scroll") || table).after(csvRow("the table", () => download(name, csvOf(rowsOfTable(table)))));
    });
    all("ol[data-csv]", root).forEach((list) => {
      list.after(csvRow("the list", () => download(list.dataset.csv, csvOf(rowsOfList(list)))));
    });
  }

  // On a phone a row is a card, whose values carry the names of their columns.
  function nameCells(table) {
    if (!table.closest(".scroll") || !table.tHead || table.matches(".numbers")) return;
    const heads = [...[...table.tHead.rows].at(-1).cells];
    const rows = [...table.tBodies].flatMap((body) => [...body.rows]);
    if (rows.some(({ cells }) => cells.length !== heads.length)) return;
    const names = heads.map((head) => {
      const copy = head.cloneNode(true);
      all("br", copy).forEach((each) => each.replaceWith(" "));
      return head.dataset.csv || copy.textContent.replace(/\s+/g, " ").trim();
    });
    table.classList.add("cards");
    rows.forEach(({ cells }) => [...cells].forEach((cell, i) => { cell.dataset.label = names[i]; }));
  }

  // ---- Any table can be sorted and filtered --------------------------------------------------

  // Below these there is nothing to sort or to look for.
  const ROWS_TO_SORT = 3;
  const ROWS_TO_FILTER = 12;

  // "9,410 packets" is 9410, "−0.307" is -0.307, a dash and "not reached" are not values.
  function sortKey(cell) {
    if (!cell) return null;
    const text = cell.dataset.sort ?? cellValue(cell);
    if (["", "–", "not reached"].includes(text)) return null;
    const found = text.replaceAll(",", "").replace("−", "-").match(/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?/i);
    return found ? Number(found[0]) : text;
  }

  function compare(a, b) {
    if (a === null || b === null) return (a === null) - (b === null);
    if (typeof a === "number" && typeof b === "number") return a - b;
    return String(a).localeCompare(String(b), "en", { numeric: true });
  }

  // Whether the order falls now: a second click on the head turns it around.
  function turn(header) {
    const falling = header.getAttribute("aria-sort") === "ascending";
    all("th[aria-sort]", header.parentElement).forEach((each) => each.removeAttribute("aria-sort"));
    header.setAttribute("aria-sort", falling ? "descending" : "ascending");
    return falling;
  }

  // Rows without a value stay at the end.
  function inOrder(rows, keyed, falling) {
    const keys = new Map(rows.map((row) => [row, keyed(row)]));
    return rows.sort((one, other) => {
      const [a, b] = [keys.get(one), keys.get(other)];
      return falling && a !== null && b !== null ? -compare(a, b) : compare(a, b);
    });
  }

  // A row with its details is a body of the table; all others stand in one.
  function sortRows(header) {
    const falling = turn(header);
    const table = header.closest("table");
    const [body, more] = table.tBodies;
    const keyed = ({ rows, cells }) => sortKey((rows ? rows[0].cells : cells)[header.cellIndex]);
    if (more) table.append(...inOrder([...table.tBodies], keyed, falling));
    else body.append(...inOrder([...body.rows], keyed, falling));
  }

  function sortButton(header) {
    const ariaLabel = `Sort by ${header.textContent.trim()}`;
    const onclick = () => sortRows(header);
    const button = element("button", { type: "button", className: "sort", ariaLabel, onclick });
    // A head that is a link stays one, with the button beside it.
    if (!header.querySelector("a")) button.append(...header.childNodes);
    header.append(button);
  }

  function filterRows(table, text) {
    const words = wordsOf(text);
    for (const row of table.tBodies[0].rows) {
      const content = row.textContent.toLowerCase();
      row.classList.toggle("filtered-out", !words.every((word) => content.includes(word)));
    }
  }

  function filterField(table) {
    const field = element("input", { type: "search", autocomplete: "off" });
    field.addEventListener("input", () => filterRows(table, field.value));
    return element("label", { className: "row-filter screen-only" }, "Filter the rows ", field);
  }

  function offerSorting(root) {
    all("table:not(.numbers)", root).forEach((table) => {
      const [body] = table.tBodies;
      if (!body || body.rows.length < ROWS_TO_SORT) return;
      all("thead:not(.hidden-text) tr:last-child th", table).forEach(sortButton);
      if (body.rows.length >= ROWS_TO_FILTER) {
        (table.closest(".scroll") || table).before(filterField(table));
      }
    });
  }

  function offerTools(root) {
    offerCsv(root);
    offerSorting(root);
  }

  // ---- Charts come when they are looked at ---------------------------------------------------

  const watcher = new IntersectionObserver((entries) => {
    for (const { target } of entries.filter((each) => each.isIntersecting)) {
      watcher.unobserve(target);
      if (target.matches(".view")) offer(target.previousElementSibling);
      else draw(target);
    }
  }, { rootMargin: "400px" });
  const watch = (root) => all(".canvas[data-chart]", root).forEach((each) => watcher.observe(each));

  // What a run has to say is thousands of elements that few readers open: it is packed
  // and is made when it is asked for.
  const unfolded = new Map();

  const escaped = (text) => text.replace(/[&<>"]/g, (each) => `&#${each.charCodeAt(0)};`);
  const fold = (title, told, body) => (
    `<details class="fold"><summary><h5>${title}</h5> <span class="answer">${told}</span></summary>${body}</details>`);

  // A cell is a text, a number, or a text and what it links to.
  function cellOf(cell, place) {
    const [told, link] = [cell].flat();
    const isNumber = typeof told === "number";
    const text = isNumber ? numberOf(told) : escaped(told);
    const open = `${place ? "td" : 'th scope="row"'}${isNumber ? ` class="number" data-value="${told}"` : ""}`;
    return `<${open}>${link ? `<a href="${escaped(link)}">${text}</a>` : text}</${place ? "td" : "th"}>`;
  }

  function tableOf({ title, head, columns }, label) {
    const isNumber = (place) => columns[place].some((cell) => typeof cell === "number");
    const heads = head.map((name, place) => `<th scope="col"${isNumber(place) ? ' class="number"' : ""}>${name}</th>`);
    const body = columns[0].map((_, row) => `<tr>${columns.map((each, place) => cellOf(each[row], place)).join("")}</tr>`);
    return fold(title, body.length, `<div class="scroll" tabindex="0" role="region" aria-label="${title} of ${escaped(label)}">
      <table><thead><tr>${heads.join("")}</tr></thead><tbody>${body.join("")}</tbody></table></div>`);
  }

  // The rows are those of run_rows in pages/experiments.py.
  function bodyOfRun({ html, tables, texts }, label) {
    const parts = texts.map(([title, words]) => fold(title, "", `<pre tabindex="0"><code>${escaped(words.join(" "))}</code></pre>`));
    return `<div class="run-body">${html.join("\n")}${tables.map((each) => tableOf(each, label)).join("")}${parts.join("")}</div>`;
  }

  const unfold = (details) => once(unfolded, details, unfoldAnew);

  async function unfoldAnew(details) {
    try {
      await indexed;
      const content = await shard(fileOfRun.get(details.id.replace("run-", "")));
      const row = rowOf(content, details.id);
      Object.assign(store.charts, row.charts);
      details.insertAdjacentHTML("beforeend", bodyOfRun(row, details.querySelector("summary").firstChild.textContent));
    } catch (error) {
      unfolded.delete(details);
      return tellFailure(details, "This run", error);
    }
    offerTools(details);
    watch(details);
  }

  // The details of a number are packed in the same way; they have no charts.
  async function unfoldNumber(details) {
    const [cell] = details.cells;
    if (cell.hasChildNodes()) return;
    try {
      const { numbers } = await indexed;
      const html = htmlOf(await shard(numbers[details.id.replace("more-", "")]), details.id);
      if (!cell.hasChildNodes()) cell.innerHTML = html;
    } catch (error) {
      tellFailure(cell, "What is known of it", error);
    }
  }

  const unfoldsWhenOpened = (details) => details.addEventListener("toggle", () => unfold(details));
  all("details.run").forEach(unfoldsWhenOpened);
  offerTools(document);
  watch(document);

  async function showEverything() {
    document.documentElement.classList.add("everything");
    await Promise.all([...all("details.run").map(unfold), ...all(".more-row").map(unfoldNumber)]);
    all("details").forEach((each) => { if (!each.closest(".vega-embed")) each.open = true; });
    return Promise.all(all(".canvas[data-chart]").map(draw));
  }

  // A browser that prints waits for no more than promises that are kept at once. What the page
  // shows is drawn in that time, wherever it was scrolled to. Of what is folded, paper has what the
  // summary rests on and all numbers: the rest would be hundreds of pages (?all has it).
  const isShown = (canvas) => canvas.offsetParent && !canvas.closest("details:not([open])");
  window.addEventListener("beforeprint", () => {
    all("#summary details.fold, #all-numbers").forEach((each) => { each.open = true; });
    all(".canvas[data-chart]").filter(isShown).forEach(draw);
  });

  // ---- Views of an experiment ----------------------------------------------------------------

  all(".views, select.choose-view").forEach((choice) => {
    const choose = () => [...(choice.options || all("input", choice))].forEach((each) => {
      document.getElementById(each.value).hidden = !(each.checked || each.selected);
    });
    choose(); // a browser may keep the previous choice when it reloads the page
    choice.addEventListener("change", choose);
  });

  // ---- Runs and views of a large report --------------------------------------------------------

  const MOST_LISTED = 100;

  // A number is looked for as a whole: 20 is not found in 1,200, nor in 20.5.
  function holds(text, words) {
    const parts = text.toLowerCase().split(/\s+/).map((part) => part.replace(/[,;:]$/, ""));
    const isNumber = (word) => /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(word);
    const fits = (word) => (part) => (isNumber(word) ? part.replaceAll(",", "") === word : part.includes(word));
    return words.every((word) => parts.some(fits(word.replaceAll(",", ""))));
  }

  function runDetails([id, label, , finished]) {
    const head = element("summary", {}, element("h3", {}, label), " ", element("code", {}, id));
    if (!finished) head.append(" ", element("span", { className: "tag" }, "no results yet"));
    const details = element("details", { className: "run", id: `run-${id}` }, head);
    unfoldsWhenOpened(details);
    return details;
  }

  // Elements of runs that were listed before are listed again, opened or not.
  const listed = new Map();

  async function offerRuns(form) {
    const { runs, scenarios } = await indexed;
    const { scenario, text, shown: output } = form.elements;
    const list = document.getElementById("found-runs");
    const more = document.getElementById("more-runs");
    let most = MOST_LISTED;
    let first = null; // the run that a link asked for stands at the top
    scenario.append(...scenarios.map(([key, title]) => new Option(title, key)));

    const find = () => {
      const words = wordsOf(text.value);
      const place = scenarios.findIndex(([key]) => key === scenario.value);
      const found = runs.filter((run) => (place < 0 || run[2] === place) && holds(`${run[1]} ${run[0]}`, words));
      const shown = found.slice(0, most).filter((run) => run !== first);
      const each = (run) => once(listed, run[0], () => runDetails(run));
      list.replaceChildren(...(first ? [first, ...shown] : shown).map(each));
      more.hidden = found.length <= most;
      output.value = `${found.length.toLocaleString("en")} of ${runs.length.toLocaleString("en")} runs`;
    };
    const anew = () => { most = MOST_LISTED; first = null; find(); };
    form.addEventListener("input", anew);
    form.addEventListener("reset", () => setTimeout(anew));
    more.addEventListener("click", () => { most += MOST_LISTED; find(); });
    all("a[data-scenario]").forEach((link) => link.addEventListener("click", (event) => {
      event.preventDefault();
      scenario.value = link.dataset.scenario;
      text.value = link.dataset.find || "";
      location.hash = "runs";
      anew();
    }));
    find();
    return (id) => {
      const run = runs.find((each) => each[0] === id);
      if (run && !document.getElementById(`run-${id}`)) { first = run; find(); }
    };
  }

  document.addEventListener("submit", (event) => event.preventDefault()); // all forms are filters

  const runForm = document.getElementById("find-runs");
  const showRun = runForm ? offerRuns(runForm) : null;

  async function offerViews(block) {
    const { experiment } = block.dataset;
    const views = (await indexed).views[experiment];
    const place = block.nextElementSibling;
    const [text, list] = block.querySelectorAll("input, select");
    text.closest("label").hidden = views.length <= MOST_LISTED;
    block.hidden = views.length < 2;

    const show = async () => {
      const number = Number(list.value);
      const id = `view-${experiment}-${number + 1}`;
      place.innerHTML = htmlOf(await shard(views[number][1]), id);
      offerTools(place);
      watch(place);
    };
    const find = () => {
      const words = wordsOf(text.value);
      const found = views.map(([title], number) => ({ title, number })).filter(({ title }) => holds(title, words));
      list.replaceChildren(...found.slice(0, MOST_LISTED).map(({ title, number }) => new Option(title, number)));
      if (found.length > MOST_LISTED) list.append(new Option(`… ${found.length - MOST_LISTED} more`, ""));
      if (list.lastChild && list.lastChild.value === "") list.lastChild.disabled = true;
      if (found.length) show();
    };
    text.addEventListener("input", find);
    list.addEventListener("change", show);
    find();
    return (number) => {
      list.append(new Option(views[number][0], number));
      list.selectedIndex = list.options.length - 1;
      return show();
    };
  }
  const offered = new Map();
  const offer = (block) => once(offered, block, offerViews);

  all(".view[data-views]").forEach((each) => watcher.observe(each));

  // ---- Filters of numbers and statements --------------------------------------------------------

  // What was chosen in a filter, for paper, which does not show the filter itself.
  function chosenIn(form) {
    return all("select, input", form).filter(({ value }) => value).map((field) => {
      const name = field.closest("label").firstChild.textContent.trim().toLowerCase();
      return `${name}: ${field.options ? field.selectedOptions[0].text : field.value}`;
    });
  }

  function clear(form) {
    all("select, input", form).forEach((field) => { field.value = ""; });
    form.dispatchEvent(new Event("input", { bubbles: true }));
  }

  function offerFilter(form) {
    const section = form.closest("section");
    const entries = all("[data-filter]", section);
    const value = (name) => (form.elements[name] ? form.elements[name].value : "");
    const among = (wanted, given) => !wanted || given.split("|").includes(wanted);
    const apply = () => {
      const words = wordsOf(value("text"));
      for (const entry of entries) {
        const { verdict, origins, protocols, text } = entry.dataset;
        entry.hidden = !(among(value("verdict"), verdict)
          && among(value("origin"), origins)
          && among(value("protocol"), protocols)
          && words.every((word) => text.includes(word)));
      }
      const count = entries.filter(({ hidden }) => !hidden).length;
      const chosen = chosenIn(form);
      const shown = `${count} of ${entries.length} ${form.dataset.what}`;
      const onPaper = section.querySelector(".chosen");
      form.elements.shown.value = shown;
      onPaper.textContent = `${shown}; ${chosen.join("; ")}`;
      onPaper.hidden = !chosen.length;
      section.querySelector(".nothing").hidden = count > 0;
    };
    form.addEventListener("input", apply);
    form.querySelector(".clear").addEventListener("click", () => clear(form));
    if (chosenIn(form).length) apply(); // what the page begins with, or a browser keeps
  }

  all(".filter[data-what]").forEach(offerFilter);

  // A link to what a filter hides clears the filter.
  function unfilter(target) {
    const entry = target.closest("[data-filter][hidden]");
    const form = entry && entry.closest("section").querySelector(".filter");
    if (form) clear(form);
  }

  // ---- One protocol on the whole page ------------------------------------------------------------

  // Every name that a text begins with or lists: "HS-TCP, RTT 16 ms", "BIC-TCP and H-TCP with RED".
  const namesIn = (text, known) => (known.has(text) ? [text]
    : text.split(/, | and | with /).filter((part) => known.has(part)));

  let onlyProtocol = "";
  const pageFilter = document.getElementById("page-filter");
  const protocols = new Set(pageFilter ? [...pageFilter.elements.protocol.options].slice(1).map(({ value }) => value) : []);

  const NAMING = ["series", "protocol", "label", "row", "column"];
  const named = (row) => NAMING.map((field) => row[field])
    .filter((text) => typeof text === "string").flatMap((text) => namesIn(text, protocols));

  // Whether a row that names protocols names the chosen one; what names none belongs to all.
  const isOfChosen = (row) => {
    const found = named(row);
    return !found.length || found.includes(onlyProtocol);
  };

  // What a chart shows of the chosen protocol, and whether it names it ("yes"), others ("no"), or none ("").
  function onlyChosen(chart) {
    if (!onlyProtocol) return [chart, "yes"];
    const isSpec = chart.kind === "spec";
    const rows = isSpec ? rowsOfSpec(chart.spec) : chart.traces.map((trace) => ({ ...trace, series: trace.label }));
    const found = new Set(rows.flatMap(named));
    if (!found.has(onlyProtocol)) return [chart, found.size ? "no" : ""];
    if (!isSpec) {
      const own = (lines) => lines && lines.filter(({ label }) => isOfChosen({ series: label }));
      return [{ ...chart, traces: own(chart.traces), medians: own(chart.medians) }, "yes"];
    }
    const spec = structuredClone(chart.spec);
    Object.entries(spec.datasets || {}).forEach(([name, own]) => { spec.datasets[name] = own.filter(isOfChosen); });
    return [{ ...chart, spec }, "yes"];
  }

  // A chart of others goes, and one that names no protocol says that the choice does not change it.
  function tellChoice(figure, names) {
    const told = figure.querySelector(".of-all");
    if (told) told.remove();
    figure.classList.toggle("filtered-out", names === "no");
    if (names) return;
    const said = `It names no single protocol, so it shows the same with ${onlyProtocol} chosen.`;
    figure.querySelector("figcaption").append(element("span", { className: "note of-all" }, said));
  }

  function filterPage() {
    onlyProtocol = pageFilter.elements.protocol.value;
    all("[data-protocols]").filter((each) => !each.matches("[data-filter]")).forEach((each) => {
      const own = each.dataset.protocols.split("|");
      each.classList.toggle("filtered-out", Boolean(onlyProtocol) && !own.includes(onlyProtocol));
    });
    all(".filter[data-what]").forEach((form) => {
      const { protocol } = form.elements;
      if (!protocol) return;
      protocol.value = [...protocol.options].some(({ value }) => value === onlyProtocol) ? onlyProtocol : "";
      form.dispatchEvent(new Event("input"));
    });
    if (runForm) {
      runForm.elements.text.value = onlyProtocol;
      runForm.dispatchEvent(new Event("input"));
    }
    [...drawings.keys()].forEach(redraw);
    pageFilter.elements.shown.value = onlyProtocol ? `Tables, charts, numbers, statements and runs show ${onlyProtocol} only; a chart that names no protocol says so.` : "";
  }
  if (pageFilter) {
    pageFilter.addEventListener("input", filterPage);
    if (pageFilter.elements.protocol.value) filterPage(); // a browser may keep the choice
    all("a[data-choose]").forEach((link) => link.addEventListener("click", () => {
      if (!protocols.has(link.dataset.choose)) return;
      pageFilter.elements.protocol.value = link.dataset.choose;
      filterPage();
    }));
  }

  // What is chosen stands in the address, so that a link leads to the same: report.html?protocol=CUBIC
  const asked = new URLSearchParams(location.search);
  const nameOf = (form, { name }) => [form.dataset.what || (form === runForm && "runs"), name].filter(Boolean).join("-");

  async function keepChoices() {
    await showRun;
    const fields = all("form.filter").flatMap((form) => all("select, input", form)
      .map((field) => ({ form, field, key: nameOf(form, field), usual: field.value })));
    fields.filter(({ key }) => asked.has(key)).forEach(({ form, field, key }) => {
      field.value = asked.get(key);
      form.dispatchEvent(new Event("input", { bubbles: true }));
    });
    document.addEventListener("input", () => {
      fields.forEach(({ field, key, usual }) => (field.value === usual ? asked.delete(key) : asked.set(key, field.value)));
      try { // which a browser may refuse to a page from a disk
        history.replaceState(null, "", `${location.pathname}${asked.size ? `?${asked}` : ""}${location.hash}`);
      } catch { /* the page works without */ }
    });
  }
  keepChoices();

  // Reports that are published together link each other; in one that stands alone these are words.
  const shelf = location.pathname.match(/\/(published\/[^/]+|evaluations)\/[^/]+\.html$/);
  if (shelf) {
    const up = shelf[1] === "evaluations" ? "../published/" : "../";
    all("a[data-published]").forEach((link) => { link.href = up + link.dataset.published; });
  }

  // ---- Scorecard -----------------------------------------------------------------------------

  const table = document.querySelector("table.numbers");

  if (table) {
    all("button", table.tHead).forEach((button) => button.addEventListener("click", () => sortRows(button.closest("th"))));
    all(".more", table).forEach((button) => button.addEventListener("click", () => {
      const open = button.getAttribute("aria-expanded") !== "true";
      button.setAttribute("aria-expanded", String(open));
      const details = document.getElementById(button.getAttribute("aria-controls"));
      details.hidden = !open;
      if (open) unfoldNumber(details);
    }));
  }

  // ---- Links open what they point to ---------------------------------------------------------

  // A chart of a run, or of a view of a large report, is there when that is shown.
  async function bring(id) {
    const [, run] = id.match(/^(?:chart-)?run-([0-9a-f]+)/) || [];
    if (run && showRun) (await showRun)(run);
    const details = document.getElementById(`run-${run}`);
    if (details && id.startsWith("chart-")) await unfold(details);
    for (const block of all(".views-list[data-experiment]")) {
      const [, place] = id.match(`^chart-${block.dataset.experiment}-(\\d+)-`) || [];
      if (place) await (await offer(block))(place);
    }
    return document.getElementById(id);
  }

  async function openTarget() {
    const id = decodeURIComponent(location.hash.slice(1));
    const target = document.getElementById(id) || (await bring(id));
    if (!target) return;
    unfilter(target);
    const [choice] = all(`[value="${(target.closest(".view[hidden]") || {}).id}"]`);
    if (choice) {
      choice[choice.matches("option") ? "selected" : "checked"] = true;
      choice.dispatchEvent(new Event("change", { bubbles: true }));
    }
    if (target.matches(".more-row[hidden]")) target.parentElement.querySelector(".more").click();
    const within = target.querySelector(":scope > details.fold"); // of a section that is folded
    if (within) within.open = true;
    for (let each = target; each; each = each.parentElement) {
      if (each.tagName !== "DETAILS") continue;
      if (each.classList.contains("run")) await unfold(each);
      each.open = true;
    }
    target.scrollIntoView();
  }

  window.addEventListener("hashchange", openTarget);
  // A click on the link of the place that the page is at changes no hash.
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (link && link.getAttribute("href") === location.hash) openTarget();
  });

  // ---- Contents ------------------------------------------------------------------------------

  const isNarrower = (width) => window.matchMedia(`(max-width: ${width}rem)`).matches;
  const contents = document.querySelector(".contents details");
  if (contents && isNarrower(67.99)) contents.open = false;
  if (isNarrower(48)) all("details.wide").forEach((each) => { each.open = false; });
  const links = new Map(all(".contents a").map((link) => [link.hash.slice(1), link]));
  const reader = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      links.forEach((link) => link.removeAttribute("aria-current"));
      links.get(entry.target.id).setAttribute("aria-current", "true");
    }
  }, { rootMargin: "-20% 0px -79% 0px" }); // a band that holds one section, and those around it
  links.forEach((_, id) => reader.observe(document.getElementById(id)));

  if (location.search === "?all") showEverything().then(openTarget);
  else openTarget();
}
