// What several pages show: badges, switches, tables, filters, and what is told when something was done.

import { session } from "./api.js";
import { h, link, replace, s } from "./dom.js";
import { kindName, place, shortPlace } from "./text.js";

const PATHS = {
    good: "M2.5 6.5l2.5 2.5 4.5-5.5",
    bad: "M3 3l6 6M9 3l-6 6",
    warn: "M6 2.5v4.5M6 9.2v.3",
    off: "M3 6h6",
    wait: "M6 3v3l2 1.5",
    info: "M6 5v4M6 2.7v.3",
};

/** A small sign beside a word, so that nothing is told by colour alone. */
export function sign(tone) {
    return s("svg", { class: `sign ${tone}`, viewBox: "0 0 12 12", width: 12, height: 12, "aria-hidden": "true" },
        s("circle", { cx: 6, cy: 6, r: 6 }), s("path", { d: PATHS[tone] ?? PATHS.info }));
}

export function badge(tone, word, title) {
    return h("span", { class: `badge ${tone}`, title }, sign(tone), word);
}

const STATES = {
    active: ["good", "active"],
    timeout: ["warn", "timeout"],
    suspended: ["bad", "suspended"],
    off: ["off", "off"],
    down: ["bad", "down"],
};

/** How an endpoint stands. */
export function stateBadge(state) {
    const [tone, word] = STATES[state] ?? ["info", state ?? "not known"];
    return badge(tone, word);
}

const WHY = {
    active: "It gets messages.",
    timeout: "It failed a moment ago, and is tried again.",
    suspended: "It failed too often, and rests until its time is over.",
    off: "An operator switched it off.",
    down: "It cannot be used.",
};

export const stateReason = (state, down) => (state === "down" && down ? down : WHY[state] ?? "");

/** A level of the log. */
export function levelBadge(level) {
    const tone = { ERROR: "bad", WARN: "warn", INFO: "info", DEBUG: "off", TRACE: "off" }[level] ?? "info";
    return badge(tone, level);
}

/** A message for all, also for those who cannot see it; it goes by itself. */
export function tell(text, tone = "good") {
    const told = document.getElementById("told");
    const line = h("p", { class: `toast ${tone}` }, sign(tone), text);
    told.append(line);
    setTimeout(() => line.remove(), tone === "bad" ? 9000 : 5000);
}

/** Does something that may fail, and tells what came of it. */
export async function attempt(work, done) {
    try {
        const answer = await work();
        tell(done ?? answer?.Message ?? answer?.message ?? "Done.");
        return true;
    } catch (error) {
        if (error.name !== "AbortError") tell(error.message, "bad");
        return false;
    }
}

/**
 * A switch, as a button that is pressed or not.
 *
 * `change` does what it is for, and may fail; then the switch goes back.
 */
export function toggle({ label, isOn, change, hidden = false, reason }) {
    const button = h("button", { type: "button", role: "switch", class: "switch", "aria-checked": String(isOn) },
        h("span", { class: "track", "aria-hidden": "true" }), h("span", { class: hidden ? "unseen" : "" }, label));
    button.disabled = !session.isAdmin || Boolean(reason);
    if (button.disabled) button.title = reason ?? "Only admins can change this.";
    button.addEventListener("click", async () => {
        if (button.getAttribute("aria-busy") === "true") return;
        const wanted = button.getAttribute("aria-checked") !== "true";
        button.setAttribute("aria-busy", "true");
        button.setAttribute("aria-checked", String(wanted));
        if (!(await attempt(() => change(wanted)))) button.setAttribute("aria-checked", String(!wanted));
        button.removeAttribute("aria-busy");
    });
    button.set = (now) => {
        if (button.getAttribute("aria-busy") !== "true" && button.getAttribute("aria-checked") !== String(now)) {
            button.setAttribute("aria-checked", String(now));
        }
    };
    return button;
}

