// The form by which somebody logs in.

import { api, session } from "../api.js";
import { h, replace } from "../dom.js";
import { field, sign } from "../parts.js";

export function login(page, done) {
    const trouble = h("p", { class: "trouble", role: "alert", hidden: true });
    const name = h("input", { name: "username", autocomplete: "username", required: true, autocapitalize: "none", spellcheck: "false" });
    const password = h("input", { name: "password", type: "password", autocomplete: "current-password", required: true });
    const button = h("button", { class: "primary" }, "Log in");
    const complain = (sentence) => {
        trouble.hidden = false;
        replace(trouble, sign("bad"), sentence);
    };
    const form = h("form", { class: "login", onsubmit: async (event) => {
        event.preventDefault();
        button.disabled = true;
        try {
            await api.login(name.value, password.value);
            password.value = "";
            session.ended = false;
            await done();
        } catch (error) {
            if (page.signal.aborted) return;
            complain(error.status === 404 ? "This bus offers no management API: name its users first, as docs/console.md says." : error.message);
            password.select();
        } finally {
            button.disabled = false;
        }
    } },
    h("h1", {}, "Log in"), trouble, field("User", name), field("Password", password), button,
    h("p", { class: "soft" }, "Users are those of the management API."));
    replace(page.main, form);
    if (session.ended) complain("Your session has ended. Log in again.");
    name.focus();
}
