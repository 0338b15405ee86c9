// What comes to each step of a service. The bus counts steps only while a page asks for them, so a page that is closed
// costs nothing.

import { api } from "./api.js";
import { WINDOW } from "./live.js";

const NONE = { messages: 0, faults: 0, chosen: {} };

const keyOf = ({ element, place, column }) => `${element} ${place}:${column}`;

export class StepCounts {
    /** `service` with its kind: `proxy Orders`. */
    constructor(service) {
        this.service = service;
        this.samples = [];
    }

    /** Asks once; what is counted before the first time is not known. */
    async ask(signal) {
        const told = await api.steps(this.service, signal);
        const sample = { time: told.milliseconds / 1000, seconds: told.seconds, steps: new Map(told.steps.map((step) => [keyOf(step), step])) };
        // Counting began anew: nobody had asked for a while, or the bus is another one.
        if (this.samples.length > 0 && sample.seconds < this.samples.at(-1).seconds) this.samples = [];
        this.samples.push(sample);
        while (this.samples.length > 2 && sample.time - this.samples[1].time >= WINDOW) this.samples.shift();
    }

    /** For how many seconds steps are counted. */
    get seconds() {
        return this.samples.at(-1)?.seconds ?? 0;
    }

    /** What came to a step in all, and a second; null as long as that is not known. */
    of(step) {
        const [first, last] = [this.samples[0], this.samples.at(-1)];
        if (!first || last.time - first.time < 1) return null;
        const [before, now] = [first, last].map((sample) => sample.steps.get(keyOf(step)) ?? NONE);
        const per = (count, earlier) => (count - earlier) / (last.time - first.time);
        return {
            total: now,
            rate: per(now.messages, before.messages),
            faultRate: per(now.faults, before.faults),
            /** How many took a branch a second; null for one whose choice is not counted. */
            branch: (label) => {
                const name = Object.keys(now.chosen).find((chosen) => label === chosen || label.startsWith(`${chosen}: `));
                if (name) return per(now.chosen[name], before.chosen[name] ?? 0);
                return isBranching(step) ? 0 : null;
            },
        };
    }
}

/** Whether the bus counts which branch of a step is taken. */
const isBranching = ({ element }) => ["filter", "switch", "conditionalRouter"].includes(element);
