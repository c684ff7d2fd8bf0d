// The roofline: ceilings that this run reached (solid) apart from those of the data sheet (dashed),
// and a dot for each case in the colour of its elasticity.

const most_dots = 4000;

const intensity_of = (each) => (each.flop && each.bytes ? each.flop / each.bytes : null);

// From the left edge up the slope of memory to the ridge, and on at the compute ceiling.
function ceiling_line(gb_s, tflops, from, to) {
  const ridge = tflops * 1e3 / gb_s;
  const at = (x) => ({ x, y: Math.min(x * gb_s / 1e3, tflops) });
  return [from, ...(ridge > from && ridge < to ? [ridge] : []), to].map(at);
}

function ceiling_rows() {
  const { gb_s, tflops, data_sheet } = data.ceilings;
  const sheet = data_sheet || { gb_s: null, tflops: {} };
  const names = [...new Set([...Object.keys(tflops), ...(data_sheet ? Object.keys(sheet.tflops) : [])])].sort();
  return [
    { name: "memory", unit: "GB/s", reached: gb_s.value || null, sheet: sheet.gb_s, id: gb_s.id },
    ...names.map((name) => ({ name, unit: "TFLOP/s", reached: tflops[name] ? tflops[name].value : null, sheet: sheet.tflops[name] || null, id: tflops[name] ? tflops[name].id : "" })),
  ];
}

function ceilings_table() {
  return data_table({
    name: "ceilings", caption: "What this run reached beside what the data sheet says (dense products)", rows: ceiling_rows(),
    columns: [
      { name: "ceiling", get: (row) => row.name }, { name: "unit", get: (row) => row.unit },
      { name: "data sheet", kind: "number", get: (row) => row.sheet, text: (row) => significant(row.sheet) },
      { name: "reached", kind: "number", get: (row) => row.reached, text: (row) => significant(row.reached) },
      { name: "share", kind: "number", get: (row) => row.reached && row.sheet && row.reached / row.sheet, text: (row) => (row.reached && row.sheet ? share_text(row.reached / row.sheet) : "-") },
      { name: "by", key: "case_id", kind: "text", get: (row) => row.id, text: (row) => (row.id ? case_link(row.id) : "-") },
    ],
  });
}

function roofline_chart(dots, precision) {
  const { gb_s, tflops, data_sheet } = data.ceilings;
  const xs = dots.map(intensity_of);
  const from = 10 ** Math.floor(Math.log10(Math.min(...xs))), to = 10 ** Math.ceil(Math.log10(Math.max(...xs, 1e3)));
  const marks = new Map([...new Set(dots.map((each) => each.op))].map((op, i) => [op, series_marks[i % 3]]));
  const make = () => {
    const line = (label, rate, slope, dash) => ({
      label, type: "line", showLine: true, data: ceiling_line(slope, rate, from, to), borderColor: dash ? colour("worse") : colour("text"),
      backgroundColor: dash ? colour("worse") : colour("text"), borderDash: dash ? [6, 5] : [], borderWidth: 1.8, pointRadius: 0, pointHitRadius: 0, tension: 0, pointStyle: "line",
    });
    const shown = Object.keys(tflops).filter((name) => !precision || name === precision);
    const datasets = [...marks].map(([op, mark]) => {
      const own = dots.filter((each) => each.op === op);
      return {
        label: op, pointStyle: mark, pointRadius: 4.5, pointHoverRadius: 7, borderColor: colour("text"), borderWidth: 0.5,
        backgroundColor: own.map((each) => elasticity_colour(each.elasticity)),
        data: own.map((each) => ({ x: intensity_of(each), y: tflops_of(each), id: each.id, tip: [["FLOP/B", significant(intensity_of(each), 3)]] })),
      };
    });
    if (gb_s.value > 0) shown.forEach((name) => datasets.push(line(`${name} reached`, tflops[name].value, gb_s.value, false)));
    if (data_sheet) shown.filter((name) => data_sheet.tflops[name]).forEach((name) => datasets.push(line(`${name} data sheet`, data_sheet.tflops[name], data_sheet.gb_s, true)));
    return {
      type: "scatter", data: { datasets },
      options: { scales: { x: { ...log_axis("FLOP a byte of least traffic"), min: from, max: to }, y: log_axis("TFLOP/s") } },
    };
  };
  return chart_box(`Roofline of ${dots.length} cases`, make);
}

function roofline_page(parameters) {
  const able = shown_cases().filter((each) => each.status === "ok" && intensity_of(each) && tflops_of(each));
  const precisions = [...new Set(able.map((each) => each.precision))];
  const asked = parameters.get("precision");
  const precision = precisions.includes(asked) ? asked : asked === "all" ? "" : precisions[0] || "";
  const dots = able.filter((each) => !precision || each.precision === precision).slice(0, most_dots);
  const choice = el("select", { id: "roof-precision", change: () => go_to("roofline", { precision: choice.value }) },
    el("option", { value: "all", selected: !precision }, "all"), precisions.map((name) => el("option", { value: name, selected: name === precision }, name)));
  return [
    el("h2", {}, "Roofline"),
    el("label", {}, "Precision ", choice),
    dots.length > 0 ? roofline_chart(dots, precision) : el("p", {}, "No case that this filter shows has both FLOP and bytes."),
    el("div", { class: "key", "aria-label": "Colours of the dots" }, "elasticity, how much of the time follows the clock: ",
      ["0 memory or latency", "0.25", "0.5", "0.75", "1 compute"].map((text, i) => el("span", { class: "e" + i }, text))),
    el("h2", {}, "Ceilings"), ceilings_table(),
    el("details", {}, el("summary", {}, "Dots as a table"), data_table({
      name: "roofline", caption: "Cases on the roofline", rows: dots,
      columns: [id_column, { name: "FLOP/B", kind: "number", key: "intensity_flop_per_byte", get: intensity_of, text: (row) => significant(intensity_of(row), 3) },
        { name: "TFLOP/s", kind: "number", key: "tflops", get: tflops_of, text: (row) => significant(tflops_of(row)) },
        { name: "GB/s", kind: "number", key: "gbs", get: gbs_of, text: (row) => significant(gbs_of(row)) },
        { name: "elasticity", kind: "number", get: (row) => row.elasticity && row.elasticity[0], csv: interval_csv("elasticity", (row) => row.elasticity), text: (row) => row.elasticity && interval_text(row.elasticity, (value) => value.toFixed(2)) }],
    })),
  ];
}
