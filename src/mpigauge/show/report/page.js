// What happens on the page: what points say, marks, the address, the switches. In one scope with charts.js.
// ---- What a point says --------------------------------------------------------------------------

function say(entries, at) {
  tip.replaceChildren(...entries.map(([name, text]) => {
    const line = document.createElement("div");
    line.append(Object.assign(document.createElement("b"), { textContent: name }), ` ${text}`);
    return line;
  }));
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const left = Math.min(at.clientX + 14, innerWidth - box.width - 8);
  const top = at.clientY + 16 + box.height > innerHeight ? at.clientY - box.height - 12 : at.clientY + 16;
  tip.style.left = `${Math.max(8, left)}px`;
  tip.style.top = `${Math.max(8, top)}px`;
}

const hush = () => { tip.hidden = true; };

function entriesOf(chart, trace, point) {
  const record = told.cells[point.cell] || {};
  const interval = point.low !== null && point.low !== undefined
    ? `${written(chart.shown, point.low, chart.unit)} – ${written(chart.shown, point.high, chart.unit)}` : words.no_interval;
  const doubts = (record.doubts || []).map((place) => told.doubts[place]).join(", ");
  const size = record.bytes === undefined ? "" : sized(record.bytes);
  return [
    [chart.keys[trace.meta].label, size],
    [chart.shown === "ratio" ? words.times : chart.title, written(chart.shown, point.y, chart.unit)],
    ...(chart.kind === "curves" || point.low != null ? [[words.interval, interval]] : []),
    ...(record.launches ? [[words.launches, `${record.launches}, ${record.samples} ${words.samples}`]] : []),
    ...(doubts ? [[words.doubts, doubts]] : []),
  ];
}

function listen(chart) {
  chart.live.removeAllListeners("plotly_hover");
  chart.live.removeAllListeners("plotly_unhover");
  chart.live.on("plotly_hover", ({ points: [{ data, customdata }], event }) => {
    say(entriesOf(chart, data, customdata), event && event.clientX !== undefined ? event : middleOf(chart.live));
  });
  chart.live.on("plotly_unhover", hush);
}

function middleOf(element) {
  const box = element.getBoundingClientRect();
  return { clientX: box.left + box.width / 2, clientY: box.top + 20 };
}

// The chart library must forget the point, too: pointing at it would be no news, and nothing would be said.
function leave(chart) {
  hush();
  if (chart.live.data) Plotly.Fx.unhover(chart.live);
}

function walk(chart, event) {
  const step = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
  if (event.key === "Escape") { leave(chart); return; }
  if (!step || !chart.live.data) return;
  event.preventDefault();
  const drawn = chart.live.data.flatMap((trace, at) => (trace.hoverinfo === "none" && trace.y.some((y) => y !== null) ? [at] : []));
  if (!drawn.length) return;
  const [curve, point] = chart.at || [0, -1];
  const next = Math.max(0, Math.min(drawn.length - 1, curve + step[0]));
  const places = chart.live.data[drawn[next]].y.flatMap((y, at) => (y === null ? [] : [at]));
  const there = Math.max(0, Math.min(places.length - 1, point + step[1]));
  chart.at = [next, there];
  Plotly.Fx.hover(chart.live, [{ curveNumber: drawn[next], pointNumber: places[there] }]);
  const trace = chart.live.data[drawn[next]];
  say(entriesOf(chart, trace, trace.customdata[places[there]]), middleOf(chart.live));
}

// ---- What a square of a map says ----------------------------------------------------------------

function saySquare(chart, panel, [y, x], at) {
  const [value, launches] = [panel.values[y][x], panel.launches[y][x]];
  say([
    [`${chart.names[y]} – ${chart.names[x]}`, ""],
    [panel.title, value === null ? words.unknown : written(panel.quantity, value)],
    ...(launches ? [[words.launches, launches]] : []),
  ], at);
}

