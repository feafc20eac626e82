// What charts show: numbers in the units that were chosen, and curves of them. page.js goes on in the same scope.
// Names from results are written as text; none is handed to the chart library but those of the ranks of a map,
// whose markup is taken from them.
const told = JSON.parse(document.getElementById("data").textContent);
const words = told.words;
const STATISTICS = ["estimate", "low", "high", "mean", "min", "p25", "median", "p75", "p95", "p99", "max"];
const SIGNIFICANT = 3, LOG_FROM = 3, REACH = 3, LEAST_SPAN = 1.33, STEADY = { displayModeBar: false, responsive: true };
const form = document.querySelector("form.switches");
const tip = document.querySelector(".tip");
const status = document.querySelector(".marked");
const sentences = [...document.querySelectorAll(".sentences li[data-c]")];
const charts = new Map();
const chosen = {};
let lit = -1;
let marked = new Set();

// "3 7-9" is 3, 7, 8 and 9.
const numbersOf = (text) => text.split(" ").filter(Boolean).flatMap((run) => {
  const [first, last] = run.split("-").map(Number);
  return Array.from({ length: (last === undefined ? first : last) - first + 1 }, (_, at) => first + at);
});

// ---- Numbers ------------------------------------------------------------------------------------

const UNITS = { time: told.times, rate: told.rates };
const AUTO = { time: ["ns", "us", "ms", "s"], rate: ["MB/s", "GB/s"] };
const sign = (unit) => (unit === "us" || unit === "µs" ? "µs" : unit);

function unitOf(quantity, value) {
  const asked = chosen[quantity] && chosen[quantity] !== "auto" ? chosen[quantity] : told.auto[quantity];
  if (asked !== "auto") return asked;
  const rounded = Number(Math.abs(value).toPrecision(SIGNIFICANT));
  return AUTO[quantity].filter((unit) => UNITS[quantity][unit] <= rounded).pop() || AUTO[quantity][0];
}

function digits(value) {
  if (value === 0) return "0";
  return Math.abs(value) >= 999.5 ? value.toFixed(0) : value.toPrecision(SIGNIFICANT);
}

function written(quantity, value, unit) {
  if (quantity === "ratio") return `${digits(value)} ×`;
  if (quantity === "share") return `${digits(100 * value)} %`;
  const own = unit || unitOf(quantity, value);
  return `${digits(value / UNITS[quantity][own])} ${sign(own)}`;
}

function sized(bytes) {
  const unit = [["MiB", 2 ** 20], ["KiB", 2 ** 10]].find(([, size]) => bytes >= size && bytes % size === 0);
  return unit ? `${bytes / unit[1]} ${unit[0]}` : `${bytes} B`;
}

// ---- What is drawn ------------------------------------------------------------------------------

function valueOf(cell, quantity) {
  const record = told.cells[cell];
  const times = (record.time_ns || []).map((time) => (time === null ? null : time * 1e-9));
  const value = times[STATISTICS.indexOf(chosen.stat)];
  if (value === null || value === undefined) return null;
  const [, low, high] = chosen.stat === "estimate" ? times : [null, null, null];
  if (quantity === "time") return { y: value, low, high };
  if (!value || !record.moved) return null;
  return { y: record.moved / value, low: high && record.moved / high, high: low && record.moved / low };
}

function ratios(chart) {
  const over = (chart.over || []).find((one) => one.name === chosen.over);
  return over && new Map(over.of.map((one) => [one[0], one]));
}

function ratioOf(found, cell) {
  const one = found.get(cell);
  if (!one) return null;
  if (chosen.stat === "estimate") return { y: one[2], low: one[3], high: one[4] };
  const [above, below] = [valueOf(cell, "time"), valueOf(one[1], "time")];
  return above && below && below.y ? { y: above.y / below.y, low: null, high: null } : null;
}

function seenCurves(chart) {
  const state = chosen.state || "";
  return chart.curves.map((curve, at) => ({ ...curve, at, key: chart.keys[at] })).filter(({ key }) => {
    if (!state) return !key.hidden;
    return state === "all" || !key.state || key.state === state;
  });
}

function pointsOf(chart, curve, found) {
  if (chart.kind !== "curves") {
    const none = curve.x.map(() => null);
    const [low, high] = [curve.low || none, curve.high || none];
    const all = curve.x.map((x, at) => ({ x, y: curve.y[at], low: low[at], high: high[at], cell: curve.cells[at] }));
    return curve.joined ? [all] : all.map((one) => [one]);
  }
  return curve.pieces.map((piece) => piece.map((cell) => {
    const value = found ? ratioOf(found, cell) : valueOf(cell, chart.quantity);
    const bytes = told.cells[cell].bytes;
    return value && { x: bytes === 0 ? chart.zero : bytes, cell, ...value };
  }).filter(Boolean)).filter((piece) => piece.length);
}

