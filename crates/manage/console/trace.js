// A trace of the bus (docs/tracing.md) as the console shows it: one list of rows, each with its depth.

/** What stands in the list of traces. */
export function summaryOf(told) {
    return {
        id: String(told.id),
        kind: told.service?.kind ?? "",
        service: told.service?.name ?? "",
        correlation: told.correlationId ?? "",
        began: new Date(told.began ?? NaN),
        took: inSeconds(told.tookMs),
        status: told.status ?? null,
        isFaulty: told.faulted === true,
        summary: told.summary ?? "",
    };
}

const inSeconds = (milliseconds) => (milliseconds === null || milliseconds === undefined ? null : milliseconds / 1000);

const TITLES = {
    sequence: (node) => `sequence ${node.name ?? ""}`,
    step: (node) => node.element,
    call: () => "request",
    fault: (node) => `fault ${node.code ?? ""}`,
    handler: (node) => `handled by ${node.name ?? ""}`,
    branch: (node) => (node.number === null || node.number === undefined ? "branch" : `branch ${node.number + 1}`),
};

/** A few words that tell a row from others of its kind. */
function wordsOf(node, decisions) {
    switch (node.kind) {
        case "step": {
            const changes = node.changes?.length ?? 0;
            return decisions.length > 0 ? decisions.map((decision) => decision.chosen).join(", ") : changes > 0 ? `${changes} changed` : "";
        }
        case "call": return `${node.endpoint || node.url}: ${node.failure ?? node.response?.line ?? "no response"}`;
        case "fault": return node.message ?? "";
        default: return "";
    }
}

/** A whole trace. */
export function traceOf(told) {
    const rows = [];
    const add = (row) => rows.push({ ...row, number: rows.length + 1 });
    const walk = (nodes, depth) => {
        for (const node of nodes ?? []) {
            // What a step decided is told with the step.
            if (node.kind === "decision" && depth > 0) continue;
            const decisions = (node.nodes ?? []).filter((inner) => inner.kind === "decision");
            add({
                node,
                depth,
                decisions: node.kind === "decision" ? [node] : decisions,
                title: (TITLES[node.kind] ?? (() => node.kind))(node),
                words: node.kind === "decision" ? node.chosen : wordsOf(node, decisions),
                isBad: node.kind === "fault" || Boolean(node.failure),
                at: node.file ? { file: node.file, line: node.line } : null,
                start: inSeconds(node.atMs) ?? 0,
                took: inSeconds(node.tookMs),
            });
            walk(node.nodes, depth + 1);
        }
    };
    add({ title: "client sent", words: told.request?.line ?? "", depth: 0, message: told.request, start: 0, took: null, decisions: [] });
    walk(told.nodes, 0);
    const took = inSeconds(told.tookMs) ?? 0;
    add({ title: "client got", words: told.answer?.line ?? "nothing", depth: 0, message: told.answer, start: took, took: null, decisions: [], isBad: !told.answer });
    return { ...summaryOf(told), rows, leftOut: told.stepsLeftOut ?? 0, raw: told };
}

/** A selection: which exchanges are recorded. */
export function selectionOf(told) {
    return { id: told.id, service: told.service ?? null, through: told.through ?? null, when: told.when ?? null, isFaulty: told.faulted === true, next: told.next ?? null };
}
