// One case over its nights: times, levels between changes, and what changed in the environment.

const run_of = (index) => data.runs[index];
const run_time = (index) => Date.parse(run_of(index).at);
const nights_of = (line) => data.histories.night_lists[line.nights];
const night_ns = (line, i) => (line.values[i] === null ? null : line.base_ns * (1 + data.histories.step * line.values[i]));

// Levels as the detector has them: one segment between two changes.
function level_segments(line) {
  const points = line.points || [], nights = nights_of(line), out = [];
  points.forEach((point, i) => {
    const from = i === 0 ? nights[0] : points[i - 1].run;
    out.push({ x: run_time(from), y: point.before_ns / 1e3 }, { x: run_time(point.run), y: point.before_ns / 1e3 },
      { x: NaN, y: NaN });
    if (i === points.length - 1) {
      out.push({ x: run_time(point.run), y: point.after_ns / 1e3 },
        { x: run_time(nights[nights.length - 1]), y: point.after_ns / 1e3 });
    }
  });
  return out;
}

// Changes of the environment between the nights of the line; a revision changes too often to mark.
function environment_marks(line) {
  const nights = nights_of(line), marks = [];
  const first = nights[0], last = nights[nights.length - 1];
  data.runs.forEach((run, i) => {
    if (i <= first || i > last || run.gpu !== line.gpu) return;
    const texts = (run.changes || []).filter((text) => !text.startsWith("revision "));
    if (texts.length > 0) marks.push({ run: i, text: texts.join(", ") });
  });
  return marks;
}

function history_chart(line, small = true) {
  const nights = nights_of(line), points = line.points || [];
  const values = nights.map((run, i) => ({ x: run_time(run), y: night_ns(line, i) && night_ns(line, i) / 1e3, run }))
    .filter((value) => value.y !== null)
    .map((value) => ({ ...value, tip: [["night", minute(run_of(value.run).at)], ["time", time_text(value.y * 1e3)],
      ["revision", run_of(value.run).revision], ["run", run_of(value.run).id]] }));
  if (values.length === 0) return el("p", {}, "No night has a time of it.");
  const environment = environment_marks(line);
  const first = values[0].x, last = values[values.length - 1].x;
  const marks = [
    ...points.map((point, i) => ({ x: run_time(point.run), text: String(i + 1),
      colour: point.ratio[0] > 1 ? "worse" : "better" })),
    ...environment.map((mark, i) => ({ x: run_time(mark.run), text: letter(i), dash: true, colour: "faint" })),
  ];
  const make = () => ({
    type: "scatter",
    data: {
      datasets: [
        { label: "night", data: values, backgroundColor: colour("accent"), borderColor: colour("accent"), pointRadius: values.length > 120 ? 2 : 3.5, pointHoverRadius: 6 },
        { label: "level", data: level_segments(line), showLine: true, pointRadius: 0, spanGaps: false, borderColor: colour("text"), borderWidth: 2, pointHitRadius: 0 },
      ],
    },
    legend: { display: false },
    markers: marks,
    options: {
      scales: {
        x: axis("", { type: "linear", min: first - 0.02 * (last - first), max: last + 0.02 * (last - first) + 1,
          ticks: { maxTicksLimit: innerWidth < 640 ? 4 : 8, includeBounds: false, callback: (value) => new Date(value).toISOString().slice(0, 10) } }),
        y: axis("µs at the reference clock", {}),
      },
    },
  });
  const label = `${short(line.id)}: ${values.length} nights, ${points.length} changes`;
  return el("div", {}, chart_box(label, make, small), marks_list(points, environment), nights_table(line));
}

const letter = (i) => (i < 26 ? String.fromCharCode(97 + i) : `a${letter(i - 26)}`);

function marks_list(points, environment) {
  if (points.length + environment.length === 0) return null;
  const shown = environment.slice(-12);
  return el("ul", {},
    points.map((point, i) => el("li", {}, el("strong", {}, `${i + 1} `), minute(run_of(point.run).at), " ",
      el("span", { class: point.ratio[0] > 1 ? "worse" : "better" }, point.ratio[0] > 1 ? "slower " : "faster ", percent_interval(point.ratio)),
      `, ${time_text(point.before_ns)} to ${time_text(point.after_ns)}`,
      point.from === point.to ? "" : `; between ${minute(run_of(point.from).at)} and ${minute(run_of(point.to).at)}`,
      "; ", causes_text(point.causes, point.run))),
    shown.map((mark, i) => el("li", {}, el("strong", {}, `${letter(i + environment.length - shown.length)} `),
      minute(run_of(mark.run).at), " ", mark.text)));
}

function causes_text(causes, run) {
  if (causes.length === 0) return "nothing recorded changed";
  return causes.map(([at, text]) => (at === run ? text : `${text} (${minute(run_of(at).at)})`)).join(", ");
}

function nights_table(line) {
  const nights = nights_of(line);
  const rows = nights.map((run, i) => ({ at: minute(run_of(run).at), time_ns: night_ns(line, i), run: run_of(run).id, revision: run_of(run).revision }));
  const thinned = line.of > rows.length ? `; ${rows.length} of ${line.of} are in this file` : "";
  const details = el("details", {}, el("summary", {}, `Nights as a table${thinned}`));
  details.addEventListener("toggle", () => {
    if (!details.open || details.childElementCount > 1) return;
    details.append(data_table({
      name: "history", caption: `Nights of ${short(line.id)}`, rows, sort: "night", down: true,
      columns: [
        { name: "night", key: "started_at", get: (row) => row.at },
        { name: "time", kind: "number", key: "norm_time_ns", get: (row) => row.time_ns, text: (row) => time_text(row.time_ns) },
        { name: "revision", key: "revision", get: (row) => row.revision },
        { name: "run", key: "run_id", get: (row) => row.run },
      ],
    }));
  });
  return details;
}
