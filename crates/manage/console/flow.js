// The flow of a service as a graph: lists within lists, whose lines are drawn by the style sheet, so that it is read
// aloud in the order in which messages run through it.

import { h, link, replace, s, say } from "./dom.js";
import { sign, stateBadge } from "./parts.js";
import { NOTHING, rate, seconds, shortPlace } from "./text.js";

const SHAPES = {
    decide: "M8 1.5L14.5 8 8 14.5 1.5 8z",
    send: "M2 8h10M8.5 4L12.5 8l-4 4",
    change: "M3 5.5h8.5M9 3l2.5 2.5L9 8M13 10.5H4.5M7 8l-2.5 2.5L7 13",
    answer: "M14 8H4M7.5 4L3.5 8l4 4",
    end: "M4 4l8 8M12 4l-8 8",
    note: "M4 2.5h8v11H4zM6 6h4M6 9h4",
    set: "M3 8h10M8 3v10",
    many: "M2 8h4M6 8l6-5M6 8h6M6 8l6 5",
    step: "M3.5 3.5h9v9h-9z",
};

const LOOKS = {
    filter: "decide", switch: "decide", conditionalRouter: "decide", validate: "decide", throttle: "decide", cache: "decide",
    send: "send", call: "send", callout: "send", loopback: "send", respond: "answer", drop: "end", throwError: "end",
    makefault: "end", log: "note", property: "set", propertyGroup: "set", variable: "set", header: "set",
    payloadFactory: "change", xslt: "change", enrich: "change", script: "change", fastXSLT: "change", xquery: "change",
    smooks: "change", datamapper: "change", jsontransform: "change", rewrite: "change",
    clone: "many", iterate: "many", foreach: "many", "scatter-gather": "many", aggregate: "many",
};

