// Lines over time, drawn as SVG; each says in words what it shows.

import { h, replace, s, say } from "./dom.js";

/** A line without axes, for a cell of a table. */
export function spark(width = 96, height = 22) {
    const line = s("polyline", { class: "line" });
    const element = s("svg", { class: "spark", viewBox: `0 0 ${width} ${height}`, width, height, preserveAspectRatio: "none", "aria-hidden": "true" }, line);
    let drawn = "";
    return {
        element,
        update(points, kept = 59) {
            const top = Math.max(...points.map((point) => point.value), 1e-9);
            const step = width / kept;
            const start = width - step * Math.max(points.length - 1, 0);
            const text = points.map((point, at) => `${(start + step * at).toFixed(1)},${(height - 1.5 - (height - 3) * (point.value / top)).toFixed(1)}`).join(" ");
            if (text !== drawn) line.setAttribute("points", text);
            drawn = text;
        },
    };
}

const WIDTH = 480;
const HEIGHT = 120;
const SPAN = 120;

/** A round number that is no less. */
function roof(value) {
    if (!(value > 0)) return 1;
    const ten = 10 ** Math.floor(Math.log10(value));
    return [1, 2, 5, 10].map((step) => step * ten).find((step) => step >= value);
}

/**
 * A chart of the last two minutes.
 *
 * `lines`: name and class (`one`, `two`, `three`, which differ in colour and in how the line is broken).
 */
export function chart({ title, lines, format }) {
    const paths = lines.map((line) => s("path", { class: `line ${line.class}` }));
    const area = s("path", { class: "area" });
    const top = h("span", { class: "top" });
    const values = lines.map(() => h("b", {}, "–"));
    const legend = lines.map((line, at) => h("li", {}, s("svg", { width: 22, height: 8, viewBox: "0 0 22 8", "aria-hidden": "true" },
        s("path", { class: `line ${line.class}`, d: "M0 4H22" })), line.name, " ", values[at]));
    const grid = [0.25, 0.5, 0.75].map((part) => s("path", { class: "grid", d: `M0 ${HEIGHT * part}H${WIDTH}` }));
    const element = h("figure", { class: "chart" },
        h("figcaption", {}, title),
        h("div", { class: "plot" }, top,
            s("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true" }, grid, area, paths),
            h("span", { class: "ago" }, "2 min ago"), h("span", { class: "now" }, "now")),
        h("ul", { class: "legend" }, legend));
    return {
        element,
        /** Points of each line, the oldest first, and what is told as its value now. */
        update(series, now) {
            const end = series[0]?.at(-1)?.time ?? 0;
            const finite = series.flat().map((point) => point.value).filter((value) => Number.isFinite(value) && value !== null);
            const most = roof(Math.max(...finite, 0));
            say(top, format(most));
            series.forEach((points, at) => {
                let pen = "M";
                let path = "";
                for (const point of points) {
                    if (point.value === null) {
                        pen = "M";
                        continue;
                    }
                    const x = WIDTH - ((end - point.time) / SPAN) * WIDTH;
                    const y = HEIGHT - 1 - (HEIGHT - 2) * (Math.min(point.value, most) / most);
                    path += `${pen}${x.toFixed(1)} ${y.toFixed(1)}`;
                    pen = "L";
                }
                paths[at].setAttribute("d", path);
                if (at === 0) area.setAttribute("d", path && !path.includes("M", 1) ? `${path}V${HEIGHT}H${(WIDTH - ((end - points[0].time) / SPAN) * WIDTH).toFixed(1)}Z` : "");
                say(values[at], format(now[at]));
            });
        },
    };
}

/** How many answers came in which time, as bars with a table's words for those who do not see them. */
export function histogram() {
    const bars = h("ol", { class: "bars" });
    return {
        element: bars,
        update(buckets, format) {
            const told = buckets.filter(([, count]) => count > 0);
            const most = Math.max(...told.map(([, count]) => count), 1);
            replace(bars, told.map(([bound, count]) => {
                const bar = s("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
                    s("rect", { width: (100 * count) / most, height: 10 }));
                return h("li", {}, h("span", {}, bound === Infinity ? "> 30 s" : `≤ ${format(bound)}`), bar, h("b", {}, String(count)));
            }));
        },
    };
}
