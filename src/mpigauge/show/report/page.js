// What happens on the page: what points say, curves on and off, states, marks of sentences, the address, copies.
// All words are in the page already; names of strangers are only ever moved from text to text.
const tip = document.querySelector(".tip");
const status = document.querySelector(".marked");
const choice = document.querySelector("select[name=state]");
const sentences = [...document.querySelectorAll(".sentences li[data-c]")];
const figures = [...document.querySelectorAll("figure.chart")];
const drawings = [...document.querySelectorAll("svg.still")];
let lit = -1;

// "3 7-9" is 3, 7, 8 and 9.
const numbersOf = (text) => text.split(" ").filter(Boolean).flatMap((run) => {
  const [first, last] = run.split("-").map(Number);
  return Array.from({ length: (last ?? first) - first + 1 }, (_, at) => first + at);
});

const button = (name, act) => Object.assign(document.createElement("button"), { type: "button", textContent: name, onclick: act });

// ---- What points say ----------------------------------------------------------------------------
const placeOf = (point) => ({ x: point.x.baseVal.value, y: point.y.baseVal.value });
const least = (points, far) => points.reduce((best, point) => (best && far(best) <= far(point) ? best : point), null);

// The points that are seen, a list per curve.
const curvesOf = (drawing) => [...drawing.querySelectorAll(".points:not([hidden], .off)")]
  .map((curve) => [...curve.querySelectorAll("use[role]")]).filter((points) => points.length);

function say(point, at) {
  hush();
  point.classList.add("on");
  tip.replaceChildren(...point.getAttribute("aria-label").split("\n").map((text) => Object.assign(document.createElement("div"), { textContent: text })));
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const top = at.y + 16 + box.height > innerHeight ? at.y - box.height - 12 : at.y + 16;
  tip.style.left = `${Math.max(8, Math.min(at.x + 14, innerWidth - box.width - 8))}px`;
  tip.style.top = `${Math.max(8, top)}px`;
}

function hush() {
  tip.hidden = true;
  document.querySelectorAll("use.on").forEach((point) => point.classList.remove("on"));
}

// The point that is nearest to the pointer, if it is near: within a square of a map, else some pixels away.
function pointed(drawing, event) {
  const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(drawing.getScreenCTM().inverse());
  const far = (point) => Math.hypot(placeOf(point).x - at.x, placeOf(point).y - at.y);
  const best = least(curvesOf(drawing).flat(), far);
  return best && far(best) < Number(drawing.dataset.reach) ? best : null;
}

// Along a curve, or to the place beside it on the next one; the first point is where the tabulator stops.
function walk(drawing, event) {
  const step = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
  if (event.key === "Escape") hush();
  if (!step) return;
  event.preventDefault();
  const curves = curvesOf(drawing);
  const within = (list, at) => list[Math.max(0, Math.min(list.length - 1, at))];
  const row = curves.findIndex((points) => points.includes(event.target));
  const points = within(curves, row + step[0]);
  const aside = (point) => Math.abs(placeOf(point).x - placeOf(event.target).x);
  (step[0] ? least(points, aside) : within(points, points.indexOf(event.target) + step[1])).focus();
}

function stop(drawing, point) {
  drawing.querySelectorAll('use[tabindex="0"]').forEach((one) => one.setAttribute("tabindex", "-1"));
  point?.setAttribute("tabindex", "0");
}

function listen(drawing) {
  drawing.querySelectorAll("use > title").forEach((title) => {
    const point = title.parentNode;
    Object.entries({ role: "img", "aria-label": title.textContent, tabindex: "-1" }).forEach((one) => point.setAttribute(...one));
    title.remove();
  });
  if (!curvesOf(drawing).length) return;
  drawing.setAttribute("role", "group");
  drawing.onkeydown = (event) => walk(drawing, event);
  drawing.addEventListener("focusin", ({ target }) => {
    const box = target.getBoundingClientRect();
    stop(drawing, target);
    say(target, { x: box.x + box.width / 2, y: box.y + box.height / 2 });
  });
  drawing.addEventListener("focusout", hush);
  drawing.onpointermove = drawing.onpointerdown = (event) => {
    const point = pointed(drawing, event);
    if (point) say(point, event); else hush();
  };
  drawing.onpointerleave = hush;
}

// ---- Curves on and off: by their key in the legend, and by the state that is chosen --------------
function toggle(item) {
  const key = button("", () => {
    key.setAttribute("aria-pressed", String(key.getAttribute("aria-pressed") !== "true"));
    show(item.closest("figure"));
  });
  key.setAttribute("aria-pressed", "true");
  key.append(...item.childNodes);
  item.append(key);
}

