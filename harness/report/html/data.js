// The data of the page, and the cases as objects.

const data = JSON.parse(document.getElementById("data").textContent);

function split_id(id) {
  const parts = id.split("/");
  const [op = "", precision = "", axes = "", provider = ""] = parts;
  return { op, precision, axes, provider, l2: parts[4] || "" };
}

function decode_cases(columns) {
  if (!columns) return [];
  return columns.id.map((id, i) => ({
    id, index: i, ...split_id(id),
    status: columns.status[i],
    reason: columns.reason[i] < 0 ? "" : columns.reasons[columns.reason[i]],
    time: columns.time[i], norm: columns.norm[i], ratio: columns.ratio[i],
    baseline: columns.baseline[i] < 0 ? "" : columns.id[columns.baseline[i]],
    elasticity: columns.elasticity[i], clock_mhz: columns.clock[i],
    flop: columns.flop[i], bytes: columns.bytes[i],
    bars: columns.bars[i], bars_from: columns.bars_from[i], bars_to: columns.bars_to[i],
    samples: columns.samples[i],
  }));
}

const cases = decode_cases(data.cases);
const case_of = new Map(cases.map((each) => [each.id, each]));
const lines = data.histories ? data.histories.lines : [];
const lines_of = new Map();
for (const line of lines) {
  if (!lines_of.has(line.id)) lines_of.set(line.id, []);
  lines_of.get(line.id).push(line);
}

const tflops_of = (each) => (each.flop && each.time ? each.flop / each.time[0] / 1e3 : null);
const gbs_of = (each) => (each.bytes && each.time ? each.bytes / each.time[0] : null);

// What a shell takes back as this very text.
const shell_quoted = (text) => "'" + text.replaceAll("'", "'\\''") + "'";
const reproduce_command = (id) => `etalon sweep --db again.db --case ${shell_quoted(id)}`;

// The filter above every page: words that must be in an id (-word: must not), and three lists.
const filter = { text: "", op: "", precision: "", provider: "" };

function matches_filter(id) {
  const parts = split_id(id);
  if (filter.op && parts.op !== filter.op) return false;
  if (filter.precision && parts.precision !== filter.precision) return false;
  if (filter.provider && parts.provider !== filter.provider) return false;
  const text = id.toLowerCase();
  return filter.text.toLowerCase().split(/\s+/).filter(Boolean).every((word) =>
    word.length > 1 && word[0] === "-" ? !text.includes(word.slice(1)) : text.includes(word));
}

// The filter changes seldom and is asked for often.
let shown_memo = null;
function shown_cases() {
  if (!shown_memo) shown_memo = cases.filter((each) => matches_filter(each.id));
  return shown_memo;
}
