// Message stores and processors.

import { api } from "../api.js";
import { h, replace } from "../dom.js";
import { empty, heading, table } from "../parts.js";

export async function stores(page) {
    const [all, processors] = await Promise.all([api.stores(page.signal), api.processors(page.signal)]);
    const row = (values) => h("tr", {}, values.map((value, at) => (at === 0 ? h("th", { scope: "row" }, value) : h("td", {}, String(value ?? "")))));
    replace(page.main, heading("Stores"), all.length + processors.length === 0
        ? empty("There are no message stores.", h("p", { class: "soft" },
            "This version of Myelin does not offer message stores and message processors yet: artefacts that define them are listed under ",
            h("a", { href: "#/problems" }, "Problems"), "."))
        : [
            table({ caption: "Message stores", columns: ["Store", "Kind", "Messages"], body: h("tbody", {}, all.map((store) => row([store.name, store.type, store.size]))) }),
            h("h2", {}, "Message processors"),
            table({ caption: "Message processors", columns: ["Processor", "Kind", "State"], body: h("tbody", {}, processors.map((one) => row([one.name, one.type, one.status]))) }),
        ]);
}