function listenSquares(chart, panel, place) {
  place.removeAllListeners("plotly_hover");
  place.removeAllListeners("plotly_unhover");
  place.on("plotly_hover", ({ points: [{ x, y }], event }) => {
    if (panel.values[y][x] !== null) saySquare(chart, panel, [y, x], event);
  });
  place.on("plotly_unhover", hush);
  Object.assign(place, { tabIndex: 0, onkeydown: (event) => walkSquares(chart, panel, place, event), onblur: () => leaveSquares(place) });
  place.setAttribute("role", "group");
  place.setAttribute("aria-label", panel.title);
}

// From square to square; one of a rank with itself is there, too, so that a step is a step.
function walkSquares(chart, panel, place, event) {
  const by = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
  if (event.key === "Escape") { leaveSquares(place); return; }
  if (!by) return;
  event.preventDefault();
  const inside = (number) => Math.max(0, Math.min(chart.names.length - 1, number));
  panel.at = panel.at ? [inside(panel.at[0] + by[0]), inside(panel.at[1] + by[1])] : [0, inside(1)];
  frameSquare(place, panel.at);
  saySquare(chart, panel, panel.at, middleOf(place));
}

function leaveSquares(place) {
  hush();
  frameSquare(place, null);
}

function frameSquare(place, at) {
  const around = at && { type: "rect", x0: at[1] - 0.5, x1: at[1] + 0.5, y0: at[0] - 0.5, y1: at[0] + 0.5, line: { color: style("--bad"), width: 3 } };
  Plotly.relayout(place, { shapes: around ? [around] : [] });
}

// ---- Marks --------------------------------------------------------------------------------------

function cellsOf(chart) {
  const pieces = (chart.curves || []).flatMap((curve) => (curve.pieces ? curve.pieces.flat() : curve.cells));
  return pieces.some((cell) => marked.has(cell));
}

function mark(number) {
  lit = number;
  const cells = lit < 0 ? "" : sentences[lit].dataset.c;
  marked = new Set(numbersOf(cells));
  sentences.forEach((one, at) => one.querySelector(".said").setAttribute("aria-pressed", String(at === lit)));
  document.querySelectorAll("tr[data-c]").forEach((row) => {
    row.classList.toggle("lit", numbersOf(row.dataset.c).some((cell) => marked.has(cell)));
  });
  const drawn = [...charts.values()].filter(cellsOf);
  charts.forEach((chart) => chart.figure.classList.toggle("lit", marked.size > 0 && drawn.includes(chart)));
  const tables = new Set([...document.querySelectorAll("tr.lit")].map((row) => row.closest("table")));
  tell(drawn, tables);
  redraw();
}

function tell(drawn, tables) {
  status.hidden = lit < 0;
  if (lit < 0) { status.replaceChildren(); return; }
  const text = words.selected.replace("{cells}", marked.size).replace("{charts}", drawn.length).replace("{tables}", tables.size);
  const first = drawn.length ? drawn[0].figure : [...tables][0];
  const button = (name, act) => Object.assign(document.createElement("button"), { type: "button", textContent: name, onclick: act });
  const go = button(words.first, () => {
    const folded = first.closest("details");
    if (folded) folded.open = true;
    first.scrollIntoView({ block: "center" });
  });
  const end = button(words.clear, () => { mark(-1); write(); });
  status.replaceChildren(`${text} `, ...(first ? [go] : []), end);
}

// ---- The address --------------------------------------------------------------------------------

function read() {
  const given = new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");
  for (const select of form.elements) {
    const asked = given.get(select.name);
    const there = [...select.options].some((option) => option.value === asked);
    select.value = there ? asked : select.options[0].value;
    chosen[select.name] = select.value;
  }
  chosen.stat = chosen.stat || "estimate";
  const number = Number(given.get("marked") || 0) - 1;
  mark(Number.isInteger(number) && number < sentences.length ? Math.max(-1, number) : -1);
  const place = document.getElementById(given.get("at") || "");
  if (place) place.scrollIntoView();
}

