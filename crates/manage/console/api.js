// All that the console asks of the bus. The shapes of answers are known here and in `live.js` and `trace.js` only.

const BASE = "/management";
const TOKEN = "myelin.token";

/** How long an answer may take, in milliseconds; one that is waited for on purpose has its own. */
const DEADLINE = 15000;

/** An answer that is none. */
export class ApiError extends Error {
    constructor(status, sentence) {
        super(sentence);
        this.status = status;
    }
}

/** Who is logged in; the token lives as long as the tab, and goes into one header only. */
export const session = {
    token: sessionStorage.getItem(TOKEN),
    user: "",
    isAdmin: false,
    /** Called when the bus knows the token no more. */
    onend: () => {},

    keep(token) {
        this.token = token;
        if (token) sessionStorage.setItem(TOKEN, token);
        else sessionStorage.removeItem(TOKEN);
    },
};

async function ask(path, { method = "GET", body, signal, headers = {}, deadline = DEADLINE } = {}) {
    const query = path.query ? new URLSearchParams(Object.entries(path.query).filter(([, value]) => value !== undefined && value !== null && value !== "")) : "";
    const url = `${BASE}${path.path ?? path}${query && String(query) && `?${query}`}`;
    const given = { ...headers };
    if (session.token && !given.Authorization) given.Authorization = `Bearer ${session.token}`;
    if (body !== undefined && !(body instanceof FormData)) {
        given["Content-Type"] = "application/json";
        body = JSON.stringify(body);
    }
    const late = AbortSignal.timeout(deadline);
    const answer = await fetch(url, {
        method,
        headers: given,
        body,
        signal: signal ? AbortSignal.any([signal, late]) : late,
        cache: "no-store",
        credentials: "omit",
    }).catch((error) => {
        if (signal?.aborted) throw error;
        throw new ApiError(0, error.name === "TimeoutError" ? "The bus did not answer in time." : "The bus cannot be reached.");
    });
    const text = await answer.text();
    let value = {};
    try {
        value = text ? JSON.parse(text) : {};
    } catch {
        value = { text };
    }
    if (answer.ok) return value;
    if (answer.status === 401 && !headers.Authorization) {
        session.keep(null);
        session.onend();
    }
    throw new ApiError(answer.status, value.Error ?? sentence(answer.status));
}

function sentence(status) {
    switch (status) {
        case 403: return "Only admins may do this.";
        case 404: return "The bus has no such thing, or does not offer it.";
        case 429: return "Too many requests; try again later.";
        default: return `The bus answered with status ${status}.`;
    }
}

const list = async (path, options) => (await ask(path, options)).list ?? [];

/** Basic credentials of any letters. */
function basic(name, password) {
    const bytes = new TextEncoder().encode(`${name}:${password}`);
    return `Basic ${btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))}`;
}

const SWITCHES = { proxy: "/proxy-services", api: "/apis", inboundEndpoint: "/inbound-endpoints", task: "/tasks", endpoint: "/endpoints" };

/** Whether a kind of service can be switched off and on. */
export const canSwitch = (kind) => ["proxy", "inboundEndpoint", "task"].includes(kind);

/** Whether the tracing of a kind of service can be switched. */
export const canTrace = (kind) => ["proxy", "api", "inboundEndpoint"].includes(kind);

export const api = {
    async login(name, password) {
        const { AccessToken } = await ask("/login", { headers: { Authorization: basic(name, password) } });
        session.keep(AccessToken);
        await this.whoami();
    },
    async whoami() {
        const { userId, isAdmin } = await ask("/myelin/session");
        session.user = userId ?? "";
        session.isAdmin = isAdmin === true;
    },
    async logout() {
        try {
            await ask("/logout");
        } finally {
            session.keep(null);
        }
    },

    server: (signal) => ask("/server", { signal }),
    services: async (signal) => (await ask("/myelin/services", { signal })).services ?? [],
    rates: (signal) => ask("/myelin/rates", { signal }),
    gauges: (signal) => ask("/myelin/gauges", { signal }),
    steps: (service, signal) => ask({ path: "/myelin/steps", query: { service } }, { signal }),
    problems: (signal) => list("/myelin/problems", { signal }),
    reloads: (signal) => list("/myelin/reloads", { signal }),
    files: (signal) => list("/myelin/source", { signal }),
    source: async (file, signal) => (await ask({ path: "/myelin/source", query: { file } }, { signal })).text ?? "",

    endpoints: (signal) => list("/endpoints", { signal }),
    endpoint: (endpointName, signal) => ask({ path: "/endpoints", query: { endpointName } }, { signal }),
    tasks: (signal) => list("/tasks", { signal }),
    task: (taskName, signal) => ask({ path: "/tasks", query: { taskName } }, { signal }),
    stores: (signal) => list("/message-stores", { signal }),
    processors: (signal) => list("/message-processors", { signal }),

    switch: (kind, name, isOn) => ask(SWITCHES[kind], { method: "POST", body: { name, status: isOn ? "active" : "inactive" } }),
    trace: (kind, name, isOn) => ask(SWITCHES[kind], { method: "POST", body: { name, trace: isOn ? "enable" : "disable" } }),
    runTask: (name) => ask("/tasks", { method: "POST", body: { name, status: "trigger" } }),

    async applications(signal) {
        const { activeList = [], faultyList = [] } = await ask("/applications", { signal });
        return [...faultyList, ...activeList];
    },
    addApplication(file) {
        const form = new FormData();
        form.append("file", file, file.name);
        return ask("/applications", { method: "POST", body: form, deadline: 120000 });
    },
    removeApplication: (name) => ask(`/applications/${encodeURIComponent(name)}`, { method: "DELETE", deadline: 60000 }),

    loggers: (signal) => list("/logging", { signal }),
    setLevel: (loggerName, loggingLevel) => ask("/logging", { method: "PATCH", body: { loggerName, loggingLevel } }),
    addLogger: (loggerName, loggerClass, loggingLevel) =>
        ask("/logging", { method: "PATCH", body: { loggerName, loggerClass, loggingLevel } }),
    /** Lines behind a number; it waits until there is one. */
    log: (query, signal) => ask({ path: "/myelin/log", query }, { signal, deadline: 60000 }),

    traces: (signal) => list({ path: "/myelin/traces", query: { limit: "1000" } }, { signal }),
    traceOf: (id, signal) => ask(`/myelin/traces/${encodeURIComponent(id)}`, { signal }),
    selections: (signal) => list("/myelin/traces/selection", { signal }),
    select: (wish) => ask("/myelin/traces/selection", { method: "POST", body: wish }),
    deselect: (id) => ask({ path: "/myelin/traces/selection", query: { id: String(id) } }, { method: "DELETE" }),
};
