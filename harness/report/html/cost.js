// What a million tokens cost: the answer of `etalon cost --json`, which came with the report.

const cost_key = (row) => [row.model, row.gpu, row.group, row.kernels, row.precision, `TP ${row.tp}`, `${row.isl}/${row.osl}`].filter(Boolean).join(", ");

function cost_chart(title, rows, x, y, x_title, y_title) {
  const keys = [...new Set(rows.map(cost_key))];
  const make = () => ({
    type: "scatter",
    data: {
      datasets: keys.map((key, i) => ({
        label: key, showLine: true, borderWidth: 2, borderColor: series_colours[i % series_colours.length], backgroundColor: series_colours[i % series_colours.length],
        pointStyle: series_marks[i % series_marks.length], pointRadius: 5, pointHoverRadius: 8,
        data: rows.filter((row) => cost_key(row) === key).map((row) => ({
          x: x(row), y: y(row),
          tip: [["", key], ["in flight", String(row.batch)], ["TPOT", interval_text([row.tpot_ms, row.tpot_ms_lo, row.tpot_ms_hi]) + " ms"],
            ["tokens/s/GPU", significant(row.tokens_per_s_per_gpu)],
            ["$/M output", interval_text([row.usd_per_million_output, row.usd_per_million_output_lo, row.usd_per_million_output_hi])]],
        })),
      })),
    },
    options: { scales: { x: log_axis(x_title), y: log_axis(y_title) } },
  });
  return el("section", {}, el("h3", {}, title), chart_box(title, make));
}

function cost_page() {
  const part = data.cost;
  const how = "etalon cost --model llama-3.1-70b --price 2.90 --json > cost.json && etalon report --format html --cost cost.json --out report.html";
  if (!part) return [el("h2", {}, "Cost"), el("p", {}, "What a million tokens cost comes with the report when it is given the answer of etalon cost:"), command_line(how)];
  const rows = part.rows || [], known = rows.filter((row) => row.usd_per_million_output !== null);
  const interval = (name, title) => ({
    name: title, kind: "number", get: (row) => row[name],
    csv: interval_csv(name, (row) => [row[name], row[name + "_lo"], row[name + "_hi"]]),
    text: (row) => (row[name] === null ? "-" : interval_text([row[name], row[name + "_lo"], row[name + "_hi"]])),
  });
  const remarks = (row) => [row.cheapest && "cheapest", row.pareto && "frontier", !row.meets_limits && row.missing === 0 && "over the limit",
    row.missing > 0 && `${row.missing} operators missing`, row.low_confidence && "low confidence (experts)"].filter(Boolean).join(", ");
  return [
    el("h2", {}, "Cost"),
    el("ul", {}, (part.prices || []).map((price) => el("li", {}, `${price.gpu} at $${significant(price.usd_per_gpu_hour)} per GPU-hour (${[price.tier, price.date, price.source].filter(Boolean).join(", ")})`, price.stale ? " - an old price" : "")),
      el("li", {}, `Convention ${part.convention}: ${part.convention_meaning}`)),
    known.length > 0 ? el("div", { class: "two" },
      cost_chart("Price against speed", known, (row) => row.tpot_ms, (row) => row.usd_per_million_output, "ms per output token", "$ per million output tokens"),
      cost_chart("Throughput against speed", known, (row) => row.tpot_ms, (row) => row.tokens_per_s_per_gpu, "ms per output token", "tokens/s per GPU"))
      : el("p", {}, "No row has a cost: measurements are missing."),
    data_table({
      name: "cost", caption: "Cost of a million tokens", rows,
      columns: [
        { name: "model", get: (row) => row.model }, { name: "GPU", get: (row) => row.gpu },
        ...(rows.some((row) => row.group) ? [{ name: "group", get: (row) => row.group }] : []),
        { name: "kernels", get: (row) => row.kernels }, { name: "precision", get: (row) => row.precision }, { name: "KV", get: (row) => row.kv_precision },
        { name: "TP", kind: "number", get: (row) => row.tp }, { name: "in flight", kind: "number", get: (row) => row.batch },
        { name: "ISL/OSL", get: (row) => `${row.isl}/${row.osl}` },
        interval("tpot_ms", "TPOT ms"), interval("ttft_ms", "TTFT ms"),
        { name: "tokens/s/GPU", kind: "number", get: (row) => row.tokens_per_s_per_gpu, text: (row) => significant(row.tokens_per_s_per_gpu) },
        interval("usd_per_million_input", "$/M input"), interval("usd_per_million_output", "$/M output"),
        { name: "measured", kind: "number", get: (row) => row.measured_share, text: (row) => share_text(row.measured_share) },
        { name: "remarks", get: remarks },
      ],
    }),
    (part.missing || []).length > 0 ? el("section", {}, el("h3", {}, `${part.missing.length} operators are missing`),
      el("ul", {}, part.missing.slice(0, 20).map((id) => el("li", {}, el("code", {}, id)))), part.measure_with ? command_line(part.measure_with) : null) : null,
  ];
}