function write(at) {
  const kept = new URLSearchParams();
  for (const select of form.elements) if (select.selectedIndex > 0) kept.set(select.name, select.value);
  if (lit >= 0) kept.set("marked", lit + 1);
  if (at) kept.set("at", at);
  history.replaceState(null, "", `#${kept}`);
}

// ---- Copies -------------------------------------------------------------------------------------

async function copy(text, button) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copySelected(text, button);
  }
}

// Where the clipboard is refused, as of files in some browsers: what is selected can still be copied.
function copySelected(text, button) {
  const area = Object.assign(document.createElement("textarea"), { value: text, readOnly: true });
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  button.focus();
  return done;
}

// ---- Beginning ----------------------------------------------------------------------------------

const redraw = () => charts.forEach((chart) => { chart.dirty = true; if (chart.near) chart.draw(chart); });

const watch = new IntersectionObserver((entries) => entries.forEach(({ target, isIntersecting }) => {
  const chart = charts.get(target.id);
  chart.near = isIntersecting;
  if (isIntersecting && chart.dirty) chart.draw(chart);
}), { rootMargin: "150px" });

function toggle(chart, item, at) {
  const key = Object.assign(document.createElement("button"), { type: "button" });
  key.append(...item.childNodes);
  key.setAttribute("aria-pressed", "true");
  key.onclick = () => {
    if (!chart.off.delete(at)) chart.off.add(at);
    key.setAttribute("aria-pressed", String(!chart.off.has(at)));
    draw(chart);
  };
  item.append(key);
}

for (const [name, data] of Object.entries(told.charts)) {
  const figure = document.getElementById(name);
  const live = figure.querySelector(".live");
  const items = [...figure.querySelectorAll(".keys li")];
  const note = Object.assign(document.createElement("p"), { className: "about", textContent: words.nothing, hidden: true });
  const chart = { ...data, figure, live, items, note, still: figure.querySelector(".still"), off: new Set(), dirty: true, near: false, draw: data.kind === "matrix" ? drawMatrix : draw };
  charts.set(name, chart);
  live.after(note);
  if (data.kind !== "matrix") {
    items.forEach((item, at) => toggle(chart, item, at));
    Object.assign(live, { tabIndex: 0, onkeydown: (event) => walk(chart, event), onblur: () => leave(chart) });
    live.setAttribute("role", "group");
    live.setAttribute("aria-label", figure.querySelector("h3").textContent);
  }
  watch.observe(figure);
}
sentences.forEach((one, at) => {
  const said = one.querySelector(".said");
  const button = Object.assign(document.createElement("button"), { type: "button", className: "said", textContent: said.textContent });
  button.onclick = () => { mark(lit === at ? -1 : at); write(); };
  said.replaceWith(button);
});
document.querySelectorAll("button.copy").forEach((button) => {
  button.hidden = false;
  button.onclick = async () => {
    const rows = [...button.closest("section").querySelectorAll("tr")];
    const text = rows.map((row) => [...row.cells].map((cell) => cell.textContent).join("\t")).join("\n");
    button.textContent = await copy(text, button) ? words.copied : words.not_copied;
  };
});
document.querySelectorAll('a[href^="#"]').forEach((link) => link.addEventListener("click", (event) => {
  const place = document.getElementById(link.hash.slice(1));
  if (!place || link.hash.includes("=")) return;
  event.preventDefault();
  place.scrollIntoView();
  write(place.id);
}));
form.hidden = false;
form.onchange = () => {
  for (const select of form.elements) chosen[select.name] = select.value;
  write();
  redraw();
};
window.onhashchange = read;
window.onbeforeprint = () => document.querySelectorAll("section > details").forEach((one) => { one.open = true; });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
read();
document.documentElement.dataset.ready = "yes";
