// The card and the machine: data sheet beside what was reached, conditions, doctor's answers.

const doctor_tone = (row) => (row.level === "bad" || row.level === "warning" ? "worse" : "");

function device_page() {
  const { environment, conditions, run } = data;
  const known = Object.entries(environment).filter(([name, value]) => name !== "extra" && value !== null && value !== "" && value !== 0);
  const extra = Object.entries(environment.extra || {}).map(([name, value]) => [name, value]);
  const doctor = data.doctor ? data.doctor.findings || [] : [];
  return [
    el("h2", {}, environment.gpu || "Device"),
    ceilings_table(),
    el("p", { class: "faint" }, "A data sheet's figure is at a clock that the power limit does not let large products keep; sparse figures, twice as large, are of no use here."),
    el("h2", {}, "Conditions of the run"),
    fields([["clock in the timed intervals", range_text(conditions.clock_mhz, "MHz")], ["power", range_text(conditions.power_w, "W")],
      ["temperature", range_text(conditions.temperature_c, "°C")], ["timer: floor", run.floor_ns > 0 ? time_text(run.floor_ns) : "none"], ["timer: step", time_text(run.quantum_ns)]]),
    el("h2", {}, "Doctor"),
    doctor.length > 0 ? data_table({
      name: "doctor", caption: "What this machine would do to a measurement", rows: doctor,
      columns: [{ name: "level", get: (row) => row.level, tone: doctor_tone }, { name: "subject", get: (row) => row.subject }, { name: "value", get: (row) => row.value },
        { name: "effect", get: (row) => row.effect }, { name: "mend", get: (row) => row.mend }],
    }) : el("div", {}, el("p", {}, "Doctor's answers come with the report when it is given them, from the machine that measured:"),
      command_line("etalon doctor --json > doctor.json && etalon report --format html --doctor doctor.json --out report.html")),
    el("h2", {}, "Environment"), fields([...known.map(([name, value]) => [name.replaceAll("_", " "), String(value)]), ...extra]),
    el("h2", {}, "Runs"),
    data_table({
      name: "runs", caption: `${data.runs.length} runs in the file`, rows: data.runs, sort: "started", down: true,
      columns: [{ name: "started", key: "started_at", get: (row) => minute(row.at) }, { name: "state", get: (row) => row.state }, { name: "suite", get: (row) => row.suite },
        { name: "tag", get: (row) => row.tag }, { name: "revision", get: (row) => row.revision }, { name: "host", get: (row) => row.host }, { name: "GPU", get: (row) => row.gpu },
        { name: "changed", get: (row) => (row.changes || []).join(", ") }, { name: "run", key: "run_id", get: (row) => row.id }],
    }),
  ];
}