/** The link to the line of a source, where there is one. */
export function sourceLink(text, word) {
    const at = place(text);
    if (!at) return h("span", { class: "place" }, word ?? text ?? "");
    return h("a", { class: "place", href: link(["source"], { file: at.file, line: at.line }), title: text }, word ?? shortPlace(text));
}

/** A field with its label. */
export function field(label, control, more = {}) {
    return h("label", { class: `field ${more.class ?? ""}` }, h("span", { class: more.hidden ? "unseen" : "" }, label), control);
}

export function choice(options, chosen, onchange, properties = {}) {
    return h("select", { ...properties, onchange: (event) => onchange(event.target.value) },
        options.map(([value, text]) => h("option", { value, selected: value === chosen }, text)));
}

/** A table in a box that scrolls by itself on a small screen. */
export function table({ caption, columns, body, className = "" }) {
    return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
        h("table", { class: className },
            h("caption", { class: "unseen" }, caption),
            h("thead", {}, h("tr", {}, columns.map((column) => column instanceof Node ? column
                : h("th", { scope: "col", class: column.class }, column.text ?? column)))),
            body));
}

/** Nothing is there, and why. */
export function empty(text, ...more) {
    return h("div", { class: "empty" }, h("p", {}, text), more);
}

/** What went wrong on a page. */
export function failure(error, again) {
    return h("div", { class: "trouble", role: "alert" }, h("p", {}, error.message),
        again && h("button", { type: "button", onclick: again }, "Try again"));
}

/** The name of a service, as a link to its page. */
export function serviceLink(service) {
    return h("a", { href: link(["services", service.id]) }, service.name);
}

export function kindTag(kind) {
    return h("span", { class: "tag" }, kindName(kind));
}

/** Names and values. */
export function facts(pairs) {
    return h("dl", { class: "facts" }, pairs.filter(([, value]) => value !== undefined && value !== null && value !== "" && value !== false)
        .map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
}

/** A figure with its name, as one of several. */
export function tile(name, href) {
    const value = h("span", { class: "figure" }, "–");
    const note = h("span", { class: "note" });
    const inner = [h("span", { class: "name" }, name), value, note];
    const element = href ? h("a", { class: "tile", href }, inner) : h("div", { class: "tile" }, inner);
    return { element, value, note };
}

/**
 * Rows by key, which stay the same elements as long as their key is there.
 *
 * `make` makes a row; what it gives back has an `element`, and an `update` that gets the item.
 */
export function keyedRows(body, make) {
    const rows = new Map();
    return (items, keyOf) => {
        const wanted = new Set(items.map(keyOf));
        for (const [key, row] of rows) {
            if (!wanted.has(key)) {
                row.element.remove();
                rows.delete(key);
            }
        }
        let before = null;
        for (const item of items) {
            const key = keyOf(item);
            let row = rows.get(key);
            if (!row) {
                row = make(item);
                rows.set(key, row);
            }
            const next = before ? before.nextSibling : body.firstChild;
            if (row.element !== next) body.insertBefore(row.element, next);
            before = row.element;
            row.update?.(item);
        }
    };
}

/** A heading of a page with what belongs beside it. */
export function heading(title, ...beside) {
    return h("div", { class: "heading" }, h("h1", {}, title), beside.length > 0 && h("div", { class: "beside" }, beside));
}

/** Asks before something that cannot be undone. */
export function confirm(question, word) {
    return new Promise((resolve) => {
        const dialog = h("dialog", { "aria-label": question },
            h("p", {}, question),
            h("div", { class: "actions" },
                h("button", { type: "button", onclick: () => dialog.close("no") }, "Cancel"),
                h("button", { type: "button", class: "danger", onclick: () => dialog.close("yes") }, word)));
        dialog.addEventListener("close", () => {
            resolve(dialog.returnValue === "yes");
            dialog.remove();
        });
        document.body.append(dialog);
        dialog.showModal();
    });
}

export { replace };
