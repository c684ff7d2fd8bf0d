// What changed: the gate's word on this run, and the changes of all histories, those that moved
// together as one.

const plotted_members = 3;

function cluster_article(cluster) {
  const members = cluster.members.filter(([line]) => matches_filter(lines[line].id));
  if (members.length === 0) return null;
  const word = cluster.slower ? "slower" : "faster";
  const title = cluster.moved === 1 ? cluster.name : `${cluster.moved} of ${cluster.alike} ${cluster.name ? cluster.name + " " : ""}cases`;
  const rows = members.map(([line, point]) => ({ id: lines[line].id, ...lines[line].points[point] }));
  const plots = el("div", { class: "two" });
  // Plots are drawn when they come into sight: a year of findings opens at once.
  const draw = () => plots.append(...members.slice(0, plotted_members).map(([line]) =>
    el("div", {}, el("h3", {}, case_link(lines[line].id)), history_chart(lines[line]))));
  when_seen(plots, draw);
  return el("article", { class: "finding" },
    el("h3", {}, `${minute(run_of(cluster.run).at)}  `,
      el("span", { class: cluster.slower ? "worse" : "better" }, `${word} ${percent_interval(cluster.ratio)}`), "  ", title),
    el("p", {}, cluster.machine
      ? "The vendor's kernels moved too and nothing recorded changed: the machine (see etalon doctor)."
      : `With it: ${causes_text(cluster.causes, cluster.run)}.`),
    plots,
    cluster.moved > 1 ? el("details", {}, el("summary", {}, `All ${members.length} that are shown of ${cluster.moved}`), data_table({
      name: "finding", caption: "Members", rows, sort: "change (95 %)", down: cluster.slower,
      columns: [change_column, id_column,
        { name: "before", kind: "number", key: "before_ns", get: (row) => row.before_ns, text: (row) => time_text(row.before_ns) },
        { name: "after", kind: "number", key: "after_ns", get: (row) => row.after_ns, text: (row) => time_text(row.after_ns) },
        { name: "with it", key: "causes", get: (row) => causes_text(row.causes, row.run) }],
    })) : null);
}

function when_seen(node, draw) {
  const seen = new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    seen.disconnect();
    draw();
  }, { rootMargin: "200px" });
  node.style.minHeight = "10rem";
  queueMicrotask(() => seen.observe(node));
}

function findings_page() {
  const moved = data.gate ? data.gate.moved.filter((row) => matches_filter(row.id)) : [];
  const articles = data.clusters.map(cluster_article).filter(Boolean);
  const drifting = lines.filter((line) => line.drifts && matches_filter(line.id)).flatMap((line) =>
    line.drifts.map((drift) => ({ id: line.id, ratio: drift.ratio, from: minute(run_of(drift.from).at), to: minute(run_of(drift.to).at) })));
  const apart = lines.filter((line) => line.apart && matches_filter(line.id));
  const undecidable = lines.filter((line) => line.sigma === undefined).length;
  return [
    el("h2", {}, "This run"), verdict_line(),
    moved.length > 0 ? moved_table("moved", moved) : null,
    el("h2", {}, `Changes in the histories (${articles.length})`),
    articles.length === 0 ? el("p", {}, undecidable === lines.length
      ? `No case has the five nights that a change needs: this file holds ${counted(data.runs.length, "run")}.`
      : "None that this filter shows.") : null,
    growing_list(articles, 10),
    drifting.length > 0 ? el("section", {}, el("h2", {}, `Drifts (${drifting.length})`), data_table({
      name: "drifts", caption: "Trends of many small steps", rows: drifting, sort: "change (95 %)", down: true,
      columns: [change_column, id_column, { name: "from", get: (row) => row.from }, { name: "to", get: (row) => row.to }],
    })) : null,
    apart.length > 0 ? el("section", {}, el("h2", {}, `Latest night stands apart (${apart.length})`),
      el("p", {}, "The next night tells a spike from a change."), data_table({
        name: "apart", caption: "Candidates", rows: apart, columns: [id_column],
      })) : null,
    undecidable > 0 && undecidable < lines.length ? el("p", { class: "faint" }, `${undecidable} of ${lines.length} histories have under five nights: too few to tell a change from noise.`) : null,
  ];
}

function growing_list(items, most) {
  const list = el("div", {}, items.slice(0, most));
  if (items.length > most) {
    const button = el("button", { type: "button", click: () => { button.remove(); list.append(...items.slice(most)); } }, `Show ${items.length - most} more`);
    list.append(button);
  }
  return list;
}
