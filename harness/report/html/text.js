"use strict";
// Elements and texts. Names of cases, reasons and hosts come from anywhere: they go in as text nodes
// and attributes of a fixed list, so that none can become markup.

const svg_names = new Set(["svg", "rect"]);

function el(tag, attributes, ...children) {
  const node = svg_names.has(tag) ? document.createElementNS("http://www.w3.org/2000/svg", tag)
    : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") node.addEventListener(name, value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return node;
}

// Four significant digits, as the other formats of etalon have them.
function significant(value, digits = 4) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "-";
  if (value === 0) return "0";
  const exponent = Math.floor(Math.log10(Math.abs(value)));
  if (exponent < -9 || exponent > 12) return value.toExponential(digits - 1);
  const rounded = Number(value.toPrecision(digits));
  const decimals = digits - 1 - Math.floor(Math.log10(Math.abs(rounded)));
  return rounded.toFixed(Math.max(0, decimals));
}

function time_text(time_ns) {
  if (!(time_ns > 0) || !Number.isFinite(time_ns)) return "-";
  if (time_ns < 999.95) return significant(time_ns) + " ns";
  if (time_ns < 999.95e3) return significant(time_ns / 1e3) + " µs";
  if (time_ns < 999.95e6) return significant(time_ns / 1e6) + " ms";
  return significant(time_ns / 1e9) + " s";
}

function interval_text(triple, write = significant) {
  if (!triple) return "-";
  return `${write(triple[0])} (${write(triple[1])} to ${write(triple[2])})`;
}

function percent(ratio) {
  const value = 100 * (ratio - 1);
  if (!Number.isFinite(value)) return "-";
  return (value >= 0 ? "+" : "") + value.toFixed(Math.abs(value) < 9.995 ? 2 : 1) + " %";
}

const percent_interval = (ratio) => interval_text(ratio, percent);
const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;
const minute = (at) => String(at).slice(0, 16).replace("T", " ");
const share_text = (share) => (Number.isFinite(share) ? (100 * share).toFixed(0) + " %" : "-");

// A word for the side of 1 that a whole interval lies on.
function side(ratio, over = "better", under = "worse") {
  if (!ratio) return "";
  return ratio[1] > 1 ? over : ratio[2] < 1 ? under : "";
}

function quantile(sorted, q) {
  if (sorted.length === 0) return NaN;
  const at = q * (sorted.length - 1), low = Math.floor(at), high = Math.ceil(at);
  return sorted[low] + (at - low) * (sorted[high] - sorted[low]);
}

function geometric_mean(values) {
  return Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
}

// RFC 4180. A text that a spreadsheet would take for a formula is led by an apostrophe.
function csv_field(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : "";
  let text = String(value);
  if (/^[=+\-@\t\r]/.test(text)) text = "'" + text;
  return /[",\r\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
}

function csv_text(header, rows) {
  return [header, ...rows].map((row) => row.map(csv_field).join(",")).join("\r\n") + "\r\n";
}

function download(name, text) {
  const link = el("a", { href: URL.createObjectURL(new Blob([text], { type: "text/csv" })), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

async function copy_text(text, button) {
  const label = button.textContent;
  let done = false;
  try {
    await navigator.clipboard.writeText(text);
    done = true;
  } catch {
    // Without leave for the clipboard, the old way: a selected field.
    const field = el("textarea", { readonly: true }, text);
    document.body.append(field);
    field.select();
    done = document.execCommand("copy");
    field.remove();
  }
  button.textContent = done ? "Copied" : "Copy by hand";
  setTimeout(() => { button.textContent = label; }, 1500);
}

const fields = (pairs) => el("dl", { class: "fields" },
  pairs.filter(([, value]) => value !== null && value !== undefined && value !== "")
    .map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));

const cards = (pairs) => el("dl", { class: "cards" },
  pairs.map(([name, value, small]) => el("div", {}, el("dt", {}, name),
    el("dd", {}, value, small ? el("small", {}, small) : null))));
