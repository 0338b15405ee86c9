// Which exchanges are traced, and the traces that there are.

import { api, session } from "../api.js";
import { debounced, h, link, replace, say } from "../dom.js";
import { attempt, badge, choice, empty, field, heading, keyedRows, table } from "../parts.js";
import { selectionOf, summaryOf } from "../trace.js";
import { clock, count, kindName, seconds } from "../text.js";

const EVERY = 2000;

/** How many traces are shown before somebody asks for all. */
const SHOWN = 200;

export async function traces(page) {
    const { signal, query } = page;
    const chosen = { service: query.get("service") ?? "", correlation: query.get("correlation") ?? "", faults: query.get("faults") ?? "" };
    const services = [...new Set((await api.services(signal)).map((service) => service.name))].sort();
    const wanted = await selections(services, signal);
    const body = h("tbody");
    const counted = h("p", { class: "soft" });
    const none = h("div");
    const service = choice([["", "All"], ...services.map((name) => [name, name])], chosen.service, (value) => set({ service: value }));
    const correlation = h("input", { type: "search", value: chosen.correlation, spellcheck: "false", oninput: debounced(300, (event) => set({ correlation: event.target.value.trim() })) });
    const faults = h("input", { type: "checkbox", checked: chosen.faults === "true", onchange: (event) => set({ faults: event.target.checked ? "true" : "" }) });
    replace(page.main, heading("Traces"), wanted.element,
        h("h2", {}, "Recorded"),
        h("div", { class: "filters" }, field("Service", service), field("Correlation id", correlation), h("label", { class: "check" }, faults, " with a fault only"), counted),
        table({ caption: "Traces, the newest first", body, columns: ["Began", "Service", "What happened", "Answer", { text: "Took", class: "number" }, "Correlation"] }), none);

    function set(change) {
        Object.assign(chosen, change);
        page.keep(chosen);
        refresh();
    }

    const rows = keyedRows(body, (trace) => ({ element: row(trace) }));
    let limit = SHOWN;
    let drawn = "";
    async function refresh() {
        const all = (await api.traces(signal)).map(summaryOf);
        const told = all.filter((one) => (!chosen.service || one.service === chosen.service)
            && (!chosen.correlation || one.correlation.includes(chosen.correlation)) && (!chosen.faults || one.isFaulty));
        const now = JSON.stringify([all.length, limit, told.map((one) => one.id)]);
        if (now === drawn) return;
        drawn = now;
        say(counted, told.length === all.length ? count(all.length, "trace") : `${told.length} of ${count(all.length, "trace")}`);
        rows(told.slice(0, limit), (one) => one.id);
        replace(none, told.length > limit && h("button", { type: "button", onclick: () => {
            limit = Infinity;
            refresh();
        } }, `Show all ${told.length}`), told.length === 0 && empty(all.length === 0 ? "Nothing is recorded yet." : "No trace fits these filters.",
            h("p", { class: "soft" }, "Choose above what to record, then send a message.")));
    }

    function row(trace) {
        return h("tr", {},
            h("th", { scope: "row" }, h("a", { href: link(["traces", trace.id]) }, clock(trace.began))),
            h("td", {}, trace.service, h("span", { class: "address" }, kindName(trace.kind))),
            h("td", { class: "message" }, trace.summary),
            h("td", {}, answerBadge(trace)),
            h("td", { class: "number" }, seconds(trace.took)),
            h("td", { class: "words" }, trace.correlation && h("a", { href: link(["logs"], { correlation: trace.correlation }) }, trace.correlation)));
    }

    (async () => {
        while (!signal.aborted) {
            if (!document.hidden) await Promise.all([refresh(), wanted.refresh()]).catch((error) => !signal.aborted && say(counted, error.message));
            await new Promise((resolve) => { setTimeout(resolve, EVERY); });
        }
    })();
}

/** How an exchange ended. */
export function answerBadge(trace) {
    const status = trace.status ?? "no answer";
    if (trace.isFaulty) return badge("bad", `${status}, fault`);
    return badge(trace.status === null || trace.status >= 400 ? "warn" : "good", String(status));
}

/** What a selection wants, in a sentence. */
function sentence({ service, through, when, isFaulty, next }) {
    const how = next ? `The next ${count(next, "exchange")}` : "Every exchange";
    return `${how} of ${service ?? "any service"}${through ? ` through ${through}` : ""}${isFaulty ? " with a fault" : ""}${when ? `, where ${when}` : ""}`;
}

/** What is recorded, and the form that adds to it. */
async function selections(services, signal) {
    const service = choice([["", "Every service"], ...services.map((name) => [name, name])], "", () => {});
    const when = h("input", { placeholder: "//quantity > 100", spellcheck: "false" });
    const next = h("input", { type: "number", min: 1, max: 1000, value: 20, required: true });
    const faults = h("input", { type: "checkbox" });
    const listed = h("ul", { class: "plain" });
    let drawn = "";
    async function refresh() {
        const told = (await api.selections(signal)).map(selectionOf);
        const now = JSON.stringify(told);
        if (now === drawn) return;
        drawn = now;
        replace(listed, told.length === 0 && h("li", { class: "soft" }, "Nothing is chosen. Services whose tracing is switched on are recorded all the same."),
            told.map((one) => h("li", {}, badge("wait", "recording"), ` ${sentence(one)} `,
                h("button", { type: "button", disabled: !session.isAdmin, onclick: async () => {
                    await attempt(() => api.deselect(one.id), "It is not recorded any more.");
                    await refresh();
                } }, "Stop", h("span", { class: "unseen" }, `: ${sentence(one)}`)))));
    }
    await refresh();
    const element = h("div", {}, h("form", { class: "filters", onsubmit: async (event) => {
        event.preventDefault();
        const wish = { next: Number(next.value), faulted: faults.checked };
        if (service.value) wish.service = service.value;
        if (when.value.trim()) wish.when = when.value.trim();
        await attempt(() => api.select(wish), "It is recorded from now on.");
        await refresh();
    } },
    field("Record", service), field("The next", next), field("Only where this expression is true", when, { class: "wide" }),
    h("label", { class: "check" }, faults, " only faults"),
    h("button", { class: "primary", disabled: !session.isAdmin }, "Record")), listed);
    return { element, refresh };
}
