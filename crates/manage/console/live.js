// Counters of the bus, asked every two seconds while somebody looks, and what two of them make: rates and latencies.

import { api } from "./api.js";

/** How often it asks, in milliseconds. */
const EVERY = 2000;

/** How many answers are kept: two minutes. */
const KEPT = 60;

/** Over how many seconds figures are told. */
export const WINDOW = 10;

const FAILED = ["4xx", "5xx"];

/** What was counted of a service or an endpoint, by time. */
export class Series {
    constructor() {
        this.samples = [];
        this.last = null;
    }

    add(time, counted) {
        const { latency } = counted;
        const answers = counted.exchanges ?? counted.responses;
        const failures = Object.values(counted.failures ?? {}).reduce((sum, count) => sum + count, 0);
        const sum = Object.values(answers).reduce((sum, count) => sum + count, 0) + failures + (counted.abandoned ?? 0);
        const sample = {
            time,
            sum,
            errors: FAILED.reduce((errors, name) => errors + (answers[name] ?? 0), 0) + failures,
            failures,
            faults: counted.faults ?? 0,
            answers,
            waited: counted.waitedSeconds ?? 0,
            count: latency.count,
            seconds: latency.sumSeconds,
            buckets: latency.buckets,
        };
        // Counts begin anew where the artefact was replaced.
        if (this.last && sum < this.last.sum) this.samples = [];
        // A rate over less than a second says nothing: two answers that close count as one.
        if (this.samples.length > 0 && time - this.samples.at(-1).time < 1) this.samples.pop();
        this.samples.push(sample);
        if (this.samples.length > KEPT) this.samples.shift();
        this.last = sample;
        this.told = counted;
    }

    /** The sample that a window of so many seconds begins with; null while there are not two. */
    from(window = WINDOW) {
        const { samples, last } = this;
        if (samples.length < 2) return null;
        let first = samples[samples.length - 2];
        for (let at = samples.length - 2; at >= 0; at -= 1) {
            if (last.time - samples[at].time > window + 0.5) break;
            first = samples[at];
        }
        return first;
    }

    /** What happened in a window. */
    figures(window = WINDOW) {
        const { last } = this;
        const first = this.from(window);
        if (!first) return { total: last?.sum ?? 0 };
        const time = Math.max(last.time - first.time, 0.001);
        const per = (value) => (last[value] - first[value]) / time;
        const ended = last.sum - first.sum;
        const timed = last.count - first.count;
        const buckets = last.buckets.map(([bound, count], at) => [bound ?? Infinity, count - (first.buckets[at]?.[1] ?? 0)]);
        const answers = Object.fromEntries(Object.entries(last.answers).map(([name, count]) => [name, (count - (first.answers[name] ?? 0)) / time]));
        return {
            total: last.sum,
            rate: per("sum"),
            errorRate: per("errors"),
            faultRate: per("faults"),
            failureRate: per("failures"),
            errors: ended > 0 ? (last.errors - first.errors) / ended : null,
            mean: timed > 0 ? (last.seconds - first.seconds) / timed : null,
            waited: ended > 0 ? (last.waited - first.waited) / ended : null,
            p50: quantile(buckets, 0.5),
            p99: quantile(buckets, 0.99),
            buckets,
            answers,
        };
    }

    /** A value of each interval, the oldest first: `rate`, `errorRate`, `faultRate`. */
    history(name) {
        const key = { rate: "sum", errorRate: "errors", faultRate: "faults", failureRate: "failures" }[name];
        const { samples } = this;
        const told = [];
        for (let at = 1; at < samples.length; at += 1) {
            const time = Math.max(samples[at].time - samples[at - 1].time, 0.001);
            told.push({ time: samples[at].time, value: Math.max(0, samples[at][key] - samples[at - 1][key]) / time });
        }
        return told;
    }

    /** A quantile of the latency of each interval, over five intervals each; null where there was nothing. */
    latencies(fraction) {
        const { samples } = this;
        const told = [];
        for (let at = 1; at < samples.length; at += 1) {
            const first = samples[Math.max(0, at - 5)];
            const buckets = samples[at].buckets.map(([bound, count], bucket) => [bound ?? Infinity, count - (first.buckets[bucket]?.[1] ?? 0)]);
            told.push({ time: samples[at].time, value: quantile(buckets, fraction) });
        }
        return told;
    }
}

