// Two environments, or two runs: every case that differs.

function compare_chart(rows) {
  const ops = [...new Set(rows.map((row) => split_id(row.id).op))];
  const make = () => ({
    type: "scatter",
    data: {
      datasets: ops.map((op, i) => ({
        label: op, pointStyle: series_marks[i % series_marks.length], pointRadius: 4.5, pointHoverRadius: 7,
        backgroundColor: series_colours[i % series_colours.length], borderColor: series_colours[i % series_colours.length],
        data: rows.filter((row) => split_id(row.id).op === op).slice(0, 3000).map((row) => ({
          x: row.before_ns / 1e3, y: 100 * (row.ratio[0] - 1), id: row.id,
          tip: [["change (95 %)", percent_interval(row.ratio)], ["verdict", row.verdict], ["before", time_text(row.before_ns)], ["after", time_text(row.after_ns)]],
        })),
      })),
    },
    options: { scales: { x: log_axis("µs before, at the reference clock"), y: axis("change in %, up is slower") } },
  });
  return chart_box(`Change of ${rows.length} cases by their time`, make);
}

function compare_page() {
  const part = data.compare;
  if (!part) {
    return [el("h2", {}, "Compare"), el("p", {}, "This file holds one run of this card. Two selections of runs are set side by side with"),
      command_line("etalon report --format html --out report.html --compare cudnn=9.14 cudnn=9.19")];
  }
  const rows = part.rows.filter((row) => matches_filter(row.id));
  const tested = rows.filter((row) => row.ratio && row.before_ns > 0);
  const moved = rows.filter((row) => row.verdict !== "same" && row.verdict !== "new");
  const means = part.ops.filter((row) => row.mean);
  const chart = () => ({
    type: "bar",
    data: {
      labels: means.map((row) => row.op),
      datasets: [{
        label: "change", backgroundColor: means.map((row) => (row.mean[0] > 1 ? colour("worse") : colour("better"))),
        data: means.map((row) => ({ x: row.op, y: 100 * (row.mean[0] - 1), tip: [["geometric mean", percent_interval(row.mean)], ["cases", String(row.compared)]] })),
      }],
    },
    legend: { display: false },
    options: { scales: { x: axis(""), y: axis("change in %, up is slower") } },
  });
  return [
    el("h2", {}, `${part.before} against ${part.after}`),
    el("p", {}, `${counted(part.before_runs, "run")} against ${counted(part.after_runs, "run")}: `, Object.entries(part.counts).map(([name, count]) => `${count} ${name}`).join(", "), ". ", part.common_shift),
    part.environment.length > 0 ? el("ul", {}, part.environment.map((text) => el("li", {}, text))) : el("p", {}, "The environment is the same."),
    tested.length > 0 ? compare_chart(tested) : el("p", {}, "No case can be compared."),
    el("h2", {}, "Movers"),
    moved.length > 0 ? moved_table("movers", moved) : el("p", {}, "None that this filter shows."),
    el("h2", {}, "Geometric means"),
    means.length > 0 ? chart_box("Geometric mean of each op", chart, true) : null,
    data_table({
      name: "means", caption: "Time after / time before", rows: part.ops,
      columns: [{ name: "op", get: (row) => row.op }, { name: "compared", kind: "number", get: (row) => row.compared },
        { name: "moved", kind: "number", get: (row) => row.moved },
        { name: "mean (95 %)", kind: "number", get: (row) => row.mean && row.mean[0], csv: interval_csv("geometric_mean", (row) => row.mean), text: (row) => row.mean && percent_interval(row.mean), tone: (row) => side(row.mean, "worse", "better") }],
    }),
    el("details", {}, el("summary", {}, "Every case that was compared"), data_table({
      name: "compare", caption: "Compared cases", rows: tested, sort: "change (95 %)", down: true,
      columns: [change_column, id_column, { name: "verdict", get: (row) => row.verdict },
        { name: "before", kind: "number", key: "before_ns", get: (row) => row.before_ns, text: (row) => time_text(row.before_ns) },
        { name: "after", kind: "number", key: "after_ns", get: (row) => row.after_ns, text: (row) => time_text(row.after_ns) }],
    })),
  ];
}
