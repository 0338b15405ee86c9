// What serves, with how much of it there is.

import { api } from "../api.js";
import { chart, spark } from "../chart.js";
import { debounced, h, link, replace, say } from "../dom.js";
import { live, WINDOW } from "../live.js";
import { badge, choice, field, heading, keyedRows, kindTag, serviceLink, stateBadge, stateReason, table, tile } from "../parts.js";
import { bytes, count, day, kindName, NOTHING, percent, rate, seconds, span, whole } from "../text.js";

const COLUMNS = [
    { key: "name", text: "Service", value: (row) => row.name.toLowerCase() },
    { key: "kind", text: "Kind", value: (row) => kindName(row.kind) },
    { key: "rate", text: "Requests/s", class: "number", value: (row) => -(row.figures.rate ?? 0) },
    { key: "errors", text: "Errors", class: "number", value: (row) => -(row.figures.errors ?? -1) },
    { key: "p50", text: "p50", class: "number", value: (row) => -(row.figures.p50 ?? -1) },
    { key: "p99", text: "p99", class: "number", value: (row) => -(row.figures.p99 ?? -1) },
    { key: "total", text: "Total", class: "number", value: (row) => -(row.figures.total ?? 0) },
    { key: "state", text: "State", value: (row) => (row.active ? 1 : 0) },
];