/** A quantile of counts by upper bound; within a bucket times are taken to lie evenly. */
export function quantile(buckets, fraction) {
    const sum = buckets.reduce((sum, [, count]) => sum + count, 0);
    if (sum <= 0) return null;
    let rank = sum * fraction;
    let lower = 0;
    for (const [bound, count] of buckets) {
        if (count > 0 && rank <= count) return bound === Infinity ? Infinity : lower + (bound - lower) * (rank / count);
        rank -= count;
        if (bound !== Infinity) lower = bound;
    }
    return Infinity;
}

/** Counters of several series as if they were one. */
function joined(all) {
    const answers = {};
    let latency = null;
    const sum = { exchanges: answers, abandoned: 0, faults: 0, waitedSeconds: 0 };
    for (const one of all) {
        for (const [name, count] of Object.entries(one.exchanges)) answers[name] = (answers[name] ?? 0) + count;
        sum.abandoned += one.abandoned;
        sum.faults += one.faults;
        sum.waitedSeconds += one.waitedSeconds;
        if (!latency) {
            latency = { count: 0, sumSeconds: 0, buckets: one.latency.buckets.map(([bound]) => [bound, 0]) };
        }
        latency.count += one.latency.count;
        latency.sumSeconds += one.latency.sumSeconds;
        one.latency.buckets.forEach(([, count], at) => {
            if (latency.buckets[at]) latency.buckets[at][1] += count;
        });
    }
    sum.latency = latency ?? { count: 0, sumSeconds: 0, buckets: [] };
    return sum;
}

const listeners = new Set();
let timer = null;
let asking = null;

export const live = {
    services: new Map(),
    endpoints: new Map(),
    all: new Series(),
    gauges: null,
    /** Seconds of processor time by seconds. */
    processor: null,
    faults: [],
    error: null,

    /** Calls now, if something is known, and after each answer, until the signal. */
    listen(signal, work) {
        listeners.add(work);
        signal.addEventListener("abort", () => {
            listeners.delete(work);
            if (listeners.size === 0) stop();
        });
        if (this.gauges) work();
        if (!timer && !asking) tick();
    },

    /** Forgets all, as at a logout. */
    clear() {
        stop();
        this.services.clear();
        this.endpoints.clear();
        this.all = new Series();
        this.gauges = null;
        this.processor = null;
    },

    /** Asks at once, as after a switch. */
    async now() {
        clearTimeout(timer);
        timer = null;
        if (!asking) await tick();
    },
};

function stop() {
    clearTimeout(timer);
    timer = null;
    asking?.abort();
    asking = null;
}

async function tick() {
    timer = null;
    if (listeners.size === 0 || document.hidden) return;
    const mine = new AbortController();
    asking = mine;
    try {
        const [rates, gauges] = await Promise.all([api.rates(mine.signal), api.gauges(mine.signal)]);
        take(rates, gauges);
        live.error = null;
    } catch (error) {
        if (mine.signal.aborted) return;
        live.error = error;
    }
    if (asking === mine) asking = null;
    for (const work of [...listeners]) work();
    if (listeners.size > 0 && !timer && !asking) timer = setTimeout(tick, EVERY);
}

function take(rates, gauges) {
    const time = rates.milliseconds / 1000;
    const last = live.all.last;
    // Another process, or one that began anew.
    if (last && time < last.time) live.clear();
    keep(live.services, rates.services, (service) => service.id, time);
    keep(live.endpoints, rates.endpoints, (endpoint) => endpoint.name, time);
    live.all.add(time, joined(rates.services));
    live.faults = rates.faults ?? [];
    if (live.gauges && last && time > last.time) {
        live.processor = (gauges.process.processorSeconds - live.gauges.process.processorSeconds) / (time - last.time);
    }
    live.gauges = gauges;
}

function keep(series, told, name, time) {
    const there = new Set();
    for (const one of told) {
        const key = name(one);
        there.add(key);
        if (!series.has(key)) series.set(key, new Series());
        series.get(key).add(time, one);
    }
    for (const key of series.keys()) if (!there.has(key)) series.delete(key);
}

document.addEventListener("visibilitychange", () => {
    if (document.hidden) stop();
    else if (listeners.size > 0 && !timer && !asking) tick();
});
