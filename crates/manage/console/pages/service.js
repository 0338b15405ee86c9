// One service: its flow with what goes on in it now.

import { api, canSwitch, canTrace } from "../api.js";
import { chart, histogram } from "../chart.js";
import { h, link, replace, say } from "../dom.js";
import { graph, readsText } from "../flow.js";
import { live, WINDOW } from "../live.js";
import { facts, heading, kindTag, sourceLink, tell, tile, toggle } from "../parts.js";
import { around, excerpt } from "../source.js";
import { StepCounts } from "../steps.js";
import { count, percent, place, rate, seconds, span, whole } from "../text.js";

export async function service(page) {
    const { signal, parts: [, id] } = page;
    const all = await api.services(signal);
    const told = all.find((one) => one.id === id) ?? all.find((one) => one.name === id);
    if (!told) {
        replace(page.main, heading("No such service"), h("p", {}, `No service is called “${id}” any more. `, h("a", { href: "#/" }, "To the overview")));
        return;
    }
    page.title(told.name);
    const tiles = { rate: tile("Requests"), errors: tile("Errors"), faults: tile("Faults"), latency: tile("Latency"), waited: tile("Of it at endpoints") };
    const traffic = chart({ title: "Requests and errors per second", format: rate, lines: [{ name: "requests", class: "one" }, { name: "errors", class: "two" }] });
    const latency = chart({ title: "Latency", format: seconds, lines: [{ name: "p50", class: "one" }, { name: "p99", class: "two" }] });
    const bars = histogram();
    const details = h("aside", { class: "details", id: "step", "aria-label": "The chosen step" }, h("p", { class: "soft" }, "Choose a step to see what it does, and its source."));
    const drawn = graph(told, (step) => showStep(step));
    const counts = new StepCounts(`${told.kind} ${told.name}`);
    const countedFor = h("span");
    let updateDetails = () => {};
    const active = canSwitch(told.kind) && toggle({ label: "Active", isOn: told.active !== false, change: (on) => api.switch(told.kind, told.name, on) });
    const tracing = canTrace(told.kind) && toggle({ label: "Tracing", isOn: told.tracing === true, change: (on) => api.trace(told.kind, told.name, on) });
    const resources = all.filter((one) => one.kind === told.kind && one.name === told.name && one.id !== told.id);

    replace(page.main,
        h("p", { class: "crumbs" }, h("a", { href: "#/" }, "Services")),
        heading([told.name, " ", kindTag(told.kind)], active, tracing, h("a", { class: "button", href: link(["traces"], { service: told.name }) }, "Traces"),
            h("a", { class: "button", href: link(["logs"], { contains: told.name }) }, "Logs")),
        facts([
            ["Reached at", (told.routes ?? []).map((route) => h("code", { class: "line" }, route))],
            ["Defined at", told.place && sourceLink(told.place)],
            ["Other resources", resources.length > 0 && resources.map((one) => h("a", { class: "line", href: link(["services", one.id]) }, (one.routes ?? []).join(", ")))],
        ]),
        h("div", { class: "tiles" }, Object.values(tiles).map((one) => one.element)),
        h("div", { class: "charts" }, traffic.element, latency.element),
        h("h2", {}, "Flow"),
        h("p", { class: "soft" }, `The figure at a step says how many messages a second came to it in the last ${WINDOW} seconds, and how many faults it raised itself; `,
            "the figure at a branch, how many took it. In a loop each turn counts. Steps are counted only while this page is open", countedFor, "."),
        told.cut && h("p", { class: "soft" }, "It has more steps than are shown."),
        h("div", { class: "flow" }, h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "The flow as a graph" }, drawn.element), details),
        h("details", {}, h("summary", {}, "Latencies of the last two minutes"), bars.element));

    async function showStep(step) {
        const at = place(step.place);
        const source = h("div");
        const sums = h("p", { class: "counted" });
        updateDetails = () => {
            const sum = counts.of(step)?.total;
            const chosen = Object.entries(sum?.chosen ?? {}).map(([name, times]) => `, ${name}: ${whole(times)}`).join("");
            say(sums, sum ? `While this page was open: ${count(sum.messages, "message")}, ${count(sum.faults, "fault")}${chosen}` : "");
        };
        updateDetails();
        replace(details, h("h3", {}, step.element), sums, facts([
            ["At", sourceLink(step.place)],
            ["Reads", readsText(step.reads)],
            ["Changes", step.changes ? "makes another body" : "leaves the body as it is"],
            ["Sends to", step.sends && (step.sends.name || (typeof step.sends.to === "string" ? step.sends.to : "one of several endpoints"))],
            ["Timeout", step.sends?.timeout_ms && `${step.sends.timeout_ms} ms`],
            ["Fails", step.fails && h("span", { class: "bad" }, step.fails)],
        ]), source);
        if (!at) return;
        try {
            const text = await sourceOf(at.file);
            if (source.isConnected) replace(source, excerpt(around(text, at.line), at.line, at.column));
        } catch (error) {
            if (!signal.aborted) tell(error.message, "bad");
        }
    }

    const read = new Map();
    function sourceOf(file) {
        if (!read.has(file)) read.set(file, api.source(file, signal));
        return read.get(file);
    }

    live.listen(signal, () => {
        counts.ask(signal).then(() => {
            say(countedFor, counts.seconds >= 1 ? `, for ${span(counts.seconds)} now` : "");
            drawn.update(live, counts);
            updateDetails();
        }, () => {});
        drawn.update(live, counts);
        const series = live.services.get(told.counters);
        if (!series) return;
        const figures = series.figures();
        say(tiles.rate.value, `${rate(figures.rate)}/s`);
        say(tiles.rate.note, `${whole(figures.total)} in all`);
        say(tiles.errors.value, percent(figures.errors));
        tiles.errors.element.classList.toggle("bad", figures.errors > 0);
        say(tiles.errors.note, Object.entries(figures.answers ?? {}).filter(([, value]) => value > 0).map(([name, value]) => `${name} ${rate(value)}/s`).join(", "));
        say(tiles.faults.value, `${rate(figures.faultRate)}/s`);
        say(tiles.faults.note, `${whole(series.last.faults)} in all`);
        say(tiles.latency.value, seconds(figures.p50));
        say(tiles.latency.note, `p99 ${seconds(figures.p99)}`);
        say(tiles.waited.value, seconds(figures.waited));
        say(tiles.waited.note, "mean of each exchange");
        traffic.update([series.history("rate"), series.history("errorRate")], [figures.rate, figures.errorRate]);
        latency.update([series.latencies(0.5), series.latencies(0.99)], [figures.p50, figures.p99]);
        bars.update(series.figures(120).buckets ?? [], seconds);
    });
    for (const one of [active, tracing]) one && signal.addEventListener("abort", () => one.blur());
}
