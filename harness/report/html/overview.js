// Is it green, what moved, in which environment, and how far the clock wandered.

const verdict_class = (exit) => (exit === 0 ? "ok" : exit === 1 || exit === 4 ? "bad" : "unsure");
const range_text = (range, unit) => (range
  ? range.least === range.greatest ? `${significant(range.least)} ${unit}` : `${significant(range.least)} to ${significant(range.greatest)} ${unit}`
  : "unknown");

function verdict_line() {
  if (!data.gate) return el("p", { class: "verdict unsure" }, "no baseline: no earlier run of this suite on this card; the next run is gated against this one");
  return el("p", { class: "verdict " + verdict_class(data.gate.exit) }, data.gate.headline);
}

// How far the clock wandered inside the timed intervals: what a raw time would have moved by.
function clock_chart(shown) {
  const clocks = shown.filter((each) => each.clock_mhz).map((each) => each.clock_mhz);
  if (clocks.length < 2) return null;
  const least = Math.min(...clocks), greatest = Math.max(...clocks), bins = 30;
  const width = (greatest - least) / bins || 1;
  const counts = Array(bins).fill(0);
  for (const clock of clocks) ++counts[Math.min(bins - 1, Math.floor((clock - least) / width))];
  const reference = data.environment.reference_clock_mhz;
  const make = () => ({
    type: "bar",
    data: {
      labels: counts.map((_, i) => (least + (i + 0.5) * width).toFixed(0)),
      datasets: [{
        label: "cases", backgroundColor: colour("accent"), categoryPercentage: 1, barPercentage: 0.95,
        data: counts.map((y, i) => ({ x: (least + (i + 0.5) * width).toFixed(0), y,
          tip: [["clock", `${(least + i * width).toFixed(0)} to ${(least + (i + 1) * width).toFixed(0)} MHz`], ["cases", String(y)]] })),
      }],
    },
    legend: { display: false },
    options: { scales: { x: axis("MHz inside the timed intervals"), y: axis("cases", { beginAtZero: true }) } },
  });
  const label = `Clock of ${clocks.length} cases, ${significant(least)} to ${significant(greatest)} MHz`;
  return el("section", {}, el("h2", {}, "How far the clock wandered"),
    el("p", {}, `${label}: a factor of ${(greatest / least).toFixed(3)}. `,
      reference ? `Times are compared at ${significant(reference)} MHz, each by its own elasticity.` : ""),
    chart_box(label, make, true),
    el("details", {}, el("summary", {}, "As a table"), data_table({
      name: "clocks", caption: "Cases by clock", rows: counts.map((count, i) => ({ from: least + i * width, to: least + (i + 1) * width, count })),
      columns: [
        { name: "from", unit: "MHz", kind: "number", get: (row) => row.from, text: (row) => row.from.toFixed(0) },
        { name: "to", unit: "MHz", kind: "number", get: (row) => row.to, text: (row) => row.to.toFixed(0) },
        { name: "cases", kind: "number", get: (row) => row.count },
      ],
    })));
}

function overview_page() {
  const { run, environment, conditions, counts } = data;
  const shown = shown_cases();
  const rated = shown.filter((each) => each.ratio);
  const wins = rated.filter((each) => side(each.ratio) === "better").length;
  const losses = rated.filter((each) => side(each.ratio) === "worse").length;
  const moved = data.gate ? data.gate.moved.filter((row) => matches_filter(row.id)) : [];
  return [
    verdict_line(),
    cards([
      ["cases", String(cases.length), Object.entries(counts).filter(([, count]) => count > 0).map(([name, count]) => `${count} ${name}`).join(", ")],
      ["against the baseline", rated.length > 0 ? significant(geometric_mean(rated.map((each) => each.ratio[0]))) : "-",
        rated.length > 0 ? `geometric mean of ${rated.length}; ${wins} wins, ${losses} losses` : "no ratio is known"],
      ["findings", String((data.clusters || []).length), `in the histories of ${counted(data.runs.length, "run")}`],
      ["clock", range_text(conditions.clock_mhz, "MHz"), environment.reference_clock_mhz ? `reference ${significant(environment.reference_clock_mhz)} MHz` : ""],
      ["power", range_text(conditions.power_w, "W"), environment.power_limit_w ? `limit ${significant(environment.power_limit_w)} W` : ""],
      ["temperature", range_text(conditions.temperature_c, "°C"), ""],
    ]),
    el("h2", {}, "What moved"),
    data.gate ? el("p", {}, `Against ${counted(data.gate.against, "earlier run")}. `,
      data.gate.common_shift, data.gate.environment.length > 0 ? " Environment: " + data.gate.environment.join(", ") : "") : null,
    moved.length > 0 ? moved_table("moved", moved) : el("p", {}, data.gate ? "Nothing did." : "Nothing to compare with yet."),
    clock_chart(shown),
    el("h2", {}, "Run"),
    fields([["run", el("code", {}, run.run_id)], ["started", run.started_at], ["finished", run.finished_at || run.state], ["suite", run.suite],
      ["tag", run.tag], ["device", run.device], ["host", run.host_name], ["GPU", environment.gpu], ["driver", environment.driver],
      ["CUDA runtime", environment.cuda_runtime], ["cuBLAS", environment.cublas], ["cuDNN", environment.cudnn],
      ["etalon", `${environment.etalon_version} (${run.revision}), method ${environment.method}`]]),
    el("h3", {}, "Measure it again"),
    command_line(`etalon sweep --suite ${shell_quoted(run.suite)} --db again.db`),
  ];
}

const gravest_first = ["incorrect", "failed", "slower", "ambiguous", "missing", "faster", "new"];

function moved_table(name, rows) {
  return data_table({
    name, caption: `${counted(rows.length, "case")} that moved or could not be judged`, rows, sort: "verdict", first: 20,
    columns: [
      { name: "verdict", get: (row) => row.verdict, order: (row) => gravest_first.indexOf(row.verdict), tone: (row) => (row.verdict === "faster" ? "better" : row.verdict === "slower" ? "worse" : "") },
      change_column, id_column,
      { name: "before", kind: "number", key: "before_ns", get: (row) => row.before_ns, text: (row) => time_text(row.before_ns) },
      { name: "after", kind: "number", key: "after_ns", get: (row) => row.after_ns, text: (row) => time_text(row.after_ns) },
      { name: "q", kind: "number", get: (row) => row.q, text: (row) => significant(row.q, 2) },
      { name: "why", key: "reason", get: (row) => row.reason || "" },
    ],
  });
}

function command_line(command) {
  const button = el("button", { type: "button", class: "copy", click: () => copy_text(command, button) }, "Copy");
  return el("div", {}, el("span", { class: "code" }, command), button);
}
