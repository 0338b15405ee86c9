// The log as it is written, with filters; and the levels of loggers.

import { api, session } from "../api.js";
import { debounced, h, link, replace, say } from "../dom.js";
import { attempt, choice, field, heading, levelBadge, sourceLink, table } from "../parts.js";
import { clock, count } from "../text.js";
import { summaryOf } from "../trace.js";

/** How long the bus waits for the next line, in seconds, and how long the page does before it asks again, in milliseconds. */
const WAIT = 20;
const PAUSE = 500;
const EMPTY_PAUSE = 2000;

/** How many lines the page keeps. */
const KEPT = 1000;

const LEVELS = ["ERROR", "WARN", "INFO", "DEBUG", "TRACE"];

export async function logs(page) {
    const { signal, query } = page;
    const chosen = { level: query.get("level") ?? "", contains: query.get("contains") ?? "", correlation: query.get("correlation") ?? "" };
    const body = h("tbody");
    const counted = h("p", { class: "soft" });
    const trouble = h("p", { class: "trouble", hidden: true });
    const text = h("input", { type: "search", value: chosen.contains, oninput: debounced(300, (event) => set({ contains: event.target.value })) });
    const correlation = h("input", { type: "search", value: chosen.correlation, spellcheck: "false", oninput: debounced(300, (event) => set({ correlation: event.target.value.trim() })) });
    const level = choice([["", "All"], ...LEVELS.map((name) => [name, name === "ERROR" ? "ERROR" : `${name} and worse`])], chosen.level, (value) => set({ level: value }));
    const isPaused = () => pause.getAttribute("aria-pressed") === "true";
    const pause = h("button", { type: "button", "aria-pressed": "false", onclick: () => {
        pause.setAttribute("aria-pressed", String(!isPaused()));
        if (isPaused()) tail?.abort();
        else follow();
    } }, "Pause");
    const box = table({ caption: "Lines of the log, the newest first", className: "log", body,
        columns: ["Time", "Level", "Message", "Where", "Correlation"] });
    replace(page.main, heading("Logs", pause),
        h("div", { class: "filters" }, field("Level", level), field("Text", text), field("Correlation id", correlation), counted),
        levels(), trouble, box);

    let tail = null;
    let after = 0;
    let shown = 0;
    page.onquery = (now) => {
        Object.assign(chosen, { level: now.get("level") ?? "", contains: now.get("contains") ?? "", correlation: now.get("correlation") ?? "" });
        [level.value, text.value, correlation.value] = [chosen.level, chosen.contains, chosen.correlation];
        begin();
    };

    function set(change) {
        Object.assign(chosen, change);
        page.keep(chosen);
        begin();
    }

    /** Shows what there is for other filters. */
    function begin() {
        after = 0;
        shown = 0;
        replace(body);
        say(counted, "");
        follow();
    }

    async function follow() {
        tail?.abort();
        const mine = new AbortController();
        tail = mine;
        const both = AbortSignal.any([signal, mine.signal]);
        while (!both.aborted) {
            try {
                await visible(both);
                const asked = performance.now();
                const answer = await api.log({ after: String(after), limit: String(KEPT), wait: isPaused() ? "" : String(WAIT), ...chosen }, both);
                if (both.aborted) return;
                trouble.hidden = true;
                const lines = answer.list ?? [];
                add(lines);
                after = answer.last ?? after;
                if (isPaused()) return;
                // Where too many wait already, the bus answers at once.
                const isEmpty = lines.length === 0 && performance.now() - asked < EMPTY_PAUSE;
                await new Promise((resolve) => { setTimeout(resolve, isEmpty ? EMPTY_PAUSE : PAUSE); });
            } catch (error) {
                if (both.aborted) return;
                trouble.hidden = false;
                say(trouble, error.message);
                await new Promise((resolve) => { setTimeout(resolve, 3000); });
            }
        }
    }

    function add(lines) {
        const rows = document.createDocumentFragment();
        for (const line of lines.slice(-KEPT)) {
            rows.prepend(row(line));
            after = Math.max(after, line.number ?? 0);
        }
        body.prepend(rows);
        while (body.rows.length > KEPT) body.lastChild.remove();
        shown = body.rows.length;
        say(counted, shown === KEPT ? `the last ${count(KEPT, "line")}` : count(shown, "line"));
    }

    function row(line) {
        const id = line.correlationId;
        const at = /\(([^()]+:\d+)\)[^()]*$/.exec(line.place ?? "");
        return h("tr", {},
            h("td", { class: "time" }, h("time", { datetime: String(line.time), title: String(line.time) }, clock(new Date(line.time)))),
            h("td", {}, levelBadge(line.level)),
            h("td", { class: "message" }, line.message, h("span", { class: "address" }, line.target)),
            h("td", { class: "words" }, line.service && h("span", { class: "line" }, line.service), at ? sourceLink(at[1], line.place) : line.place ?? ""),
            h("td", { class: "words" }, id && h("a", { href: link(["logs"], { correlation: id }), title: "Its trace, or its lines where there is none", onclick: (event) => follows(event, id) }, id)));
    }
    /** Goes to the trace of an exchange where there is one; else to its lines, as the link says. */
    async function follows(event, id) {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        const all = await api.traces(signal).catch(() => []);
        const found = all.map(summaryOf).find((trace) => trace.correlation === id);
        if (!signal.aborted) location.hash = found ? link(["traces", found.id]) : link(["logs"], { correlation: id });
    }
    begin();
}

/** Waits until the page is seen. */
function visible(signal) {
    if (!document.hidden) return Promise.resolve();
    return new Promise((resolve) => {
        const look = () => !document.hidden && resolve();
        document.addEventListener("visibilitychange", look, { signal });
        signal.addEventListener("abort", resolve);
    });
}

const NAMES = ["OFF", "FATAL", ...LEVELS];

/** The levels of loggers, which are read when somebody opens them. */
function levels() {
    const inside = h("div");
    async function draw() {
        try {
            const all = await api.loggers();
            replace(inside, table({ caption: "Loggers", columns: ["Logger", "What it is for", "Level"], body: h("tbody", {}, all.map((logger) => h("tr", {},
                h("th", { scope: "row" }, logger.loggerName), h("td", { class: "words" }, logger.componentName),
                h("td", {}, choice([...new Set([logger.level, ...NAMES])].map((name) => [name, name]), logger.level, async (name) => {
                    await attempt(() => api.setLevel(logger.loggerName, name));
                    await draw();
                }, { "aria-label": `Level of ${logger.loggerName}`, disabled: !session.isAdmin }))))) }), session.isAdmin && adding());
        } catch (error) {
            replace(inside, h("p", { class: "trouble" }, error.message));
        }
    }
    function adding() {
        const name = h("input", { required: true, spellcheck: "false" });
        const target = h("input", { required: true, spellcheck: "false" });
        const level = choice(NAMES.map((one) => [one, one]), "DEBUG", () => {});
        return h("form", { class: "filters", onsubmit: async (event) => {
            event.preventDefault();
            await attempt(() => api.addLogger(name.value.trim(), target.value.trim(), level.value));
            await draw();
        } }, field("New logger", name), field("Module, class or artefact", target), field("Level", level), h("button", {}, "Add"));
    }
    return h("details", { class: "levels", ontoggle: (event) => event.target.open && draw() }, h("summary", {}, "Levels of the log"), inside);
}
