// Tasks: when they run, whether they do, and running one at once.

import { api, session } from "../api.js";
import { h, link, replace } from "../dom.js";
import { live } from "../live.js";
import { attempt, empty, heading, table, toggle } from "../parts.js";
import { rate, span, whole } from "../text.js";

export async function tasks(page) {
    const { signal } = page;
    const names = await api.tasks(signal);
    const [all, services] = await Promise.all([Promise.all(names.map(({ name }) => api.task(name, signal))), api.services(signal)]);
    const figures = new Map();
    const row = (task) => {
        // What a task gives to a proxy is a message of that proxy.
        const isService = services.some((one) => one.id === `task ${task.name}`);
        const ran = h("span", {}, isService ? "" : "counted with its proxy");
        if (isService) figures.set(task.name, ran);
        return h("tr", {},
            h("th", { scope: "row" }, isService ? h("a", { href: link(["services", `task ${task.name}`]) }, task.name) : task.name, h("span", { class: "address" }, task.taskGroup)),
            h("td", {}, when(task)), h("td", { class: "words" }, task.implementation), h("td", { class: "number" }, ran),
            h("td", {}, toggle({ label: `${task.name} runs`, hidden: true, isOn: task.status === "active", change: (on) => api.switch("task", task.name, on) })),
            h("td", {}, h("button", { type: "button", disabled: !session.isAdmin, title: session.isAdmin ? null : "Only admins can change this.",
                onclick: () => attempt(() => api.runTask(task.name)) }, "Run now", h("span", { class: "unseen" }, ` ${task.name}`))));
    };
    replace(page.main, heading("Tasks"), all.length === 0 ? empty("The configuration has no tasks.") : table({
        caption: "Tasks", columns: ["Task", "When", "What runs", { text: "Runs", class: "number" }, "On", h("th", { scope: "col" }, h("span", { class: "unseen" }, "Run now"))],
        body: h("tbody", {}, all.map(row)),
    }));
    live.listen(signal, () => {
        for (const [name, cell] of figures) {
            const series = live.services.get(`task ${name}`);
            if (!series) continue;
            const told = series.figures();
            cell.textContent = `${whole(told.total ?? 0)}${told.rate > 0 ? ` (${rate(told.rate)}/s)` : ""}`;
        }
    });
}

function when({ triggerType, triggerCron, triggerInterval, triggerCount }) {
    if (triggerType === "cron") return h("code", {}, triggerCron);
    const times = triggerCount === "-1" || triggerCount === "" ? "" : triggerCount === "1" ? "once" : `${triggerCount} times`;
    const every = triggerInterval && triggerCount !== "1" ? `every ${span(Number(triggerInterval))}` : "";
    return [times, every].filter(Boolean).join(", ") || "once";
}
