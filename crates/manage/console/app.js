// The frame around all pages: who is logged in, which page the address names, the menu, and the colours.

import { api, session } from "./api.js";
import { h, link, replace } from "./dom.js";
import { live } from "./live.js";
import { failure } from "./parts.js";
import { overview } from "./pages/overview.js";
import { service } from "./pages/service.js";
import { endpoint, endpoints } from "./pages/endpoints.js";
import { trace } from "./pages/trace.js";
import { traces } from "./pages/traces.js";
import { problems } from "./pages/problems.js";
import { logs } from "./pages/logs.js";
import { reloads } from "./pages/reloads.js";
import { tasks } from "./pages/tasks.js";
import { stores } from "./pages/stores.js";
import { applications } from "./pages/applications.js";
import { sources } from "./pages/sources.js";
import { login } from "./pages/login.js";

/** Pages by the first part of their address; what shows one thing of many has a second part. */
const PAGES = {
    "": { title: "Overview", show: overview },
    services: { title: "Service", show: service, menu: "" },
    endpoints: { title: "Endpoints", show: (page) => (page.parts[1] === undefined ? endpoints(page) : endpoint(page)) },
    traces: { title: "Traces", show: (page) => (page.parts[1] === undefined ? traces(page) : trace(page)) },
    problems: { title: "Problems", show: problems },
    logs: { title: "Logs", show: logs },
    reloads: { title: "Reloads", show: reloads },
    tasks: { title: "Tasks", show: tasks },
    stores: { title: "Stores", show: stores },
    applications: { title: "Applications", show: applications },
    source: { title: "Sources", show: sources },
};

const MENU = ["", "endpoints", "traces", "problems", "logs", "reloads", "tasks", "stores", "applications", "source"];

const main = document.getElementById("main");
const menu = document.getElementById("menu");
const bar = document.getElementById("bar");

let leave = new AbortController();
let shown = null;
let isFirst = true;

/** The address as parts of a path and a query. */
function address() {
    const [path, query] = location.hash.replace(/^#\/?/, "").split(/\?(.*)/s);
    const parts = path.split("/").map((part) => {
        try {
            return decodeURIComponent(part);
        } catch {
            return part;
        }
    });
    return { parts, query: new URLSearchParams(query ?? "") };
}

/** Shows the page that the address names. */
async function show() {
    const { parts, query } = address();
    const name = parts.map(encodeURIComponent).join("/");
    // A page may take another query without being made anew; it says `false` where it does not.
    if (shown && shown.name === name && shown.onquery && session.token && shown.onquery(query) !== false) return;
    leave.abort();
    leave = new AbortController();
    const page = {
        name,
        parts,
        query,
        main,
        signal: leave.signal,
        title(text) {
            document.title = `${text} · Myelin`;
        },
        /** Changes the query in the address without a new entry in the history. */
        keep(values) {
            history.replaceState(null, "", link(parts, values));
        },
        onquery: null,
    };
    shown = page;
    if (!session.token) {
        frame(null);
        page.title("Log in");
        login(page, start);
        return;
    }
    const found = PAGES[parts[0]];
    frame(found ? found.menu ?? parts[0] : null);
    replace(main);
    main.setAttribute("aria-busy", "true");
    page.title(found?.title ?? "No such page");
    try {
        if (found) await found.show(page);
        else replace(main, h("h1", {}, "No such page"), h("p", {}, h("a", { href: "#/" }, "To the overview")));
    } catch (error) {
        if (!page.signal.aborted) replace(main, h("h1", {}, found?.title ?? ""), failure(error, () => { shown = null; show(); }));
    }
    if (page.signal.aborted) return;
    main.removeAttribute("aria-busy");
    // Who came by a link hears where they are; the first page leaves the focus where it is.
    if (!isFirst) {
        main.focus({ preventScroll: true });
        if (!page.scrolls) scrollTo(0, 0);
    }
    isFirst = false;
}

const THEMES = [["auto", "Auto"], ["light", "Light"], ["dark", "Dark"]];

function theme(wanted) {
    if (wanted) localStorage.setItem("myelin.theme", wanted);
    const now = localStorage.getItem("myelin.theme") ?? "auto";
    if (now === "auto") document.documentElement.removeAttribute("data-theme");
    else document.documentElement.dataset.theme = now;
    return now;
}

/** The bar and the menu around a page. */
function frame(current) {
    const isIn = Boolean(session.token);
    menu.hidden = !isIn;
    const colours = h("select", { "aria-label": "Colours", onchange: (event) => theme(event.target.value) },
        THEMES.map(([value, text]) => h("option", { value, selected: value === theme() }, text)));
    replace(bar, h("a", { class: "brand", href: "#/" }, h("img", { src: "icon.svg", alt: "", width: 24, height: 24 }), "Myelin"),
        h("span", { class: "gap" }), colours,
        isIn && h("span", { class: "who" }, session.user, !session.isAdmin && " (reads only)"),
        isIn && h("button", { type: "button", onclick: logout }, "Log out"));
    if (!isIn) return;
    replace(menu, h("ul", {}, MENU.map((name) => h("li", {}, h("a", { href: `#/${name}`, "aria-current": name === current ? "page" : null }, PAGES[name].title,
        name === "problems" && h("span", { class: "count", id: "problem-count", hidden: true }))))));
    menu.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
}

async function logout() {
    live.clear();
    try {
        await api.logout();
    } catch {
        // The token ends by itself.
    }
    shown = null;
    if (location.hash === "#/" || location.hash === "") show();
    else location.hash = "#/";
}

/** Learns who is logged in, and shows the page. */
async function start() {
    if (session.token) {
        try {
            await api.whoami();
        } catch (error) {
            if (session.token) {
                replace(main, h("h1", {}, "Myelin"), failure(error, start));
                return;
            }
        }
    }
    shown = null;
    show();
}

session.onend = () => {
    live.clear();
    session.ended = true;
    shown = null;
    show();
};

document.getElementById("skip").addEventListener("click", (event) => {
    // The address is the page's: a jump within it must not change it.
    event.preventDefault();
    main.focus();
    main.scrollIntoView();
});
addEventListener("hashchange", show);
theme();
start();
