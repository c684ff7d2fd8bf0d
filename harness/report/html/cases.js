// All cases as one table, and the page of a single case.

function cases_page() {
  const rows = shown_cases();
  return [
    el("h2", {}, "Cases"),
    data_table({
      name: "cases", caption: `${rows.length} of ${cases.length} cases of run ${data.run.run_id}`, rows, sort: "case",
      columns: [
        id_column,
        { name: "status", get: (row) => row.status, tone: (row) => (row.status === "incorrect" || row.status === "failed" ? "worse" : "") },
        time_column, ratio_column,
        { name: "at ref. clock", kind: "number", get: (row) => row.norm && row.norm[0], csv: interval_csv("norm_time_ns", (row) => row.norm), text: (row) => row.norm && time_text(row.norm[0]) },
        { name: "TFLOP/s", kind: "number", key: "tflops", get: tflops_of, text: (row) => significant(tflops_of(row)) },
        { name: "GB/s", kind: "number", key: "gbs", get: gbs_of, text: (row) => significant(gbs_of(row)) },
        { name: "elasticity", kind: "number", get: (row) => row.elasticity && row.elasticity[0], csv: interval_csv("elasticity", (row) => row.elasticity), text: (row) => row.elasticity && row.elasticity[0].toFixed(2) },
        { name: "clock", unit: "MHz", kind: "number", key: "clock_mhz", get: (row) => row.clock_mhz, text: (row) => significant(row.clock_mhz) },
        { name: "samples", kind: "number", get: (row) => row.samples },
        { name: "reason", get: (row) => row.reason },
      ],
    }),
  ];
}

// #case?id=...
function case_page(parameters) {
  const id = parameters.get("id") || "";
  const each = case_of.get(id), own = lines_of.get(id) || [];
  if (!each && own.length === 0) {
    return [el("h2", {}, "No such case"), el("p", {}, `This report holds no case '${short(id)}'.`), el("p", {}, el("a", { href: link_to("cases") }, "All cases"))];
  }
  const moved = data.gate && data.gate.moved.find((row) => row.id === id);
  const rivals = cases.filter((other) => other.id !== id && each && other.op === each.op && other.precision === each.precision && other.axes === each.axes && other.l2 === each.l2);
  return [
    el("h2", { class: "id" }, el("code", {}, id)),
    moved ? el("p", { class: "verdict " + (moved.verdict === "faster" ? "ok" : moved.verdict === "slower" ? "bad" : "unsure") },
      `${moved.verdict} ${moved.ratio ? percent_interval(moved.ratio) : ""} ${moved.reason || ""}`) : null,
    el("div", { class: "two tall" },
      each ? fields([...case_values(each), ["baseline", each.baseline && case_link(each.baseline)]]) : el("p", {}, "Not measured in this run."),
      each ? el("div", {}, el("h3", {}, "Samples at the reference clock"), histogram(each) || el("p", {}, "none")) : null),
    el("h3", {}, "Measure it again"), command_line(reproduce_command(id)),
    own.map((line) => el("section", {}, el("h3", {}, own.length > 1 ? `History by ${line.method}` : "History"),
      line.drifts ? el("p", {}, "Drifts: ", line.drifts.map((drift) => `${percent_interval(drift.ratio)} from ${minute(run_of(drift.from).at)} to ${minute(run_of(drift.to).at)}`).join("; ")) : null,
      line.left_out ? el("p", {}, `Left out: ${line.left_out} stored times that are not positive numbers.`) : null,
      history_chart(line, false))),
    rivals.length > 0 ? el("section", {}, el("h3", {}, "The same problem by others"), data_table({
      name: "rivals", caption: "Providers of this problem", rows: [each, ...rivals], sort: "time", columns: [id_column, time_column, ratio_column],
    })) : null,
  ];
}