const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function traces(chart, curve, pieces, scale) {
  const colour = style(`--c${curve.key.colour}`);
  const flat = pieces.flatMap((piece, at) => (at ? [null, ...piece] : piece));
  const column = (name) => flat.map((one) => (one && one[name] !== null ? one[name] / scale : null));
  const loose = pieces.filter((piece) => piece.length === 1 && piece[0].low !== null).map(([one]) => one);
  const ends = (name) => flat.map((one) => (loose.includes(one) ? Math.abs(one[name] - one.y) / scale : null));
  const line = {
    type: "scatter", mode: chart.kind === "curves" || curve.joined ? "lines+markers" : "markers",
    x: flat.map((one) => one && one.x), y: column("y"), customdata: flat.map((one) => one || {}),
    meta: curve.at, hoverinfo: "none", connectgaps: false, cliponaxis: false,
    line: { color: colour, width: 1.6, dash: curve.key.dash || "solid" },
    marker: {
      color: curve.key.hollow ? style("--paper") : colour, size: flat.length > 200 ? 3.5 : 6,
      symbol: curve.key.marker, line: { color: colour, width: 1 },
    },
    error_y: {
      type: "data", symmetric: false, array: ends("high"), arrayminus: ends("low"), visible: loose.length > 0,
      thickness: 1.1, width: 0, color: colour,
    },
  };
  if (marked.size) {
    line.selectedpoints = flat.flatMap((one, at) => (one && marked.has(one.cell) ? [at] : []));
    line.selected = { marker: { size: 10, opacity: 1 } };
    line.unselected = { marker: { opacity: 0.18 } };
    line.opacity = line.selectedpoints.length ? 1 : 0.35;
  }
  const wide = pieces.filter((piece) => piece.length > 1 && piece.every((one) => one.low !== null && one.high !== null));
  const round = wide.flatMap((piece, at) => [...(at ? [null] : []), ...piece.map((one) => [one.x, one.high]),
    ...[...piece].reverse().map((one) => [one.x, one.low]), [piece[0].x, piece[0].high]]);
  const band = {
    type: "scatter", mode: "lines", hoverinfo: "skip", fill: "toself", line: { width: 0 }, fillcolor: colour,
    opacity: 0.2, x: round.map((one) => one && one[0]), y: round.map((one) => one && one[1] / scale),
  };
  return wide.length ? [band, line] : [line];
}

function axes(chart, quantity, points, scale, unit) {
  const ys = points.map((one) => one.y / scale).filter((y) => Number.isFinite(y));
  const [least, most] = [Math.min(...ys), Math.max(...ys)];
  const log = quantity === "ratio" || quantity === "share" || chart.kind !== "curves"
    ? least > 0 && most > LOG_FROM * least && quantity !== "share" : least > 0;
  const ends = points.flatMap((one) => [one.low, one.high]).filter((end) => end !== null).map((end) => end / scale);
  let low = Math.min(least, ...ends.filter((end) => !log || end > least / REACH));
  let high = Math.max(most, ...ends.filter((end) => end < most * REACH || !log));
  if (quantity === "ratio") [low, high] = [Math.min(low, 1), Math.max(high, 1)];
  const room = log ? Math.max(0.04, 0.05 * Math.log10(high / low)) : 0.06 * (high - low || Math.abs(high) || 1);
  const range = log ? [Math.log10(low) - room, Math.log10(high) + room] : [low - room, high + room];
  const x = chart.x;
  const every = chart.live.clientWidth < 420 ? 2 : 1;
  const few = (list) => list.filter((_, at) => at % every === 0);
  const common = { gridcolor: style("--grid"), linecolor: style("--line"), zeroline: false, showline: true, ticks: "outside", tickcolor: style("--line"), automargin: true };
  return {
    xaxis: {
      ...common, type: x.log ? "log" : "linear", range: x.log ? [Math.log10(x.low), Math.log10(x.high)] : [x.low, x.high],
      tickvals: few(x.ticks), ticktext: few(x.names), tickangle: 0, title: { text: chart.across || words.size, standoff: 6 },
    },
    yaxis: {
      ...common, type: log ? "log" : "linear", range, title: { text: unit, standoff: 4 },
      ...(log && range[1] - range[0] > 1.4 ? { dtick: 1 } : { nticks: 6 }),
      tickformat: quantity === "share" ? ".2~%" : ",~r", minor: { showgrid: false },
    },
  };
}

