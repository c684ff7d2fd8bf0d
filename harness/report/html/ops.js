// Each op against its baseline: a heat map over shapes, percentiles, the worst and the best.

function ratio_groups() {
  const groups = new Map();
  for (const each of shown_cases()) {
    if (!each.ratio || !(each.ratio[0] > 0)) continue;
    const key = `${each.op} ${each.precision} ${each.provider}`;
    if (!groups.has(key)) groups.set(key, { key, op: each.op, precision: each.precision, provider: each.provider, cases: [] });
    groups.get(key).cases.push(each);
  }
  return [...groups.values()].map((group) => {
    const sorted = group.cases.map((each) => each.ratio[0]).sort((a, b) => a - b);
    const base = group.cases[0].baseline;
    return {
      ...group, baseline: base ? split_id(base).provider : "", count: sorted.length, mean: geometric_mean(sorted),
      wins: group.cases.filter((each) => side(each.ratio) === "better").length,
      losses: group.cases.filter((each) => side(each.ratio) === "worse").length,
      p5: quantile(sorted, 0.05), p25: quantile(sorted, 0.25), p50: quantile(sorted, 0.5), p75: quantile(sorted, 0.75), p95: quantile(sorted, 0.95),
    };
  });
}

// Steps of the heat map: a twentieth, a tenth, a fifth, a third, a half and more.
const heat_steps = [0.03, 0.1, 0.2, 0.35, 0.6];
function heat_class(ratio) {
  const size = Math.abs(Math.log(ratio));
  const step = heat_steps.filter((edge) => size >= edge).length;
  return "h" + (ratio < 1 ? -step : step || 0);
}

const most_cells = 4000;

function heat_map(group) {
  const split = (each) => {
    const axes = each.axes.split(",");
    return axes.length > 1 ? { row: `${axes[0]} ${each.l2}`, column: axes.slice(1).join(" ") } : { row: each.l2, column: each.axes };
  };
  const rows = new Map(), columns = new Set();
  for (const each of group.cases.slice(0, most_cells)) {
    const { row, column } = split(each);
    columns.add(column);
    if (!rows.has(row)) rows.set(row, new Map());
    rows.get(row).set(column, each);
  }
  const ordered = [...columns].sort(by_text.compare);
  const names = [...rows.keys()].sort(by_text.compare);
  return el("div", { class: "scroll heat", tabindex: 0, role: "region", "aria-label": `Heat map of ${group.key}` },
    el("table", {},
      el("caption", {}, `${group.key}: time of ${group.baseline || "the baseline"} / own time, over 1 is a win`),
      el("thead", {}, el("tr", {}, el("th", {}, ""), ordered.map((column) => el("th", { scope: "col" }, column.split(" ").map((part) => el("div", {}, part)))))),
      el("tbody", {}, names.map((row) => el("tr", {}, el("th", { scope: "row" }, row), ordered.map((column) => {
        const each = rows.get(row).get(column);
        return el("td", {}, each ? el("button", {
          type: "button", class: heat_class(each.ratio[0]), "data-case": each.id, "aria-label": `${each.id}: ratio ${interval_text(each.ratio)}`,
          click: () => go_to("case", { id: each.id }),
        }, each.ratio[0].toFixed(2)) : null);
      }))))));
}

const heat_key = () => el("div", { class: "key", "aria-label": "Colours of the heat map" }, "loses",
  [["h-5", "< 0.55"], ["h-4", "0.70"], ["h-3", "0.82"], ["h-2", "0.90"], ["h-1", "0.97"], ["h0", "1"], ["h1", "1.03"], ["h2", "1.11"], ["h3", "1.22"], ["h4", "1.42"], ["h5", "> 1.82"]]
    .map(([name, text]) => el("span", { class: name }, text)), "wins");

function extremes(name, title, rows, down) {
  const picked = sorted_rows(rows, ratio_column, down).slice(0, 20);
  return el("section", {}, el("h2", {}, title),
    data_table({ name, caption: title, rows: picked, sort: "ratio", down, columns: [ratio_column, id_column, time_column,
      { name: "against", key: "baseline_case_id", get: (row) => row.baseline, text: (row) => split_id(row.baseline).provider }] }));
}

function ops_page(parameters) {
  const groups = ratio_groups();
  if (groups.length === 0) return [el("h2", {}, "Ops"), el("p", {}, "No case that this filter shows has a ratio to a baseline.")];
  const chosen = groups.find((group) => group.key === parameters.get("group")) || groups[0];
  const rated = groups.flatMap((group) => group.cases);
  const choice = el("select", { id: "group", change: () => go_to("ops", { group: choice.value }) },
    groups.map((group) => el("option", { value: group.key, selected: group === chosen }, `${group.key} (${group.count})`)));
  const number = (name, get) => ({ name, kind: "number", get, text: (row) => significant(get(row)) });
  return [
    el("h2", {}, "Ratio to the baseline over shapes"),
    el("label", {}, "Op, precision, provider ", choice),
    heat_map(chosen), heat_key(),
    chosen.count > most_cells ? el("p", {}, `The first ${most_cells} of ${chosen.count} cases; a filter shows the others.`) : null,
    el("h2", {}, "Percentiles"),
    data_table({
      name: "ops", caption: "Ratio to the baseline, over 1 is a win", rows: groups,
      columns: [
        { name: "op", get: (row) => row.op, text: (row) => el("a", { href: link_to("ops", { group: row.key }) }, row.op) },
        { name: "precision", get: (row) => row.precision }, { name: "provider", get: (row) => row.provider },
        { name: "baseline", get: (row) => row.baseline },
        { name: "cases", kind: "number", get: (row) => row.count },
        number("geometric mean", (row) => row.mean),
        number("5 %", (row) => row.p5), number("25 %", (row) => row.p25), number("median", (row) => row.p50), number("75 %", (row) => row.p75), number("95 %", (row) => row.p95),
        { name: "wins", kind: "number", get: (row) => row.wins }, { name: "losses", kind: "number", get: (row) => row.losses },
      ],
    }),
    el("div", { class: "two" }, extremes("worst", "The worst twenty", rated, false), extremes("best", "The best twenty", rated, true)),
  ];
}
