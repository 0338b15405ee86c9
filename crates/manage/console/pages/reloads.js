// When the configuration was loaded anew, and what that changed.

import { api } from "../api.js";
import { h, link, replace } from "../dom.js";
import { badge, empty, heading, sourceLink } from "../parts.js";
import { live } from "../live.js";
import { count, day, span } from "../text.js";

const CHANGES = [["new", "New"], ["changed", "Changed"], ["gone", "Gone"], ["faulty", "Does not run"]];

export async function reloads(page) {
    const { signal } = page;
    const listed = h("ol", { class: "cards" });
    replace(page.main, heading("Reloads"), listed);

    async function draw() {
        const all = await api.reloads(signal);
        replace(listed, all.map(card), all.length === 0 && h("li", {}, empty("The configuration was not loaded anew since the bus began to serve.",
            h("p", { class: "soft" }, "It is loaded anew when a file changes, on SIGHUP, and when an application is added or removed."))));
    }

    function card(reload) {
        const when = new Date(reload.seconds * 1000);
        const isServed = reload.outcome === "served";
        const changes = CHANGES.filter(([key]) => reload[key]?.length > 0);
        return h("li", { class: `card ${isServed ? "good" : "bad"}` },
            h("h2", {}, h("time", { datetime: when.toISOString() }, day(when))),
            h("p", {}, badge(isServed ? "good" : "bad", isServed ? "serves" : "refused"), ` ${reload.reason}; ${span((Date.now() - when) / 1000)} ago; took ${reload.milliseconds} ms`),
            reload.message && message(reload.message),
            changes.map(([key, word]) => h("div", { class: "changes" }, h("h3", {}, `${word} (${count(reload[key].length, "artefact")})`),
                h("ul", {}, reload[key].map((name) => h("li", {}, artefact(name, key)))))),
            isServed && changes.length === 0 && h("p", { class: "soft" }, "No artefact changed."));
    }

    let known = null;
    live.listen(signal, () => {
        const now = JSON.stringify(live.gauges?.reloads);
        if (known !== null && known !== now) draw().catch(() => {});
        known = now;
    });
    await draw();
}

/** A sentence that begins with a place, with a link to it. */
function message(text) {
    const found = /^(\S+?:\d+(?::\d+)?): /.exec(text);
    return h("p", { class: "trouble" }, found ? [sourceLink(found[1]), `: ${text.slice(found[0].length)}`] : text);
}

/** `proxy Orders`, as a link where there is a page for it. */
function artefact(name, key) {
    const [kind, ...rest] = name.split(" ");
    if (key === "gone") return name;
    if (key === "faulty") return h("a", { href: link(["problems"], { text: rest.join(" ") }) }, name);
    if (kind === "endpoint") return [`${kind} `, h("a", { href: link(["endpoints", rest.join(" ")]) }, rest.join(" "))];
    if (["proxy", "api", "inboundEndpoint", "task"].includes(kind)) return [`${kind} `, h("a", { href: link(["services", rest.join(" ")]) }, rest.join(" "))];
    return name;
}