function icon(look) {
    return s("svg", { class: `icon ${look}`, viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true" }, s("path", { d: SHAPES[look] ?? SHAPES.step }));
}

const READS = {
    nothing: "does not read the body",
    passing: "reads the body as far as it must, while it passes",
    whole: "reads the body whole",
    built: "reads and parses the body",
};

export const readsText = (word) => READS[word] ?? word;

/** The endpoints of an endpoint as it is explained, itself first. */
function endpointsOf(told) {
    if (!told) return [];
    return [told, ...(Array.isArray(told.to) ? told.to.flatMap(endpointsOf) : [])];
}

/** Whether a step sends to a backend, and not to the client. */
const isBackend = (sends) => Boolean(sends) && (sends.name !== undefined || Array.isArray(sends.to) || !/^the client/.test(sends.to ?? ""));

/** The graph of a service; `update` puts live figures on it and the counts of its steps, `chosen` is called with a step that is clicked. */
export function graph(service, chosen) {
    const updates = [];
    let pressed = null;

    function endpointCard(told) {
        const card = (one) => {
            const name = one.name ?? "";
            const to = typeof one.to === "string" ? one.to : "one of those below";
            const figures = h("span", { class: "figures" });
            const badge = h("span", {});
            const title = name || to;
            let last = "";
            updates.push((live) => {
                const series = live.endpoints.get(name);
                if (!series || !name) return;
                const { rate: perSecond, p50, failureRate } = series.figures();
                say(figures, `${rate(perSecond)}/s · ${seconds(p50)}${failureRate > 0 ? ` · ${rate(failureRate)} failures/s` : ""}`);
                figures.classList.toggle("bad", failureRate > 0);
                const state = series.told.state;
                if (state && state !== last) replace(badge, stateBadge(state));
                last = state;
            });
            const inner = [h("span", { class: "title" }, title), badge, name && h("span", { class: "to" }, to), figures];
            return name ? h("a", { class: "endpoint", href: link(["endpoints", name]) }, inner) : h("span", { class: "endpoint" }, inner);
        };
        return h("div", { class: "sends" }, endpointsOf(told).map(card));
    }

    function node(step) {
        const look = LOOKS[step.element] ?? "step";
        const remarks = [
            step.reads === "built" && "parses",
            step.reads === "whole" && "reads whole",
            step.reads === "passing" && "reads",
            step.changes && "changes body",
        ].filter(Boolean);
        const button = h("button", { type: "button", class: `node ${step.fails ? "fails" : ""}`, "aria-pressed": "false", "aria-controls": "step", onclick: () => {
            pressed?.setAttribute("aria-pressed", "false");
            button.setAttribute("aria-pressed", "true");
            pressed = button;
            chosen(step);
        } },
        icon(look), h("span", { class: "element" }, step.element), h("span", { class: "place" }, shortPlace(step.place)),
        remarks.length > 0 && h("span", { class: "remarks" }, remarks.join(", ")),
        step.fails && h("span", { class: "remarks bad" }, sign("bad"), "fails"),
        counted((told) => `${rate(told.rate)}/s${told.faultRate > 0 ? ` · ${rate(told.faultRate)} faults/s` : ""}`, step, (told) => told.faultRate > 0));
        const sends = step.sends && (isBackend(step.sends) ? endpointCard(step.sends)
            : h("div", { class: "sends" }, h("span", { class: "client" }, icon("answer"), step.sends.to)));
        const inside = step.inside.filter((flow) => flow.steps.length > 0 || flow.label);
        return h("li", { class: inside.length > 0 ? "with-inside" : "" }, h("div", { class: "line-of" }, button, sends), inside.length > 0 && branches(inside, step));
    }

    /** A figure of a step that is counted while the page is open. */
    function counted(words, step, isBad = () => false) {
        const figures = h("span", { class: "figures counted" });
        updates.push((live, counts) => {
            const told = counts?.of(step);
            say(figures, told ? words(told) : "");
            figures.classList.toggle("bad", Boolean(told) && isBad(told));
        });
        return figures;
    }

    function branches(inside, step) {
        return h("ul", { class: inside.length > 1 ? "branches several" : "branches" }, inside.map((flow) => h("li", { class: "branch" },
            flow.label && h("span", { class: "label" }, flow.label),
            flow.label && counted(({ branch }) => (branch(flow.label) === null ? "" : ` ${rate(branch(flow.label))}/s`), step),
            flow.steps.length > 0 ? steps(flow.steps) : h("span", { class: "nothing" }, /as above|names$/.test(flow.label) ? "" : "no step"))));
    }

    function steps(all) {
        return h("ol", { class: "steps" }, all.map(node));
    }

    function cap(text, figures) {
        const told = h("span", { class: "figures" }, "");
        if (figures) updates.push((live) => say(told, figures(live.services.get(service.counters)?.figures() ?? {})));
        return h("p", { class: "cap" }, h("b", {}, text), told);
    }

    function lane(name, title, begin, middle, end) {
        return h("section", { class: `lane ${name}`, "aria-label": title }, h("h3", {}, title), begin, middle, end);
    }

    const flow = (name) => service.flows.find((one) => one.name === name);
    const [incoming, outgoing, fault] = ["in", "out", "fault"].map(flow);
    const begin = service.kind === "task" ? "The trigger" : "From the client";
    const lanes = [];
    lanes.push(lane("in", "Requests",
        cap(begin, ({ rate: perSecond }) => (perSecond === undefined ? "" : `${rate(perSecond)}/s`)),
        incoming && incoming.steps.length > 0 ? steps(incoming.steps) : h("p", { class: "nothing" }, "no step"),
        service.endpoint && h("div", { class: "rest" }, h("span", { class: "label" }, "what no step sends goes to"), endpointCard(service.endpoint))));
    if (outgoing || service.endpoint) {
        lanes.push(lane("out", "Responses", cap("From the endpoint"),
            outgoing && outgoing.steps.length > 0 ? steps(outgoing.steps) : h("p", { class: "nothing" }, "responses go back as they come"),
            cap("To the client", ({ p50, p99 }) => (p50 === undefined ? "" : `p50 ${seconds(p50)} · p99 ${seconds(p99)}`))));
    }
    lanes.push(lane("fault", "Faults",
        cap("A fault", ({ faultRate }) => (faultRate === undefined ? NOTHING : `${rate(faultRate)}/s`)),
        fault && fault.steps.length > 0 ? steps(fault.steps) : h("p", { class: "nothing" }, "no fault sequence of its own: the bus answers"),
        null));
    return {
        element: h("div", { class: "graph" }, lanes),
        update: (live, counts) => updates.forEach((update) => update(live, counts)),
    };
}