function show(figure) {
  const chosen = choice ? choice.value : "";
  figure.querySelectorAll(".keys li").forEach((item) => {
    const { k, state, other } = item.dataset;
    item.hidden = chosen ? chosen !== "all" && Boolean(state) && state !== chosen : other !== undefined;
    const off = item.firstElementChild.getAttribute("aria-pressed") === "false";
    figure.querySelectorAll(`svg.still [data-k="${k}"]`).forEach((part) => {
      part.toggleAttribute("hidden", item.hidden);
      part.classList.toggle("off", off);
    });
  });
  const firsts = [...figure.querySelectorAll("svg.still")].map((drawing) => [drawing, curvesOf(drawing)[0]?.[0]]);
  firsts.forEach(([drawing, first]) => stop(drawing, first));
  figure.querySelector(".nothing").hidden = firsts.some(([, first]) => first);
}

// ---- Marks --------------------------------------------------------------------------------------
function mark(number) {
  lit = number;
  const cells = new Set(numbersOf(lit < 0 ? "" : sentences[lit].dataset.c));
  sentences.forEach((one, at) => one.querySelector(".said").setAttribute("aria-pressed", String(at === lit)));
  document.querySelectorAll("tr[data-c], use[data-c]").forEach((one) => {
    one.classList.toggle("lit", numbersOf(one.dataset.c).some((cell) => cells.has(cell)));
  });
  figures.forEach((figure) => figure.classList.toggle("lit", Boolean(figure.querySelector("use.lit"))));
  const tables = new Set([...document.querySelectorAll("tr.lit")].map((row) => row.closest("table")));
  const charts = figures.filter((figure) => figure.classList.contains("lit"));
  status.hidden = lit < 0;
  const { selected, first, clear } = status.dataset;
  const text = selected.replace("{cells}", cells.size).replace("{charts}", charts.length).replace("{tables}", tables.size);
  const target = charts[0] || [...tables][0];
  const go = () => {
    if (target.closest("details")) target.closest("details").open = true;
    target.scrollIntoView({ block: "center" });
  };
  status.replaceChildren(`${text} `, ...(target ? [button(first, go)] : []), button(clear, () => { mark(-1); write(); }));
}

// ---- The address --------------------------------------------------------------------------------
function read() {
  const given = new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");
  const there = choice && [...choice.options].findIndex(({ value }) => value === given.get("state"));
  if (choice) choice.selectedIndex = Math.max(0, there);
  figures.forEach(show);
  mark(sentences[given.get("marked") - 1] ? given.get("marked") - 1 : -1);
  document.getElementById(given.get("at") || "")?.scrollIntoView();
}

function write(at) {
  const kept = { ...(choice && choice.value && { state: choice.value }), ...(lit >= 0 && { marked: lit + 1 }), ...(at && { at }) };
  history.replaceState(null, "", `#${new URLSearchParams(kept)}`);
}

// ---- Copies -------------------------------------------------------------------------------------
// Where the clipboard is refused, as of files in some browsers: what is selected can still be copied.
function copySelected(text) {
  const area = Object.assign(document.createElement("textarea"), { value: text, readOnly: true });
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
}

async function copy(one) {
  const rows = [...one.closest("section").querySelectorAll("tr")];
  const text = rows.map((row) => [...row.cells].map((cell) => cell.textContent).join("\t")).join("\n");
  let done = true;
  try { await navigator.clipboard.writeText(text); } catch { done = copySelected(text); }
  one.focus();
  one.textContent = done ? one.dataset.done : one.dataset.failed;
}

// ---- Beginning ----------------------------------------------------------------------------------
drawings.forEach(listen);
document.querySelectorAll(".keys li").forEach(toggle);
sentences.forEach((one, at) => {
  const said = one.querySelector(".said");
  const key = button(said.textContent, () => { mark(lit === at ? -1 : at); write(); });
  key.className = "said";
  said.replaceWith(key);
});
document.querySelectorAll("button.copy").forEach((one) => Object.assign(one, { hidden: false, onclick: () => copy(one) }));
document.querySelectorAll('a[href^="#"]').forEach((link) => link.addEventListener("click", (event) => {
  const place = document.getElementById(link.hash.slice(1));
  if (!place) return;
  event.preventDefault();
  place.scrollIntoView();
  write(place.id);
}));
if (choice) {
  choice.form.hidden = false;
  choice.onchange = () => { figures.forEach(show); write(); };
}
onhashchange = read;
read();
document.documentElement.dataset.ready = "yes";
