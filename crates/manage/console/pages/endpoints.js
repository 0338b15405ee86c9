// Endpoints: how they stand, what they get, and their switches.

import { api } from "../api.js";
import { chart, histogram, spark } from "../chart.js";
import { debounced, h, link, replace, say } from "../dom.js";
import { live, WINDOW } from "../live.js";
import { choice, empty, facts, field, heading, keyedRows, stateBadge, stateReason, table, tile, toggle } from "../parts.js";
import { coloured } from "../source.js";
import { count, rate, seconds, whole } from "../text.js";

const STATES = ["active", "timeout", "suspended", "off", "down"];

const switchOf = (name, hidden) => toggle({
    label: hidden ? `${name} gets messages` : "Gets messages", hidden, isOn: live.endpoints.get(name)?.told.state !== "off",
    async change(on) {
        const answer = await api.switch("endpoint", name, on);
        live.now();
        return answer;
    },
});

/** What went wrong in a second, by its kind. */
function failuresOf(series) {
    const told = series.told.failures ?? {};
    return Object.entries(told).filter(([, value]) => value > 0).map(([name, value]) => `${name} ${whole(value)}`).join(", ");
}

export async function endpoints(page) {
    const chosen = { text: page.query.get("text") ?? "", state: page.query.get("state") ?? "" };
    const body = h("tbody");
    const counted = h("p", { class: "soft", role: "status" });
    const none = h("div");
    const rows = keyedRows(body, row);
    replace(page.main, heading("Endpoints"),
        h("div", { class: "filters" },
            field("Name", h("input", { type: "search", value: chosen.text, oninput: debounced(150, (event) => set({ text: event.target.value })) })),
            field("State", choice([["", "All"], ...STATES.map((state) => [state, state])], chosen.state, (state) => set({ state }))), counted),
        table({ caption: `Endpoints, with figures of the last ${WINDOW} seconds`, body, columns: [
            "Endpoint", "State", { text: "Requests/s", class: "number" }, { text: "2xx/s", class: "number" }, { text: "4xx/s", class: "number" },
            { text: "5xx/s", class: "number" }, { text: "Failures/s", class: "number" }, { text: "Wait p50", class: "number" }, { text: "p99", class: "number" }, "On",
        ] }), none);

    function set(change) {
        Object.assign(chosen, change);
        page.keep(chosen);
        draw();
    }

    function row({ name }) {
        const line = spark();
        const state = h("td");
        const cells = Array.from({ length: 7 }, () => h("span"));
        const isNamed = name !== "";
        let button = null;
        const onOff = h("td");
        let last;
        const element = h("tr", {},
            h("th", { scope: "row" }, isNamed ? h("a", { href: link(["endpoints", name]) }, name) : h("span", {}, "without a name"),
                h("span", { class: "address" }, isNamed ? "" : "those written in place, and addresses that messages bring")),
            state, h("td", { class: "number" }, line.element, cells[0]), cells.slice(1).map((cell) => h("td", { class: "number" }, cell)), onOff);
        return {
            element,
            update({ series }) {
                const figures = series.figures();
                const { state: now, down } = series.told;
                if (`${now} ${down}` !== last) {
                    replace(state, now ? [stateBadge(now), now !== "active" && h("span", { class: "address" }, stateReason(now, down))] : "");
                    // Endpoints within others have no switch of their own.
                    if (now && !button) {
                        button = switchOf(name, true);
                        onOff.append(button);
                    }
                    button?.set(now !== "off");
                }
                last = `${now} ${down}`;
                line.update(series.history("rate"));
                [figures.rate, figures.answers?.["2xx"], figures.answers?.["4xx"], figures.answers?.["5xx"], figures.failureRate].forEach((value, at) => say(cells[at], rate(value)));
                cells[4].classList.toggle("bad", figures.failureRate > 0);
                cells[4].title = failuresOf(series);
                say(cells[5], seconds(figures.p50));
                say(cells[6], seconds(figures.p99));
            },
        };
    }

    function draw() {
        const all = [...live.endpoints].map(([name, series]) => ({ name, series })).filter(({ name, series }) => name !== "" || series.last.sum > 0);
        const text = chosen.text.toLowerCase();
        const told = all.filter(({ name, series }) => name.toLowerCase().includes(text) && (!chosen.state || series.told.state === chosen.state))
            .sort((one, other) => one.name.localeCompare(other.name));
        rows(told, ({ name }) => name);
        say(counted, told.length === all.length ? count(all.length, "endpoint") : `${told.length} of ${count(all.length, "endpoint")}`);
        replace(none, all.length === 0 && live.gauges && empty("The configuration defines no endpoints."));
    }
    live.listen(page.signal, draw);
}

