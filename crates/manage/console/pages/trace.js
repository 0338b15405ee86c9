// One exchange, step by step.

import { api } from "../api.js";
import { h, link, replace, s, say } from "../dom.js";
import { facts, heading, sign, sourceLink } from "../parts.js";
import { around, excerpt } from "../source.js";
import { traceOf } from "../trace.js";
import { bytes, day, seconds } from "../text.js";
import { answerBadge } from "./traces.js";

export async function trace(page) {
    const { signal, parts: [, id] } = page;
    const told = traceOf(await api.traceOf(id, signal));
    page.title(`Trace of ${told.service}`);
    const { rows } = told;
    const whole = Math.max(told.took ?? 0, ...rows.map((row) => row.start + (row.took ?? 0)), 1e-9);
    const details = h("section", { class: "details", "aria-label": "The chosen step" });
    const spoken = h("p", { class: "unseen", role: "status" });
    const links = rows.map(line);
    const faulty = rows.find((row) => row.node?.kind === "fault") ?? rows.find((row) => row.isBad);
    const services = await api.services(signal).catch(() => []);
    const service = services.find((one) => one.kind === told.kind && one.name === told.service);
    replace(page.main, h("p", { class: "crumbs" }, h("a", { href: "#/traces" }, "Traces")),
        heading(["Trace of ", told.service, " ", answerBadge(told)], h("button", { type: "button", onclick: download }, "Download JSON")),
        h("p", {}, told.summary),
        facts([
            ["Began", day(told.began)],
            ["Took", seconds(told.took)],
            ["Correlation", told.correlation && h("a", { href: link(["logs"], { correlation: told.correlation }) }, told.correlation)],
            ["Service", service && h("a", { href: link(["services", service.id]) }, "its flow")],
            ["Fault", told.isFaulty && faulty && h("a", { href: link(page.parts, { step: faulty.number }) }, faulty.words || faulty.title)],
            ["Left out", told.leftOut > 0 && `${told.leftOut} steps`],
        ]),
        h("div", { class: "actions" }, h("button", { type: "button", onclick: () => go(-1) }, "Previous step"), h("button", { type: "button", onclick: () => go(1) }, "Next step"),
            h("span", { class: "soft keys" }, "Keys: ", h("kbd", {}, "j"), " next, ", h("kbd", {}, "k"), " previous, ", h("kbd", {}, "f"), " fault")),
        spoken, h("div", { class: "stepping" }, h("ol", { class: "waterfall" }, links.map((one) => h("li", {}, one))), details));

    let now = 0;
    function line(row) {
        const bar = s("svg", { class: "time-bar", viewBox: "0 0 100 6", preserveAspectRatio: "none", "aria-hidden": "true" },
            s("rect", { class: row.isBad ? "bad" : "", x: Math.min((100 * row.start) / whole, 99.2), width: Math.max((100 * (row.took ?? 0)) / whole, 0.8), height: 6 }));
        return h("a", { class: `step depth-${Math.min(row.depth, 8)}`, href: link(page.parts, { step: row.number }) },
            h("span", { class: "element" }, row.isBad && sign("bad"), row.title), h("span", { class: "what" }, row.words), bar,
            h("span", { class: "took" }, row.took === null ? "" : seconds(row.took)));
    }

    function show(number, isFocused) {
        now = Math.min(Math.max(number, 1), rows.length);
        links.forEach((element, at) => (at + 1 === now ? element.setAttribute("aria-current", "step") : element.removeAttribute("aria-current")));
        links[now - 1].scrollIntoView({ block: "nearest" });
        if (isFocused) links[now - 1].focus({ preventScroll: true });
        const row = rows[now - 1];
        replace(details, rowDetails(row, rows.length, signal));
        say(spoken, `${row.title}, ${now} of ${rows.length}${row.words && `: ${row.words}`}`);
    }

    function go(by) {
        const next = Math.min(Math.max(now + by, 1), rows.length);
        page.keep({ step: next });
        show(next, false);
    }

    function download() {
        const url = URL.createObjectURL(new Blob([JSON.stringify(told.raw, null, 2)], { type: "application/json" }));
        h("a", { href: url, download: `trace-${told.id}.json` }).click();
        setTimeout(() => URL.revokeObjectURL(url), 1000);
    }

    addEventListener("keydown", (event) => {
        if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
        const by = { j: 1, ArrowRight: 1, k: -1, ArrowLeft: -1 }[event.key];
        if (by) go(by);
        else if (event.key === "f" && faulty) go(faulty.number - now);
        else return;
        event.preventDefault();
    }, { signal });
    page.onquery = (query) => show(Number(query.get("step")) || 1, true);
    show(Number(page.query.get("step")) || (told.isFaulty && faulty ? faulty.number : 1), false);
}

const OUTCOMES = { next: "went on", respond: "answered", split: "went on in branches", drop: "ended here", fault: "with a fault", unfinished: "did not end" };

