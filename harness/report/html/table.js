// Tables that sort, grow and download. A column: {name, unit, get(row), text(row), order(row), kind},
// where `get` is what goes to CSV, `text` what is shown and `order` what sorts, both as `get` where
// they are not given; kind: number, id, text.

const rows_at_first = 100;

function cell_of(column, row) {
  const shown = column.text ? column.text(row) : column.get(row);
  const tone = column.tone ? column.tone(row) : "";
  const brief = !column.kind && typeof shown === "string" && shown.length <= 28;
  return el("td", { class: [brief ? "brief" : column.kind || "text", tone].filter(Boolean).join(" ") },
    column.kind === "id" ? case_link(column.get(row))
      : shown instanceof Node ? shown
        : typeof shown === "string" && shown.length > 80 ? el("span", { class: "clip", title: shown.slice(0, 1000) }, shown)
          : shown === null || shown === undefined || shown === "" ? "-" : shown);
}

const lacks = (value) => value === null || value === undefined || value === "" || Number.isNaN(value);

// What is unknown comes last, whichever way the rest is sorted.
function sorted_rows(rows, column, down) {
  const keys = new Map(rows.map((row) => [row, (column.order || column.get)(row)]));
  return [...rows].sort((first, second) => {
    const a = keys.get(first), b = keys.get(second);
    if (lacks(a) || lacks(b)) return lacks(a) - lacks(b);
    const order = typeof a === "number" && typeof b === "number" ? a - b : by_text.compare(String(a), String(b));
    return down ? -order : order;
  });
}
const by_text = new Intl.Collator("en", { numeric: true });

function data_table({ name, caption, columns, rows, sort, down = false, csv = true, first = rows_at_first }) {
  let at = sort === undefined ? -1 : columns.findIndex((column) => column.name === sort);
  let descending = down, limit = first;
  const body = el("tbody", {});
  const more = el("button", { type: "button", click: () => { limit *= 10; draw(); } });
  const status = el("span", { role: "status" });
  const heads = columns.map((column, i) => el("th", { scope: "col", class: column.kind === "number" ? "number" : null },
    el("button", { type: "button", click: () => { descending = at === i ? !descending : column.kind === "number"; at = i; draw(); } },
      column.name + (column.unit ? ` (${column.unit})` : ""))));

  function draw() {
    const ordered = at < 0 ? rows : sorted_rows(rows, columns[at], descending);
    body.replaceChildren(...ordered.slice(0, limit).map((row) => el("tr", {}, columns.map((column) => cell_of(column, row)))));
    heads.forEach((head, i) => (i === at ? head.setAttribute("aria-sort", descending ? "descending" : "ascending")
      : head.removeAttribute("aria-sort")));
    more.hidden = ordered.length <= limit;
    more.textContent = `Show ${Math.min(9 * limit, ordered.length - limit)} more`;
    status.textContent = rows.length === 0 ? "no rows" : rows.length > limit ? `${limit} of ${rows.length} rows` : "";
  }
  draw();
  const button = csv && rows.length > 0 ? el("button", {
    type: "button", class: "csv",
    click: () => download(`etalon-${name}.csv`, csv_text(
      columns.flatMap((column) => column.csv ? Object.keys(column.csv(rows[0])) : [column.key || column.name]),
      (at < 0 ? rows : sorted_rows(rows, columns[at], descending)).map((row) =>
        columns.flatMap((column) => column.csv ? Object.values(column.csv(row)) : [column.get(row)])))),
  }, "Download CSV") : null;
  return el("section", { "data-table": name },
    el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
      el("table", {}, el("caption", {}, caption), el("thead", {}, el("tr", {}, heads)), body)),
    el("div", { class: "tools" }, more, button, status));
}

// Columns that several tables share. An interval takes three columns of a CSV.
const interval_csv = (name, of) => (row) => {
  const value = of(row) || [null, null, null];
  return { [name]: value[0], [name + "_lo"]: value[1], [name + "_hi"]: value[2] };
};
const id_column = { name: "case", kind: "id", key: "case_id", get: (row) => row.id };
const time_column = {
  name: "time", kind: "number", get: (row) => row.time && row.time[0], csv: interval_csv("time_ns", (row) => row.time),
  text: (row) => (row.time ? time_text(row.time[0]) : row.status),
};
const ratio_column = {
  name: "ratio", kind: "number", get: (row) => row.ratio && row.ratio[0], csv: interval_csv("ratio", (row) => row.ratio),
  text: (row) => interval_text(row.ratio), tone: (row) => side(row.ratio),
};
const change_column = {
  name: "change (95 %)", kind: "number", get: (row) => row.ratio && row.ratio[0],
  csv: interval_csv("change_ratio", (row) => row.ratio),
  text: (row) => (row.ratio ? percent_interval(row.ratio) : null), tone: (row) => side(row.ratio, "worse", "better"),
};
