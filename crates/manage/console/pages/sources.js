// The files of the configuration, and one of them with a line marked.

import { api } from "../api.js";
import { debounced, h, link, replace, say } from "../dom.js";
import { empty, field, heading } from "../parts.js";
import { excerpt } from "../source.js";
import { count } from "../text.js";

export async function sources(page) {
    const { query, signal } = page;
    const file = query.get("file");
    if (!file) return list(page);
    page.title(file.replace(/^.*\//, ""));
    const text = await api.source(file, signal);
    const lines = text.split("\n").map((told, at) => ({ line: at + 1, text: told }));
    const line = Number(query.get("line"));
    const shown = excerpt(lines, line);
    shown.setAttribute("aria-label", line ? `${file}, line ${line} is marked` : file);
    replace(page.main, h("p", { class: "crumbs" }, h("a", { href: "#/source" }, "Sources")), heading(file.replace(/^.*\//, "")),
        h("p", { class: "soft" }, file, "; secrets are masked"), shown);
    page.scrolls = line > 0;
    mark(line);
    page.onquery = (now) => {
        if (now.get("file") !== file) return false;
        mark(Number(now.get("line")));
        return true;
    };

    function mark(number) {
        document.getElementById("marked")?.removeAttribute("id");
        shown.querySelector(".marked")?.classList.remove("marked");
        const row = number > 0 && shown.children[number - 1];
        if (!row) return;
        row.classList.add("marked");
        row.scrollIntoView({ block: "center" });
    }
    return undefined;
}

async function list(page) {
    const all = await api.files(page.signal);
    const counted = h("p", { class: "soft", role: "status" });
    const listed = h("ul", { class: "plain" });
    const draw = (text) => {
        const told = all.filter(({ file }) => file.toLowerCase().includes(text.toLowerCase()));
        say(counted, told.length === all.length ? count(all.length, "file") : `${told.length} of ${count(all.length, "file")}`);
        replace(listed, told.map(({ file }) => h("li", {}, h("a", { href: link(["source"], { file }) }, file))));
    };
    replace(page.main, heading("Sources"),
        h("div", { class: "filters" }, field("Name", h("input", { type: "search", oninput: debounced(150, (event) => draw(event.target.value)) })), counted),
        all.length === 0 ? empty("The configuration has no files.") : listed);
    draw("");
}
