// What is wrong with the configuration, each at its line.

import { api } from "../api.js";
import { debounced, h, link, replace, say } from "../dom.js";
import { badge, empty, field, heading, kindTag, sourceLink } from "../parts.js";
import { around, excerpt } from "../source.js";
import { count } from "../text.js";

const KINDS = {
    problem: ["bad", "does not run"],
    latent: ["warn", "fails when reached"],
    warning: ["info", "warning"],
};

export async function problems(page) {
    const { query, signal } = page;
    const order = Object.keys(KINDS);
    const all = (await api.problems(signal)).sort((one, other) => order.indexOf(one.severity) - order.indexOf(other.severity));
    const chosen = { text: query.get("text") ?? "", hidden: new Set((query.get("without") ?? "").split(",").filter(Boolean)) };
    const counted = h("p", { class: "soft", role: "status" });
    const listed = h("ol", { class: "cards" });
    const boxes = Object.entries(KINDS).map(([severity, [, word]]) => h("label", { class: "check" },
        h("input", { type: "checkbox", checked: !chosen.hidden.has(severity), onchange: (event) => {
            if (event.target.checked) chosen.hidden.delete(severity);
            else chosen.hidden.add(severity);
            draw();
        } }), ` ${word} (${all.filter((problem) => problem.severity === severity).length})`));
    replace(page.main, heading("Problems"),
        all.length > 0 && h("div", { class: "filters" },
            field("Text, name or file", h("input", { type: "search", value: chosen.text, oninput: debounced(150, (event) => {
                chosen.text = event.target.value;
                draw();
            }) })),
            h("fieldset", {}, h("legend", {}, "Kinds"), boxes), counted),
        listed);

    function draw() {
        page.keep({ text: chosen.text, without: [...chosen.hidden].join(",") });
        const text = chosen.text.toLowerCase();
        const told = all.filter((problem) => !chosen.hidden.has(problem.severity)
            && `${problem.message} ${problem.name} ${problem.kind} ${problem.file}`.toLowerCase().includes(text));
        say(counted, told.length === all.length ? count(all.length, "problem") : `${told.length} of ${count(all.length, "problem")}`);
        replace(listed, told.map(card), all.length === 0 && h("li", {}, empty("Nothing is wrong with this configuration.")));
    }

    // Where an artefact begins, its own text lacks what stands before it on that line, so that the caret would be off.
    const files = new Map();
    async function fromFile(shown, { file, line, column }) {
        if (!files.has(file)) files.set(file, api.source(file, signal));
        const text = await files.get(file).catch(() => null);
        if (text !== null && shown.isConnected) replace(shown, excerpt(around(text, line, 2), line, column));
    }

    function lines(problem) {
        const shown = h("div", {}, excerpt(problem.excerpt, problem.line, problem.column));
        if (problem.line > 1 && problem.excerpt[0].line === problem.line) requestAnimationFrame(() => fromFile(shown, problem));
        return shown;
    }

    function card(problem) {
        const [tone, word] = KINDS[problem.severity] ?? ["info", problem.severity];
        return h("li", { class: `card ${tone}` },
            h("h2", {}, problem.message),
            h("p", {}, badge(tone, word), " ", kindTag(problem.kind), " ", h("b", {}, problem.name), " at ",
                sourceLink(`${problem.file}:${problem.line}:${problem.column}`), problem.archive && ` in ${problem.archive}`),
            problem.excerpt?.length > 0 ? lines(problem)
                : h("p", {}, h("a", { href: link(["source"], { file: problem.file, line: problem.line }) }, "Open the source")));
    }
    draw();
}