export async function endpoint(page) {
    const { signal, parts: [, name] } = page;
    page.title(name);
    // Endpoints within others count by name, but are no artefacts of their own.
    const told = await api.endpoint(name, signal).catch((error) => {
        if (error.status === 404) return {};
        throw error;
    });
    const services = (await api.services(signal)).filter((service) => uses(service, name));
    const tiles = { state: tile("State"), rate: tile("Requests"), failures: tile("Failures"), latency: tile("Wait") };
    const traffic = chart({ title: "Requests and failures per second", format: rate, lines: [{ name: "requests", class: "one" }, { name: "failures", class: "two" }] });
    const latency = chart({ title: "Wait for the head of the response", format: seconds, lines: [{ name: "p50", class: "one" }, { name: "p99", class: "two" }] });
    const bars = histogram();
    let button = null;
    const switched = h("span");
    const { suspendState = {}, timeoutState = {} } = told.advanced ?? {};
    replace(page.main, h("p", { class: "crumbs" }, h("a", { href: "#/endpoints" }, "Endpoints")), heading(name, switched),
        h("div", { class: "tiles" }, Object.values(tiles).map((one) => one.element)),
        h("div", { class: "charts" }, traffic.element, latency.element),
        facts([
            ["Kind", told.type],
            ["Address", (told.url ?? told.address) && h("code", {}, told.url ?? told.address)],
            ["Method", told.method],
            ["Members", told.children && told.children.map((child) => h("a", { class: "line", href: link(["endpoints", child]) }, child))],
            ["Suspended by", suspendState.errorCodes],
            ["Suspended for", suspendState.initialDuration && `${suspendState.initialDuration} ms at first`],
            ["Timeout by", timeoutState.errorCodes],
            ["Used by", services.length > 0 && services.map((service) => h("a", { class: "line", href: link(["services", service.id]) }, `${service.name} (${(service.routes ?? []).join(", ")})`))],
        ]),
        told.configuration && h("details", {}, h("summary", {}, "Its definition"), h("pre", { class: "source", tabindex: 0 }, told.configuration.split("\n").map((line) => h("span", { class: "row" }, h("code", {}, coloured(line)))))),
        h("details", {}, h("summary", {}, "Waits of the last two minutes"), bars.element));
    live.listen(signal, () => {
        const series = live.endpoints.get(name);
        if (!series) {
            say(tiles.state.value, "gone");
            return;
        }
        const figures = series.figures();
        const { state, down } = series.told;
        say(tiles.state.value, state ?? "part of another");
        say(tiles.state.note, stateReason(state, down));
        tiles.state.element.classList.toggle("bad", Boolean(state) && state !== "active");
        if (state && !button) {
            button = switchOf(name, false);
            switched.append(button);
        }
        button?.set(state !== "off");
        say(tiles.rate.value, `${rate(figures.rate)}/s`);
        say(tiles.rate.note, `${whole(figures.total)} in all`);
        say(tiles.failures.value, `${rate(figures.failureRate)}/s`);
        say(tiles.failures.note, failuresOf(series) || "none so far");
        say(tiles.latency.value, seconds(figures.p50));
        say(tiles.latency.note, `p99 ${seconds(figures.p99)}`);
        traffic.update([series.history("rate"), series.history("failureRate")], [figures.rate, figures.failureRate]);
        latency.update([series.latencies(0.5), series.latencies(0.99)], [figures.p50, figures.p99]);
        bars.update(series.figures(120).buckets ?? [], seconds);
    });
}

/** Whether a service sends to an endpoint of that name. */
function uses(service, name) {
    const isIt = (told) => Boolean(told) && (told.name === name || (Array.isArray(told.to) && told.to.some(isIt)));
    const inSteps = (steps) => steps.some((step) => isIt(step.sends) || step.inside.some((flow) => inSteps(flow.steps)));
    return isIt(service.endpoint) || service.flows.some((flow) => inSteps(flow.steps));
}