function lines(chart, quantity, scale) {
  const at = chart.kind === "curves" ? (quantity === "ratio" ? [1] : []) : chart.levels || [];
  const across = at.map((y) => ({ type: "line", xref: "paper", x0: 0, x1: 1, y0: y / scale, y1: y / scale, line: { color: style("--quiet"), width: 1 } }));
  const up = (chart.marks || []).map(({ x }) => ({ type: "line", yref: "paper", y0: 0, y1: 1, x0: x, x1: x, line: { color: style("--quiet"), width: 1, dash: "dot" } }));
  return [...across, ...up];
}

function draw(chart) {
  chart.dirty = false;
  chart.live.hidden = false;
  chart.still.classList.add("replaced");
  const found = ratios(chart);
  const quantity = found ? "ratio" : chart.quantity;
  const curves = seenCurves(chart).map((curve) => ({ ...curve, points: pointsOf(chart, curve, found) }));
  chart.items.forEach((item, at) => { item.hidden = !curves.some((curve) => curve.at === at); });
  const shown = curves.filter((curve) => !chart.off.has(curve.at));
  const points = shown.flatMap((curve) => curve.points.flat());
  const nothing = !points.length;
  chart.note.hidden = !nothing;
  const middle = nothing ? 1 : Math.sqrt(Math.min(...points.map((one) => one.y)) * Math.max(...points.map((one) => one.y)));
  const unit = UNITS[quantity] ? unitOf(quantity, middle || 1) : "";
  const scale = unit ? UNITS[quantity][unit] : 1;
  const made = shown.flatMap((curve) => traces(chart, curve, curve.points, scale));
  chart.unit = unit;
  chart.shown = quantity;
  const title = unit ? sign(unit) : quantity === "ratio" ? words.times : chart.title;
  const layout = {
    ...frame(), ...(nothing ? {} : axes(chart, quantity, points, scale, title)), shapes: lines(chart, quantity, scale),
    annotations: (chart.marks || []).map(({ x, text }) => ({ x: chart.x.log ? Math.log10(x) : x, yref: "paper", y: 1, yanchor: "bottom", text, showarrow: false, font: { size: 10 } })),
  };
  Plotly.react(chart.live, made, layout, STEADY).then(() => listen(chart));
}

function frame() {
  return {
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", showlegend: false, hovermode: "closest",
    margin: { l: 46, r: 10, t: 18, b: 36 }, font: { family: "system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif", size: 11, color: style("--quiet") }, dragmode: "zoom",
  };
}

const plain = (name) => name.replace(/[&<>]/g, (letter) => `&#${letter.charCodeAt(0)};`);

function drawMatrix(chart) {
  chart.dirty = false;
  chart.live.hidden = false;
  chart.still.classList.add("replaced");
  // All have their place before the first is drawn, which else would take the width of all.
  while (chart.live.children.length < chart.panels.length) chart.live.append(document.createElement("div"));
  chart.panels.forEach((panel, at) => {
    const place = chart.live.children[at];
    const values = panel.values.flat().filter((value) => value !== null);
    let [low, high] = [Math.min(...values), Math.max(...values)];
    if (panel.quantity === "rate") low = Math.min(low, high / LEAST_SPAN); else high = Math.max(high, low * LEAST_SPAN);
    const ticks = [low, Math.sqrt(low * high), high];
    const names = chart.names.map(plain);
    const size = names.map((_, number) => number);
    const trace = {
      type: "heatmap", hoverinfo: "none", colorscale: "Cividis", reversescale: panel.quantity === "rate",
      z: panel.values.map((line) => line.map((value) => value && Math.log10(value))), x: size, y: size, xgap: 1, ygap: 1,
      zmin: Math.log10(low), zmax: Math.log10(high),
      colorbar: { thickness: 10, len: 0.9, outlinewidth: 0, tickvals: ticks.map(Math.log10), ticktext: ticks.map((value) => written(panel.quantity, value)) },
    };
    const axis = { tickvals: size, ticktext: names, showgrid: false, zeroline: false, automargin: true, constrain: "domain" };
    const layout = { ...frame(), title: { text: panel.title, font: { size: 12 } }, margin: { l: 40, r: 10, t: 34, b: 36 },
      xaxis: axis, yaxis: { ...axis, autorange: "reversed", scaleanchor: "x" } };
    Plotly.react(place, [trace], layout, STEADY).then(() => listenSquares(chart, panel, place));
  });
}
