// Lines of a source, with the parts of XML in colours.

import { h } from "./dom.js";

/** Longer lines are shown without colours: taking them apart would take time. */
const LONG = 2000;

const TOKEN = /(<!--.*?(?:-->|$))|(<[/?!]?[\w:.-]*|\/?>|\?>)|([\w:.-]+)(?=\s*=\s*["'])|("[^"]*"|'[^']*')/g;

/** One line as texts and spans. */
export function coloured(text) {
    if (text.length > LONG) return [text];
    const parts = [];
    let at = 0;
    for (const found of text.matchAll(TOKEN)) {
        if (found.index > at) parts.push(text.slice(at, found.index));
        const kind = found[1] ? "comment" : found[2] ? "name" : found[3] ? "key" : "text";
        parts.push(h("span", { class: `x-${kind}` }, found[0]));
        at = found.index + found[0].length;
    }
    parts.push(text.slice(at));
    return parts;
}

/** Lines with their numbers, one of them marked; below it a caret where a column is told. */
export function excerpt(lines, marked, column) {
    return h("pre", { class: "source", tabindex: 0 }, lines.map(({ line, text }) => {
        const isMarked = line === marked;
        const row = h("span", { class: isMarked ? "row marked" : "row", id: isMarked ? "marked" : null },
            h("span", { class: "number", "aria-hidden": "true" }, String(line)), h("code", {}, coloured(text)));
        if (!isMarked || !column) return row;
        const before = Array.from(text).slice(0, column - 1).map((letter) => (letter === "\t" ? "\t" : " ")).join("");
        return [row, h("span", { class: "row caret", "aria-hidden": "true" }, h("span", { class: "number" }), h("code", {}, `${before}^`))];
    }));
}

/** The lines of a text around one of them. */
export function around(text, line, reach = 6) {
    const lines = text.split("\n");
    const first = Math.max(1, line - reach);
    return lines.slice(first - 1, line + reach).map((told, at) => ({ line: first + at, text: told }));
}
