// Pages by the part of the address behind #, so that every view can be shared and bookmarked.

const pages = [
  ["overview", "Overview", overview_page], ["findings", "Findings", findings_page], ["ops", "Ops", ops_page],
  ["cases", "Cases", cases_page], ["roofline", "Roofline", roofline_page], ["compare", "Compare", compare_page],
  ["cost", "Cost", cost_page], ["device", "Device", device_page],
];
const filter_names = ["text", "op", "precision", "provider"];
const main = document.getElementById("main");

// The filter travels in every link.
function link_to(page, parameters = {}) {
  const query = new URLSearchParams(parameters);
  if (filter.text) query.set("q", filter.text);
  for (const name of filter_names.slice(1)) if (filter[name]) query.set("f-" + name, filter[name]);
  return "#" + page + (String(query) ? "?" + query : "");
}
function go_to(page, parameters) { location.hash = link_to(page, parameters); }

function address() {
  const [page, query = ""] = location.hash.slice(1).split(/\?(.*)/s);
  return { page: page || "overview", parameters: new URLSearchParams(query) };
}

function read_filter(parameters) {
  filter.text = parameters.get("q") || "";
  for (const name of filter_names.slice(1)) filter[name] = parameters.get("f-" + name) || "";
  document.getElementById("search").value = filter.text;
  for (const name of filter_names.slice(1)) document.getElementById(name).value = filter[name];
  shown_memo = null;
}

function no_run_page() {
  return [el("h2", {}, "No run yet"), el("p", {}, "This results file holds no run. The first one is made with"), command_line("etalon sweep --suite quick")];
}

function show_page(keep_focus) {
  const { page, parameters } = address();
  read_filter(parameters);
  forget_charts();
  hide_tip();
  const found = pages.find(([name]) => name === page);
  const make = !data.run ? no_run_page : page === "case" ? case_page : found ? found[2] : overview_page;
  main.replaceChildren(...make(parameters).flat().filter(Boolean));
  document.getElementById("tabs").replaceChildren(...pages.map(([name, title]) =>
    el("a", { href: link_to(name), "aria-current": name === (found ? page : page === "case" ? "cases" : "overview") ? "page" : null }, title)));
  document.getElementById("matches").textContent = data.run ? `${shown_cases().length} of ${cases.length}` : "";
  document.title = `etalon: ${page}${data.environment ? ", " + data.environment.gpu.slice(0, 60) : ""}`;
  if (!keep_focus) { main.focus({ preventScroll: true }); scrollTo(0, 0); }
}

function fill_select(name, values) {
  const select = document.getElementById(name);
  select.append(el("option", { value: "" }, "all"), ...[...new Set(values)].sort(by_text.compare).map((value) => el("option", { value }, value.slice(0, 60))));
  select.addEventListener("change", () => set_filter(name, select.value));
}

// The address changes without a new entry in the history for each letter.
function set_filter(name, value) {
  filter[name] = value;
  const { page, parameters } = address();
  const own = Object.fromEntries([...parameters].filter(([key]) => key !== "q" && !key.startsWith("f-")));
  history.replaceState(null, "", link_to(page, own));
  show_page(true);
}

function set_theme(theme) {
  document.documentElement.dataset.theme = theme;
  try { localStorage.setItem("etalon-theme", theme); } catch { /* a file may have no storage */ }
}

function first_theme() {
  let kept = null;
  try { kept = localStorage.getItem("etalon-theme"); } catch { /* as above */ }
  return kept || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
}

function start() {
  set_theme(first_theme());
  document.getElementById("subtitle").textContent = data.run
    ? [data.environment.gpu, data.run.suite, data.run.tag, minute(data.run.started_at) + " UTC"].filter(Boolean).map(short).join(" · ")
    : "no run";
  fill_select("op", cases.map((each) => each.op));
  fill_select("precision", cases.map((each) => each.precision));
  fill_select("provider", cases.map((each) => each.provider));
  let waiting = 0;
  const search = document.getElementById("search");
  search.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(() => set_filter("text", search.value), 120); });
  document.getElementById("filter").addEventListener("submit", (event) => event.preventDefault());
  document.getElementById("theme").addEventListener("click", switch_theme);
  document.addEventListener("keydown", on_key);
  addEventListener("hashchange", () => show_page(false));
  show_page(true);
  document.documentElement.dataset.ready = "yes";
}

function switch_theme() {
  set_theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
  show_page(true);
}

// 1 to 8 choose a page, / the search, d the theme; never while somebody writes.
function on_key(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
  if (event.key === "/") { event.preventDefault(); document.getElementById("search").focus(); }
  if (event.key === "d") switch_theme();
  const page = pages[Number(event.key) - 1];
  if (page && /^[1-9]$/.test(event.key)) go_to(page[0]);
}

start();