export async function overview(page) {
    const { signal, query } = page;
    let [services, problems, reloads, server] = await Promise.all([api.services(signal), api.problems(signal), api.reloads(signal), api.server(signal)]);
    const chosen = { text: query.get("text") ?? "", kind: query.get("kind") ?? "", sort: query.get("sort") ?? "name" };

    const about = h("p", { class: "soft" });
    const tiles = {
        rate: tile("Requests"), errors: tile("Errors"), underWay: tile("Under way"), connections: tile("Connections"),
        processor: tile("CPU"), memory: tile("Memory"), problems: tile("Problems", "#/problems"), endpoints: tile("Endpoints not active", "#/endpoints"),
    };
    const traffic = chart({ title: "Requests and errors per second", format: rate, lines: [{ name: "requests", class: "one" }, { name: "errors", class: "two" }] });
    const latency = chart({ title: "Latency", format: seconds, lines: [{ name: "p50", class: "one" }, { name: "p99", class: "two" }] });

    const body = h("tbody");
    const headers = COLUMNS.map((column) => h("th", { scope: "col", class: column.class, "aria-sort": "none" },
        h("button", { type: "button", class: "sort", onclick: () => set({ sort: column.key }) }, column.text)));
    const counted = h("p", { class: "soft", role: "status" });
    const watched = new WeakMap();
    const seen = new IntersectionObserver((entries) => entries.forEach((entry) => watched.get(entry.target)(entry.isIntersecting)), { rootMargin: "200px" });
    signal.addEventListener("abort", () => seen.disconnect());
    const rows = keyedRows(body, row);
    const kinds = [...new Set(services.map((service) => service.kind))];
    const resting = h("ul", { class: "plain" });
    const trouble = h("p", { class: "trouble", hidden: true });

    replace(page.main, heading("Overview"), about, trouble,
        h("div", { class: "tiles eight" }, Object.values(tiles).map((one) => one.element)),
        h("div", { class: "charts" }, traffic.element, latency.element),
        h("section", {}, h("h2", {}, "Services"),
            h("div", { class: "filters" },
                field("Name or address", h("input", { type: "search", value: chosen.text, oninput: debounced(150, (event) => set({ text: event.target.value })) })),
                field("Kind", choice([["", "All"], ...kinds.map((kind) => [kind, kindName(kind)])], chosen.kind, (kind) => set({ kind }))),
                counted),
            table({ caption: `Services, with figures of the last ${WINDOW} seconds`, columns: headers, body, className: "services" })),
        h("section", {}, h("h2", {}, "Endpoints that are not active"), resting));

    function set(change) {
        Object.assign(chosen, change);
        page.keep({ ...chosen, sort: chosen.sort === "name" ? "" : chosen.sort });
        draw();
    }

    function row() {
        const line = spark();
        const cells = Object.fromEntries(["rate", "errors", "p50", "p99", "total"].map((name) => [name, h("span")]));
        const name = h("th", { scope: "row" });
        const kind = h("td");
        const state = h("td");
        let told = "";
        let last = null;
        let isSeen = false;
        const element = h("tr", {}, name, kind, h("td", { class: "number" }, line.element, cells.rate),
            ["errors", "p50", "p99", "total"].map((cell) => h("td", { class: "number" }, cells[cell])), state);
        // Rows that nobody sees are not drawn: there may be thousands.
        watched.set(element, (now) => {
            isSeen = now;
            if (isSeen && last) draw(last);
        });
        seen.observe(element);
        return {
            element,
            update(item) {
                last = item;
                if (isSeen || !told) draw(item);
            },
        };
        function draw(item) {
            const { service, figures } = item;
            const now = JSON.stringify([service?.id, item.name, item.active, item.tracing, item.address]);
            if (now !== told) {
                replace(name, service ? serviceLink(service) : item.name, h("span", { class: "address" }, item.address));
                replace(kind, kindTag(item.kind));
                replace(state, item.kind === "none" ? "" : item.active ? badge("good", "active") : badge("off", "off"),
                    item.tracing && [" ", badge("info", "traced")]);
                told = now;
            }
            line.update(item.series?.history("rate") ?? []);
            say(cells.rate, rate(figures.rate));
            say(cells.errors, percent(figures.errors));
            cells.errors.classList.toggle("bad", figures.errors > 0);
            say(cells.p50, seconds(figures.p50));
            say(cells.p99, seconds(figures.p99));
            say(cells.total, figures.total === undefined ? NOTHING : whole(figures.total));
        }
    }

    let known = 0;
    function items() {
        const told = services.map((service) => {
            const series = live.services.get(service.counters);
            return {
                key: service.id, service, series, name: service.name, kind: service.kind, address: (service.routes ?? []).join(", "),
                active: service.active !== false, tracing: service.tracing === true, figures: series?.figures() ?? {},
            };
        });
        for (const [id, series] of live.services) {
            if (series.told.kind === "none" && series.last.sum > 0) {
                told.push({ key: id, series, name: "No service", kind: "none", address: "requests that no service is for", active: true, figures: series.figures() });
            }
        }
        const text = chosen.text.toLowerCase();
        const { value } = COLUMNS.find((column) => column.key === chosen.sort) ?? COLUMNS[0];
        const isWanted = (item) => (!chosen.kind || item.kind === chosen.kind) && (!text || `${item.name} ${item.address}`.toLowerCase().includes(text));
        known = told.length;
        return told.filter(isWanted).map((item) => [value(item), item])
            .sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0)).map(([, item]) => item);
    }

    function draw() {
        headers.forEach((header, at) => {
            const { key } = COLUMNS[at];
            header.setAttribute("aria-sort", key === chosen.sort ? (key === "name" || key === "kind" ? "ascending" : "descending") : "none");
        });
        const told = items();
        rows(told, (item) => item.key);
        say(counted, told.length === known ? count(known, "service") : `${told.length} of ${count(known, "service")}`);

        trouble.hidden = !live.error;
        if (live.error) say(trouble, `${live.error.message} Figures are those of the last answer.`);
        const { gauges } = live;
        if (!gauges) return;
        const all = live.all.figures();
        say(tiles.rate.value, `${rate(all.rate)}/s`);
        say(tiles.rate.note, `${whole(all.total)} in all`);
        say(tiles.errors.value, percent(all.errors));
        say(tiles.errors.note, `${rate(all.faultRate)} faults/s`);
        say(tiles.underWay.value, whole(gauges.exchanges));
        say(tiles.underWay.note, gauges.waitingForBackends > 0 ? `${whole(gauges.waitingForBackends)} wait for backends` : `${count(gauges.branches, "branch", "branches")}`);
        say(tiles.connections.value, whole(gauges.clientConnections));
        say(tiles.connections.note, `backends: ${whole(gauges.backendConnections.used)} used, ${whole(gauges.backendConnections.idle)} idle`);
        say(tiles.processor.value, percent(live.processor));
        say(tiles.processor.note, `of one core; ${count(server.threads ?? 1, "thread")}`);
        say(tiles.memory.value, bytes(gauges.process.residentBytes));
        say(tiles.memory.note, `${whole(gauges.process.openFiles ?? 0)} files open`);
        say(tiles.problems.value, whole(problems.length));
        tiles.problems.element.classList.toggle("bad", gauges.artefacts.faulty > 0);
        say(tiles.problems.note, gauges.artefacts.faulty > 0 ? `${count(gauges.artefacts.faulty, "artefact does", "artefacts do")} not run` : "all artefacts run");
        const badge = document.getElementById("problem-count");
        if (badge) {
            badge.hidden = problems.length === 0;
            say(badge, String(problems.length));
        }
        const rests = [...live.endpoints.values()].map((series) => series.told).filter((endpoint) => endpoint.state && endpoint.state !== "active");
        say(tiles.endpoints.value, whole(rests.length));
        tiles.endpoints.element.classList.toggle("bad", rests.length > 0);
        say(tiles.endpoints.note, `of ${[...live.endpoints.values()].filter((series) => series.told.state).length}`);
        drawResting(rests);
        traffic.update([live.all.history("rate"), live.all.history("errorRate")], [all.rate, all.errorRate]);
        latency.update([live.all.latencies(0.5), live.all.latencies(0.99)], [all.p50, all.p99]);
        const reload = reloads[0];
        say(about, [`${server.productName ?? "Myelin"} ${server.productVersion ?? ""} on ${server.hostName ?? "this machine"}`,
            gauges.stage, server.startedSeconds && `up ${span(Date.now() / 1000 - server.startedSeconds)}`,
            reload ? `last reload ${day(new Date(reload.seconds * 1000))} (${reload.outcome})` : "no reload yet"].filter(Boolean).join(" · "));
    }

    let drawn = "";
    function drawResting(rests) {
        const now = JSON.stringify(rests.map((endpoint) => [endpoint.name, endpoint.state, endpoint.down]));
        if (now === drawn) return;
        drawn = now;
        replace(resting, rests.length === 0 ? h("li", { class: "soft" }, "None: all endpoints get messages.") : rests.map((endpoint) => h("li", {},
            stateBadge(endpoint.state), " ", h("a", { href: link(["endpoints", endpoint.name]) }, endpoint.name), " ",
            h("span", { class: "soft" }, stateReason(endpoint.state, endpoint.down)))));
    }

    // What serves changes with a reload only.
    let served = null;
    live.listen(signal, async () => {
        const now = JSON.stringify(live.gauges?.reloads);
        if (served !== null && now !== served) {
            [services, problems, reloads] = await Promise.all([api.services(signal), api.problems(signal), api.reloads(signal)]).catch(() => [services, problems, reloads]);
        }
        served = now;
        if (!signal.aborted) draw();
    });
    draw();
}
