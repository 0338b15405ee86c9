// Archives (.car) of the configuration: which there are, adding and removing one.

import { api, session } from "../api.js";
import { h, link, replace } from "../dom.js";
import { attempt, badge, confirm, empty, field, heading } from "../parts.js";
import { count } from "../text.js";

export async function applications(page) {
    const { signal } = page;
    const listed = h("ul", { class: "cards" });
    const input = h("input", { type: "file", accept: ".car", required: true });
    const button = h("button", { class: "primary" }, "Add");
    const form = h("form", { class: "filters", onsubmit: async (event) => {
        event.preventDefault();
        const [file] = input.files;
        if (!file) return;
        button.disabled = true;
        if (await attempt(() => api.addApplication(file))) form.reset();
        button.disabled = false;
        await draw();
    } }, field("Archive (.car): it is checked whole, then serves with the rest", input), button);
    replace(page.main, heading("Applications"), session.isAdmin && form, listed);

    async function draw() {
        const all = await api.applications(signal);
        replace(listed, all.map(card), all.length === 0 && h("li", {}, empty("The configuration has no applications: its files lie in folders.")));
    }

    function card(application) {
        const isGood = application.status === "active";
        const artefacts = application.artifacts ?? [];
        return h("li", { class: `card ${isGood ? "good" : "bad"}` },
            h("h2", {}, application.name, application.version && h("span", { class: "soft" }, ` ${application.version}`)),
            h("p", {}, badge(isGood ? "good" : "bad", isGood ? "runs whole" : "something in it does not run"), ` ${application.file ?? ""}`),
            h("details", {}, h("summary", {}, count(artefacts.length, "artefact")), h("ul", {}, artefacts.map((one) => h("li", {},
                `${one.type} ${one.name} `, one.status === "active" ? "" : h("a", { href: link(["problems"], { text: one.name }) }, badge("bad", "does not run")))))),
            session.isAdmin && h("button", { type: "button", class: "danger", onclick: async () => {
                if (!(await confirm(`Remove the application ${application.name}? Its artefacts stop to serve.`, "Remove"))) return;
                await attempt(() => api.removeApplication(application.file ?? application.name));
                await draw();
            } }, "Remove", h("span", { class: "unseen" }, ` ${application.name}`)));
    }
    await draw();
}
