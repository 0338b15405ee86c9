// Figures, times and places as people read them.

export const NOTHING = "–";

/** A rate: three figures are enough. */
export function rate(value) {
    if (value === null || value === undefined || !Number.isFinite(value)) return NOTHING;
    if (value === 0) return "0";
    if (value < 0.1) return value.toFixed(2);
    if (value < 10) return value.toFixed(1);
    return whole(value);
}

export function whole(value) {
    return Math.round(value).toLocaleString("en");
}

/** A part of a whole, in percent. */
export function percent(value) {
    if (value === null || value === undefined || !Number.isFinite(value)) return NOTHING;
    const percents = value * 100;
    if (percents === 0) return "0 %";
    return percents < 0.1 ? "< 0.1 %" : `${percents < 10 ? percents.toFixed(1) : Math.round(percents)} %`;
}

/** A time in seconds. */
export function seconds(value) {
    if (value === null || value === undefined || Number.isNaN(value)) return NOTHING;
    if (value === Infinity) return "> 30 s";
    if (value === 0) return "0";
    if (value < 0.001) return `${Math.round(value * 1e6)} µs`;
    if (value < 0.01) return `${(value * 1e3).toFixed(1)} ms`;
    if (value < 1) return `${Math.round(value * 1e3)} ms`;
    return `${value < 10 ? value.toFixed(1) : Math.round(value)} s`;
}

export function bytes(value) {
    if (value === null || value === undefined) return NOTHING;
    if (value < 1024) return `${value} B`;
    const steps = ["KiB", "MiB", "GiB", "TiB"];
    let step = -1;
    do {
        value /= 1024;
        step += 1;
    } while (value >= 1024 && step + 1 < steps.length);
    return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${steps[step]}`;
}

/** How long something is ago or lasts. */
export function span(value) {
    if (value < 60) return `${Math.max(0, Math.round(value))} s`;
    if (value < 3600) return `${Math.floor(value / 60)} min`;
    if (value < 86400) return `${Math.floor(value / 3600)} h ${Math.floor((value % 3600) / 60)} min`;
    return `${Math.floor(value / 86400)} d ${Math.floor((value % 86400) / 3600)} h`;
}

const CLOCK = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3 });
const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit" });

/** The time of day, to the millisecond. */
export function clock(date) {
    return Number.isNaN(date.getTime()) ? NOTHING : CLOCK.format(date);
}

/** Day and time. */
export function day(date) {
    return Number.isNaN(date.getTime()) ? NOTHING : DAY.format(date);
}

/** `orders.xml:12` or `orders.xml:12:7` as file and line; null where it is neither. */
export function place(text) {
    const found = /^(.+?):(\d+)(?::(\d+))?$/.exec(text ?? "");
    return found && { file: found[1], line: Number(found[2]), column: Number(found[3] ?? 0) };
}

/** `orders.xml:12` without its folders. */
export function shortPlace(text) {
    return (text ?? "").replace(/^.*\//, "");
}

const KINDS = {
    proxy: "Proxy",
    api: "API",
    inboundEndpoint: "Inbound endpoint",
    task: "Task",
    sequence: "Sequence",
    none: "No service",
};

export function kindName(kind) {
    return KINDS[kind] ?? kind;
}

/** One, or many. */
export function count(number, one, many = `${one}s`) {
    return `${whole(number)} ${number === 1 ? one : many}`;
}
