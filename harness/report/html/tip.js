// The card beside the pointer: exact values, interval, and the samples as a small histogram.

const tip = document.getElementById("tip");

function histogram(each) {
  if (!each.bars) return null;
  const heights = [...each.bars].map((digit) => parseInt(digit, 36) / 35);
  const count = heights.length;
  const label = `${each.samples} samples from ${time_text(each.bars_from)} to ${time_text(each.bars_to)}`;
  return el("div", {},
    el("svg", { class: "bars", viewBox: `0 0 ${count} 10`, preserveAspectRatio: "none", role: "img", "aria-label": label },
      heights.map((height, i) => el("rect", { x: i + 0.05, width: 0.9, y: 10 - 10 * height, height: 10 * height }))),
    el("span", { class: "faint" }, label));
}

function case_values(each) {
  return [
    ["status", each.status === "ok" ? null : each.status],
    ["reason", each.reason],
    ["time (95 %)", each.time && interval_text(each.time, time_text)],
    ["at reference clock", each.norm && interval_text(each.norm, time_text)],
    ["ratio to baseline", each.ratio && interval_text(each.ratio)],
    ["TFLOP/s", tflops_of(each) && significant(tflops_of(each))],
    ["GB/s of least bytes", gbs_of(each) && significant(gbs_of(each))],
    ["clock", each.clock_mhz && significant(each.clock_mhz) + " MHz"],
    ["elasticity", each.elasticity && interval_text(each.elasticity, (value) => value.toFixed(2))],
  ];
}

function show_tip(content, x, y) {
  tip.replaceChildren(...content);
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const left = x + 16 + box.width > innerWidth ? x - box.width - 12 : x + 16;
  tip.style.left = Math.max(6, Math.min(left, innerWidth - box.width - 6)) + "px";
  tip.style.top = Math.max(6, Math.min(y + 14, innerHeight - box.height - 6)) + "px";
}

function hide_tip() { tip.hidden = true; }

const short = (text) => (text.length > 300 ? text.slice(0, 300) + "…" : text);

function case_card(id, more = []) {
  const each = case_of.get(id);
  const values = each ? case_values(each) : [];
  return [el("strong", { class: "code" }, short(id)),
    fields([...more, ...values].map(([name, value]) => [name, typeof value === "string" ? short(value) : value])),
    each ? histogram(each) : null].filter(Boolean);
}

// One listener for every element that names its case.
function tip_of_event(event) {
  const holder = event.target.closest ? event.target.closest("[data-case]") : null;
  if (!holder) { hide_tip(); return; }
  const box = holder.getBoundingClientRect();
  const by_key = event.type === "focusin";
  show_tip(case_card(holder.dataset.case), by_key ? box.left : event.clientX, by_key ? box.bottom - 10 : event.clientY);
}
document.addEventListener("mouseover", tip_of_event);
document.addEventListener("focusin", tip_of_event);
document.addEventListener("scroll", hide_tip, true);
document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide_tip(); });

const case_link = (id) => el("a", { href: link_to("case", { id }), "data-case": id, class: "clip" }, id);
