// Chart.js in the colours of the theme. A chart lives as long as its page.

const charts = [];

function forget_charts() {
  while (charts.length > 0) charts.pop().destroy();
}

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();

// Cividis in five steps: even in lightness, the same for every kind of colour vision.
const elasticity_colours = ["#00224e", "#414d6b", "#7c7b78", "#bcae6c", "#fee838"];
function elasticity_colour(elasticity) {
  if (!elasticity) return "#b0479b";
  return elasticity_colours[Math.max(0, Math.min(4, Math.round(elasticity[0] * 4)))];
}

// Okabe & Ito: told apart in every common colour-blindness; beside them, each series has its mark.
const series_colours = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8f8f8f", "#b8a800"];
const series_marks = ["circle", "triangle", "rect", "rectRot", "crossRot", "star", "cross", "line"];

// Vertical lines at x: {x, text, dash, colour}. Numbered on the chart, told in the list beneath.
const marker_lines = {
  id: "markers",
  afterDatasetsDraw(chart, _, options) {
    const { ctx, chartArea, scales } = chart;
    for (const mark of options.lines || []) {
      const x = scales.x.getPixelForValue(mark.x);
      if (x < chartArea.left - 1 || x > chartArea.right + 1) continue;
      ctx.save();
      ctx.strokeStyle = ctx.fillStyle = colour(mark.colour);
      ctx.lineWidth = 1.5;
      ctx.setLineDash(mark.dash ? [5, 4] : []);
      ctx.beginPath();
      ctx.moveTo(x, chartArea.top);
      ctx.lineTo(x, chartArea.bottom);
      ctx.stroke();
      ctx.font = "bold 12px sans-serif";
      ctx.textAlign = x > chartArea.right - 14 ? "right" : "left";
      ctx.fillText(mark.text, x + (ctx.textAlign === "right" ? -3 : 3), mark.dash ? chartArea.bottom - 4 : chartArea.top + 12);
      ctx.restore();
    }
  },
};

function axis(title, more = {}) {
  return {
    title: { display: true, text: title, color: colour("text") },
    ticks: { color: colour("faint"), maxRotation: 0, autoSkipPadding: 12, ...(more.ticks || {}) },
    grid: { color: colour("line") },
    ...Object.fromEntries(Object.entries(more).filter(([name]) => name !== "ticks")),
  };
}

// On a log axis: the decades, and 2 and 5 between them while there is room.
function log_axis(title, write = significant3) {
  return axis(title, {
    type: "logarithmic",
    ticks: {
      autoSkip: false,
      callback: (value, index, ticks) => {
        const digit = Math.round(value / 10 ** Math.floor(Math.log10(value) + 1e-9));
        return digit === 1 || ticks.length < 8 || (ticks.length < 25 && (digit === 2 || digit === 5)) ? write(value) : "";
      },
    },
  });
}
const significant3 = (value) => String(Number(value.toPrecision(3)));

// `label` says in words what the chart shows; the table beneath it has the figures.
function chart_box(label, make, small = false) {
  const canvas = el("canvas", { role: "img", "aria-label": label });
  const box = el("div", { class: small ? "chart small" : "chart" }, canvas);
  // Chart.js measures its box, which must stand in the page first.
  queueMicrotask(() => {
    if (!box.isConnected) return;
    const config = make();
    config.options = {
      animation: false, responsive: true, maintainAspectRatio: false, normalized: true,
      ...config.options,
      plugins: {
        legend: { labels: { color: colour("text"), usePointStyle: true, boxHeight: 7 }, ...(config.legend || {}) },
        tooltip: { enabled: false, external: (context) => chart_tip(context) },
        markers: { lines: config.markers || [] },
      },
      onClick: (_, hits, chart) => {
        const raw = hits.length > 0 ? chart.data.datasets[hits[0].datasetIndex].data[hits[0].index] : null;
        if (raw && raw.id) go_to("case", { id: raw.id });
      },
    };
    config.plugins = [marker_lines];
    charts.push(new Chart(canvas, config));
  });
  return box;
}

function chart_tip({ chart, tooltip }) {
  if (tooltip.opacity === 0 || !tooltip.dataPoints) { hide_tip(); return; }
  const raw = tooltip.dataPoints[0].raw;
  if (!raw || !(raw.id || raw.tip)) { hide_tip(); return; }
  const box = chart.canvas.getBoundingClientRect();
  show_tip(raw.id ? case_card(raw.id, raw.tip || []) : [fields(raw.tip)], box.left + tooltip.caretX, box.top + tooltip.caretY);
}
