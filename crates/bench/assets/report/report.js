"use strict";
// Draws the charts of a report from the figures in the element `figures`, one after the other, so that the page can be
// read at once. Colours of text and lines are those of the style sheet, which knows the dark mode and paper.
(() => {
  const figures = JSON.parse(document.getElementById("figures").textContent);
  const of = Object.fromEntries(figures.measures.map((name, index) => [name, index]));
  const [SIZE, CONNECTIONS, RATE, TARGETS] = [0, 1, 2, 3];

  // Okabe and Ito's colours, which the colour-blind can tell apart; marks and dashes say the same once more.
  const COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "var(--ink)", "#B8A800"];
  const MARKS = ["circle", "rect", "triangle", "diamond", "roundRect", "arrow", "emptyCircle", "emptyRect"];
  const DASHES = ["solid", "dashed", "dotted", [10, 3, 2, 3], [4, 2], [14, 4], [2, 4], [8, 2, 2, 2, 2, 2]];
  const style = (target) => ({
    color: COLOURS[target % 8],
    symbol: MARKS[(target + Math.floor(target / 8)) % 8],
    dash: DASHES[(target + Math.floor(target / 8)) % 8],
  });

  const size = (bytes) => {
    for (const [unit, name] of [[1 << 30, "GB"], [1 << 20, "MB"], [1 << 10, "KB"]])
      if (bytes >= unit) return `${+(bytes / unit).toFixed(1)} ${name}`;
    return `${bytes} B`;
  };
  const short = (value) => {
    if (value === null || value === undefined) return "–";
    const magnitude = Math.abs(value);
    if (magnitude >= 1e6) return +(value / 1e6).toPrecision(3) + "M";
    if (magnitude >= 1e4) return +(value / 1e3).toPrecision(3) + "k";
    return String(+value.toPrecision(3));
  };
  const distinct = (values) => [...new Set(values)].sort((left, right) => left - right);
  const element = (name, text, kind) => {
    const made = document.createElement(name);
    if (text) made.textContent = text;
    if (kind) made.className = kind;
    return made;
  };

  const axis = (more) => ({
    nameLocation: "middle",
    nameTextStyle: { color: "var(--soft)" },
    axisLabel: { color: "var(--soft)", hideOverlap: true, formatter: short },
    axisLine: { show: true, lineStyle: { color: "var(--soft)" } },
    axisTick: { lineStyle: { color: "var(--soft)" } },
    splitLine: { lineStyle: { color: "var(--line)" } },
    ...more,
  });
  const base = (description) => ({
    animation: false,
    aria: { enabled: true, label: { description } },
    textStyle: { fontFamily: "system-ui, sans-serif" },
    grid: { left: 58, right: 14, top: 12, bottom: 44 },
    tooltip: {
      trigger: "axis", confine: true, valueFormatter: short, transitionDuration: 0,
      backgroundColor: "var(--paper)", borderColor: "var(--line)", textStyle: { color: "var(--ink)", fontSize: 12 },
      axisPointer: { lineStyle: { color: "var(--soft)" } },
    },
  });

  // Lines of all targets over names or, where `values` says so, numbers.
  const lines = (title, targets, across, label, points, { log = false, values = false } = {}) => ({
    title,
    option: {
      ...base(`${title}, against ${label}, a line for each of: ${targets.join(", ")}. The tables have all figures.`),
      xAxis: axis({ type: values ? "value" : "category", name: label, nameGap: 26, splitLine: { show: false },
        ...(values ? {} : { data: across.map(String), axisLabel: { color: "var(--soft)", hideOverlap: true } }) }),
      yAxis: axis({ type: log ? "log" : "value" }),
      series: targets.map((name, target) => {
        const { color, symbol, dash } = style(target);
        const drawn = (value) => (value === null || value === undefined || (log && value <= 0) ? null : value);
        const data = across.map((at, index) => (values ? [at, drawn(points(target, at, index))] : drawn(points(target, at, index))));
        return {
          name, type: "line", data, symbol, symbolSize: 7, color, emphasis: { disabled: true },
          lineStyle: { color, width: 2, type: dash }, itemStyle: { color },
        };
      }),
    },
  });

  // A bar for each target: its CPU, and beside it what is its own.
  const bars = (title, targets, values) => {
    const bar = (name, pick, decal) => ({
      name, type: "bar", emphasis: { disabled: true }, barMaxWidth: 12,
      data: targets.map((_, target) => ({
        value: values(target) ? pick(values(target)) : null,
        itemStyle: { color: style(target).color, ...(decal ? { decal } : {}) },
      })),
      label: { show: true, position: "right", color: "var(--ink)", fontSize: 10, formatter: (it) => short(it.value) },
    });
    const hatch = { symbol: "rect", color: "rgba(255,255,255,.75)", dashArrayX: [1, 0], dashArrayY: [2, 4], rotation: -Math.PI / 4 };
    const series = [bar("CPU", (values) => values[of.cpu_ms_per_1000])];
    if (targets.some((_, target) => values(target) && values(target)[of.own_cost_ms_per_1000] !== null))
      series.push(bar("own cost (hatched)", (values) => values[of.own_cost_ms_per_1000], hatch));
    return {
      title,
      option: {
        ...base(`${title}, a bar for each of: ${targets.join(", ")}. The tables have all figures.`),
        grid: { left: 8, right: 44, top: 8, bottom: 40, containLabel: true },
        xAxis: axis({ type: "value", name: "CPU ms per 1,000 requests", nameGap: 24 }),
        yAxis: axis({ type: "category", inverse: true, data: targets,
          axisLabel: { color: "var(--ink)", width: 90, overflow: "truncate" }, splitLine: { show: false } }),
        series,
      },
    };
  };

  // All panels of a group of cells: `[heading, panels]…`; `chosen` is the number of connections of the later ones.
  const closed = (targets, cells, chosen) => {
    const sizes = distinct(cells.map((cell) => cell[SIZE]));
    const counts = distinct(cells.map((cell) => cell[CONNECTIONS]));
    const find = new Map(cells.map((cell) => [`${cell[SIZE]} ${cell[CONNECTIONS]}`, cell[TARGETS]]));
    const value = (size, count, target, name) => find.get(`${size} ${count}`)?.[target]?.[of[name]];
    const against = (name, log) => sizes.map((bytes) =>
      lines(size(bytes), targets, counts, "connections", (target, count) => value(bytes, count, target, name), { log }));
    const percentiles = [["50", "latency_p50"], ["90", "latency_p90"], ["99", "latency_p99"], ["99.9", "latency_p999"], ["max", "latency_max"]];
    return {
      fixed: [
        ["Requests a second against connections, by size", against("requests_per_second", false)],
        ["Response time against connections, by size: median, in ms", against("latency_p50", true)],
      ],
      chosen: [
        ["CPU per 1,000 requests, and own cost, by size", sizes.map((bytes) =>
          bars(size(bytes), targets, (target) => find.get(`${bytes} ${chosen}`)?.[target]))],
        ["Latency in ms by percentile and size", sizes.map((bytes) =>
          lines(size(bytes), targets, percentiles.map(([label]) => label), "percentile",
            (target, _, index) => value(bytes, chosen, target, percentiles[index][1]), { log: true }))],
        ["Against size", [
          ["Bandwidth, MB/s sent and received", "megabytes_per_second"],
          ["Peak memory, MB", "peak_memory_bytes"],
          ["CPU ms per 1,000 requests", "cpu_ms_per_1000"],
          ["Own cost, CPU ms per 1,000 requests, where above 0", "own_cost_ms_per_1000"],
        ].map(([title, name]) => lines(title, targets, sizes.map(size), "size",
          (target, _, index) => value(sizes[index], chosen, target, name), { log: true }))],
      ],
    };
  };

  // Against offered load, for each size and number of connections.
  const open = (targets, cells) => {
    const kinds = [...new Set(cells.map((cell) => `${cell[SIZE]} ${cell[CONNECTIONS]}`))];
    const panels = (name, log) => kinds.map((kind) => {
      const [bytes, count] = kind.split(" ").map(Number);
      const row = cells.filter((cell) => cell[SIZE] === bytes && cell[CONNECTIONS] === count)
        .sort((left, right) => left[RATE] - right[RATE]);
      return lines(`${size(bytes)}, ${count} connections`, targets, row.map((cell) => cell[RATE]), "offered requests/s",
        (target, _, index) => row[index][TARGETS][target]?.[of[name]], { log, values: true });
    });
    return {
      fixed: [
        ["Good answers a second against offered load", panels("requests_per_second", false)],
        ["p99 latency in ms against offered load", panels("latency_p99", true)],
        ["CPU ms per 1,000 requests against offered load", panels("cpu_ms_per_1000", false)],
      ],
      chosen: [],
    };
  };

  const queue = [];
  const charts = new Map();
  const resized = new ResizeObserver((entries) => {
    for (const { target, contentRect } of entries) {
      const chart = charts.get(target);
      if (chart && contentRect.width > 0 && Math.abs(chart.getWidth() - contentRect.width) > 1) draw(target, chart);
    }
  });
  const draw = (place, chart) => {
    chart.resize();
    // Paper has another width than the screen: there the style sheet scales the drawing.
    place.querySelector("svg")?.setAttribute("viewBox", `0 0 ${chart.getWidth()} ${chart.getHeight()}`);
  };
  const show = ([place, option]) => {
    if (!place.isConnected) return;
    const chart = echarts.init(place, null, { renderer: "svg" });
    chart.setOption(option);
    charts.set(place, chart);
    draw(place, chart);
    resized.observe(place);
  };
  const root = document.documentElement;
  const step = () => {
    // Some milliseconds at a time, so that scrolling stays smooth.
    for (const until = performance.now() + 30; queue.length && performance.now() < until;) show(queue.shift());
    root.dataset.charts = document.querySelectorAll(".chart svg").length;
    if (queue.length) setTimeout(step); else root.dataset.drawn = Math.round(performance.now());
  };

  const put = (place, parts) => {
    for (const [heading, panels] of parts) {
      place.append(element("h4", heading));
      const row = element("div", "", "panels");
      for (const { title, option } of panels) {
        const [figure, chart] = [element("figure"), element("div", "", "chart")];
        figure.append(element("figcaption", title), chart);
        row.append(figure);
        queue.push([chart, option]);
      }
      place.append(row);
    }
  };

  const legend = (targets) => {
    const list = element("ul", "", "legend");
    targets.forEach((name, target) => {
      const { color, symbol, dash } = style(target);
      const [item, place] = [element("li"), element("span")];
      place.style.cssText = "width:44px;height:14px";
      item.append(place, element("span", name));
      list.append(item);
      queue.push([place, {
        animation: false, grid: { left: 2, right: 2, top: 7, bottom: 7 },
        xAxis: { type: "value", show: false, min: 0, max: 2 }, yAxis: { type: "value", show: false, min: -1, max: 1 },
        series: [{ type: "line", data: [[0, 0], [1, 0], [2, 0]], silent: true, symbolSize: (at) => (at[0] === 1 ? 8 : 0), symbol, showAllSymbol: true,
          lineStyle: { color, width: 2, type: dash }, itemStyle: { color } }],
      }]);
    });
    return list;
  };

  const fill = (place) => {
    const run = figures.runs[place.dataset.run];
    const { open: isOpen, cells } = run.groups[place.dataset.group];
    if (!cells.length) return;
    place.append(legend(run.targets));
    if (isOpen) return put(place, open(run.targets, cells).fixed);
    const counts = distinct(cells.map((cell) => cell[CONNECTIONS]));
    const middle = counts[Math.floor(counts.length / 2)];
    put(place, closed(run.targets, cells, middle).fixed);
    const select = element("select");
    for (const count of counts) select.append(new Option(String(count), count, count === middle, count === middle));
    const label = element("label", "The charts below are for this number of connections: ");
    label.append(select);
    const below = element("div");
    place.append(label, below);
    const again = () => {
      for (const old of below.querySelectorAll(".chart")) {
        resized.unobserve(old);
        charts.get(old)?.dispose();
        charts.delete(old);
      }
      below.replaceChildren();
      put(below, closed(run.targets, cells, Number(select.value)).chosen);
    };
    select.addEventListener("change", () => { again(); step(); });
    again();
  };

  document.querySelectorAll("section.charts").forEach(fill);
  // All details are read on paper.
  addEventListener("beforeprint", () => {
    document.querySelectorAll("details").forEach((details) => { details.open = true; });
    while (queue.length) show(queue.shift());
  });
  setTimeout(step);
})();