function rowDetails(row, count, signal) {
    const node = row.node ?? {};
    const source = h("div");
    if (row.at) {
        api.source(row.at.file, signal).then((text) => {
            if (source.isConnected) replace(source, excerpt(around(text, row.at.line, 3), row.at.line));
        }, () => {});
    }
    return [
        h("h2", {}, row.title, " ", h("span", { class: "soft" }, `${row.number} of ${count}`)),
        facts([
            ["At", row.at && sourceLink(`${row.at.file}:${row.at.line}`)],
            ["Began after", seconds(row.start)],
            ["Took", row.took !== null && seconds(row.took)],
            ["Ended", OUTCOMES[node.outcome] ?? node.outcome],
            ["Expression", node.kind === "step" && node.expression && h("code", {}, node.expression)],
        ]),
        node.kind === "fault" && h("div", { class: "trouble" }, h("p", {}, sign("bad"), h("b", {}, `${node.code}: `), node.message),
            facts([["Whose side", node.origin], ["Detail", node.detail],
                ["Raised at", node.trail?.length > 0 && trail(node.trail[0])],
                ["On its way through", node.trail?.length > 1 && node.trail.slice(1).map(trail)]])),
        node.kind === "handler" && h("p", {}, `The fault ${node.fault} is handled here.`),
        row.decisions.map(decision),
        changes(node.changes),
        row.message && message(row.message),
        node.kind === "call" && [
            facts([["Endpoint", node.endpoint && h("a", { href: link(["endpoints", node.endpoint]) }, node.endpoint)], ["URL", h("code", {}, node.url)]]),
            node.failure && h("p", { class: "trouble" }, sign("bad"), node.failure),
            h("h3", {}, "Sent"), message(node.request), node.response && [h("h3", {}, "Got"), message(node.response)],
        ],
        source,
    ];
}

/** `call (orders.xml:12)`, with a link. */
function trail(text) {
    const found = /^(.*)\(([^()]+:\d+)\)$/.exec(text);
    return h("span", { class: "line" }, found ? [found[1], sourceLink(found[2])] : text);
}

function decision(told) {
    return h("section", {}, h("h3", {}, "Decision"), facts([
        ["Expression", told.expression && h("code", {}, told.expression)],
        ["Value", told.value !== null && told.value !== undefined && h("code", {}, told.value === "" ? "(empty)" : told.value)],
        ["Compared", told.compared?.length > 0 && told.compared.map(comparison)],
        ["Chosen", h("b", {}, told.chosen)],
        ["Because", told.reason],
        ["Not", told.rejected?.length > 0 && told.rejected.map(({ what, reason }) => h("span", { class: "line" }, what, reason && `: ${reason}`))],
    ]));
}

/** Both sides of a comparison with their values: `//symbol "IBM " = "IBM" is false`. */
function comparison({ left, operator, right, holds }) {
    const side = ({ expression, values, more }) => {
        const isLiteral = values.length === 1 && [values[0], `'${values[0]}'`, `"${values[0]}"`].includes(expression);
        return [!isLiteral && h("code", { class: "soft" }, `${expression} `),
            values.length === 0 ? h("i", {}, "nothing") : h("code", {}, values.map((value) => JSON.stringify(value)).join(", ")), more > 0 && ` and ${more} more`];
    };
    const word = { true: "is true", false: "is false" }[holds] ?? "cannot be compared";
    return h("span", { class: "line compared" }, side(left), ` ${operator} `, side(right), " ", h("b", {}, word));
}

/** What a step changed: names with their values before and after, and the lines of the body that are others. */
function changes(all) {
    if (!all?.length) return null;
    const values = all.filter((change) => change.what !== "body" && change.what !== "message");
    return [
        values.length > 0 && h("section", {}, h("h3", {}, "Changed"), h("ul", { class: "difference" }, values.map((change) => {
            const name = [change.what, change.scope, change.name].filter(Boolean).join(" ");
            return [side("minus", "before", name, change.before), side("plus", "after", name, change.after)];
        }))),
        all.filter((change) => change.what === "message").map((change) => h("p", {}, `Another message took the place of the current one: ${change.now}`)),
        all.filter((change) => change.what === "body").map((change) => h("section", {}, h("h3", {}, "Body"), difference(change))),
    ];
}

function side(tone, word, name, value) {
    return value !== null && value !== undefined && h("li", { class: tone }, h("span", { class: "unseen" }, `${word}: `), `${name} = ${value}`);
}

function difference({ difference: lines = [], before, after }) {
    const tone = { "+": "plus", "-": "minus", "…": "soft" };
    if (lines.length === 0) return h("p", { class: "soft" }, `${stateOf(before)}, then ${stateOf(after)}`);
    return h("ul", { class: "difference" }, lines.map(([mark, text]) => h("li", { class: tone[mark] ?? "" },
        mark === "+" && h("span", { class: "unseen" }, "added: "), mark === "-" && h("span", { class: "unseen" }, "removed: "), text || mark)));
}

const STATES = { empty: "no body", read: "read", binary: "no text", unread: "still on the wire", sent: "sent already" };

function stateOf(body) {
    if (!body) return "";
    const size = body.bytes !== null && body.bytes !== undefined && body.state !== "empty" ? `, ${bytes(body.bytes)}` : "";
    return `${STATES[body.state] ?? body.state}${size}${body.cut ? ", the beginning" : ""}`;
}

/** A message as it was on the wire. */
function message(told) {
    if (!told) return null;
    const head = [told.line, ...(told.headers ?? []).map(([name, value]) => `${name}: ${value}`)].join("\n");
    return h("div", { class: "wire" }, h("pre", { class: "source", tabindex: 0 }, told.body?.text ? `${head}\n\n${told.body.text}` : head),
        h("p", { class: "soft small" }, `Body: ${stateOf(told.body)}`));
}
