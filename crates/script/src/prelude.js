// What a script sees: `mc`, the message, and what engines of a JVM bring besides. Run once in each context.
// `native` holds what Rust does; the result is what Rust calls.
(native, keeps) => {
  "use strict";
  const { parse, stringify } = JSON;
  const Failure = Error;
  const scopes = ["default", "axis2", "transport", "operation"];
  const levels = ["trace", "debug", "info", "warn", "error", "fatal"];
  // RFC 9110 §5.1 and §5.5.
  const isToken = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/, isLine = /^[^\x00-\x08\x0a-\x1f\x7f]*$/;
  const addressed = { To: "to", From: "from", ReplyTo: "replyTo", FaultTo: "faultTo" };

  // XML is text with a few methods of Axiom and DOM. Rhino's E4X finds children by their names as properties; who asks
  // this for any hears so, instead of reading `undefined`.
  class Xml {
    constructor(source) { this.source = source; }
    toString() { return this.source; }
    toJSON() { return this.source; }
    valueOf() { return this.source; }
    getText() { return native.xpath(this.source, "string(/*)", []); }
    getTextContent() { return this.getText(); }
    getLocalName() { return native.xpath(this.source, "local-name(/*)", []); }
    getDocumentElement() { return xml(this.source); }
    getFirstElement() { return list(native.xpath(this.source, "/*/*[1]", [])).get(0) ?? null; }
    getAttributeValue(name) {
      const found = native.xpath(this.source, `/*/@*[name() = '${String(name).replaceAll("'", "")}']`, []);
      return found.length === 0 ? null : found[0].text;
    }
    getElementsByTagName(name) {
      return list(native.xpath(this.source, `//*[name() = '${String(name).replaceAll("'", "")}']`, []));
    }
    // Parts of an envelope.
    getBody() { return xml(this.source, "Body"); }
    getHeader() { return xml(this.source, "Header"); }
    hasFault() { return native.xpath(this.source, "boolean(//*[local-name() = 'Fault'])", []); }
    buildWithAttachments() {}
  }

  const handler = {
    get(target, key) {
      const value = target[key];
      if (typeof value === "function") return value.bind(target);
      if (value !== undefined || typeof key === "symbol") return value;
      if (key === "text") return target.getText();
      const text = target.source[key];
      if (typeof text === "function") return text.bind(target.source);
      if (text !== undefined) return text;
      throw new TypeError(`.${key} of XML is E4X, which is not offered: mc.getXpathResult finds elements`);
    },
    set(_, key) { throw new TypeError(`setting .${String(key)} of XML is E4X, which is not offered`); },
    deleteProperty(_, key) { throw new TypeError(`deleting .${String(key)} of XML is E4X, which is not offered`); },
  };

  function xml(source, child) {
    if (child === undefined) return new Proxy(new Xml(source), handler);
    const found = native.xpath(source, `/*/*[local-name() = '${child}']`, []);
    return found.length === 0 ? null : xml(found[0].xml);
  }

  // A list of Java or DOM: an array that has their methods as well.
  function list(found) {
    const nodes = found.map(({ text, xml: source }) => (source === undefined ? leaf(text) : xml(source)));
    const item = (at) => nodes[at];
    Object.defineProperties(nodes, {
      get: { value: item },
      item: { value: (at) => nodes[at] ?? null },
      size: { value: () => nodes.length },
      getLength: { value: () => nodes.length },
      isEmpty: { value: () => nodes.length === 0 },
    });
    return nodes;
  }

  function leaf(text) {
    const get = () => text;
    return { getText: get, getTextContent: get, getAttributeValue: get, toString: get, text };
  }

  // A text as Rust has it: JSON may hold halves of a letter, which UTF-8 cannot.
  const plain = (value) => String(value).toWellFormed();

  const isXml = (value) => typeof value === "object" && value !== null && value instanceof Xml;

  function asXml(value, what) {
    if (typeof value === "string" || value instanceof String || isXml(value)) return plain(value);
    throw new TypeError(`${what} takes XML as text`);
  }

  // XML that is well-formed: what is not is said where it is given, and not when all else has been done.
  function element(value, what) {
    const text = asXml(value, what);
    if (!isXml(value)) native.xpath(text, "/*", []);
    return text;
  }

  // A value as Rust reads it: its type, then the value.
  function typed(value) {
    if (value === undefined || value === null) return ["null", null];
    if (isXml(value)) return ["xml", String(value)];
    switch (typeof value) {
      case "string": return ["text", plain(value)];
      case "boolean": return ["boolean", value];
      case "number": return Number.isSafeInteger(value) ? ["integer", value] : ["double", value];
      case "bigint": return ["text", String(value)];
    }
    if (value instanceof String || value instanceof Number || value instanceof Boolean) return typed(value.valueOf());
    if (value instanceof Date || value instanceof Error) return ["text", plain(value)];
    const text = stringify(value);
    if (text === undefined) throw new TypeError("a function cannot be the value of a property");
    return ["json", text];
  }

  function untyped(value) {
    if (typeof value !== "object" || value === null) return value ?? null;
    return value.xml === undefined ? parse(value.json) : xml(value.xml);
  }

  // A name as Java has it; `undefined` where the scope is none that Synapse writes to.
  function known(scope, name) {
    const word = scope === undefined || scope === null ? "default" : String(scope);
    return scopes.includes(word) ? [word, plain(name)] : undefined;
  }

  function message(facts) {
    const effects = [];
    const unknown = [];
    const own = new Map();
    const properties = new Map(facts.properties);
    const headers = new Map(Object.entries(facts.headers));
    let payload = facts.xml;
    let json = facts.json;
    let object;
    let isNewBody = false;

    const log = (level, text) => { effects.push(["log", level, plain(text), String(new Failure().stack)]); };
    const misnamed = (scope) =>
      log("warn", `a script names the scope ${scope}, which is none of ${scopes.join(", ")}; nothing was done`);

    function envelope(method) {
      if (isNewBody) throw new TypeError(`${method} behind setPayloadXML or setPayloadJSON is not offered`);
      return facts.envelope ?? null;
    }

    function set(scope, name, value) {
      const place = known(scope, name);
      if (place === undefined) return misnamed(scope);
      put(place, value);
    }

    function get(place) {
      const key = place.join("\n");
      if (own.has(key)) return own.get(key);
      if (properties.has(key)) {
        const value = untyped(properties.get(key));
        own.set(key, value);
        return value;
      }
      unknown.push(place);
      return null;
    }

    function put(place, value) {
      const [type, given] = typed(value);
      if (place[0] === "transport" && !(isToken.test(place[1]) && isLine.test(given))) {
        throw new TypeError(`no header line can hold ${place[1]} with that value`);
      }
      own.set(place.join("\n"), type === "null" ? null : value);
      effects.push(["property", ...place, type, given]);
    }

    const mc = {
    getPayloadXML() { return payload === undefined ? null : xml(payload); },
    setPayloadXML(value) {
      payload = element(value, "setPayloadXML");
      json = undefined;
      isNewBody = true;
      effects.push(["xml", payload]);
    },
    getPayloadJSON() { return mc.jsonObject(); },
    setPayloadJSON(value) {
      let text;
      if (typeof value === "string" || value instanceof String) {
        // Rhino takes a text for JSON, and Graal for a text: what is JSON counts as that.
        text = plain(value);
        try { parse(text); } catch { text = stringify(text); }
      } else {
        text = stringify(isXml(value) ? String(value) : value);
      }
      if (text === undefined) throw new TypeError("setPayloadJSON takes a value that JSON has");
      json = text;
      object = parse(text);
      isNewBody = true;
      effects.push(["json", text]);
    },
    getPayloadText() { return json ?? envelope("getPayloadText"); },
    getMessageString() { return envelope("getMessageString"); },
    getJsonText() { return mc.getProperty("JSON_TEXT") ?? "{}"; },
    setJsonText(_, text) { mc.setProperty("JSON_TEXT", text); return true; },
    jsonObject() {
      if (object === undefined) object = json === undefined ? {} : parse(json);
      return object;
    },
    setJsonObject(_, value) { object = value; return true; },

    getProperty(name, scope) {
      const place = known(scope, name);
      if (place === undefined) { misnamed(scope); return null; }
      return get(place);
    },
    setProperty(name, value, scope) { set(scope, name, value); },
    removeProperty(name, scope) { set(scope, name, null); },
    getVariable(name) { return get(["variable", plain(name)]); },
    setVariable(name, value) { put(["variable", plain(name)], value); },
    removeVariable(name) { put(["variable", plain(name)], null); },

    addHeader(mustUnderstand, content) {
      isNewBody = true;
      effects.push(["block", element(content, "addHeader"), Boolean(mustUnderstand)]);
    },
    getEnvelope() { const text = envelope("getEnvelope"); return text === null ? null : xml(text); },
    getEnvelopeXML() { const text = envelope("getEnvelopeXML"); return text === null ? null : xml(text); },

    getTo() { return addressOf("To"); },
    setTo(reference) { address("To", reference); },
    getFrom() { return addressOf("From"); },
    setFrom(reference) { address("From", reference); },
    getReplyTo() { return addressOf("ReplyTo"); },
    setReplyTo(reference) { address("ReplyTo", reference); },
    getFaultTo() { return addressOf("FaultTo"); },
    setFaultTo(reference) { address("FaultTo", reference); },
    getWSAAction() { return headers.get("action") ?? null; },
    setWSAAction(action) { mc.setSoapAction(action); },
    getSoapAction() { return headers.get("action") ?? null; },
    setSoapAction(action) { headers.set("action", plain(action)); effects.push(["header", "action", plain(action)]); },
    getMessageID() { return headers.get("messageId") ?? null; },
    getWSAMessageID() { return headers.get("messageId") ?? null; },
    isResponse() { return facts.isResponse; },
    isSOAP11() { return facts.isSoap11; },

    getServiceLog() { return journal; },
    getXpathResult(expression) { return path(String(expression)); },
    parseXml(text) { return xml(element(text, "parseXml")); },
    };

    function addressOf(name) {
      const address = headers.get(addressed[name]);
      return address === undefined ? null : { getAddress: () => address, toString: () => `Address: ${address}` };
    }

    function address(name, reference) {
      const text = plain(typeof reference?.getAddress === "function" ? reference.getAddress() : reference);
      headers.set(addressed[name], text);
      effects.push(["header", addressed[name], text]);
    }

    const journal = {};
    for (const level of levels) {
      journal[level] = (text, error) => log(level, error === undefined ? text : `${text}: ${error}`);
      journal[`is${level[0].toUpperCase()}${level.slice(1)}Enabled`] = () => true;
    }

    const pause = (milliseconds) => { effects.push(["pause", Math.max(0, Math.floor(Number(milliseconds)) || 0)]); };
    return { mc, journal, pause, effects, unknown };
  }

  // An XPath of Axiom, and what it finds.
  function path(expression) {
    const namespaces = [];
    const find = (node) => native.xpath(asXml(node, "an XPath"), expression, namespaces);
    const nodes = (node) => { const found = find(node); return list(Array.isArray(found) ? found : []); };
    const scalar = (node) => { const found = find(node); return Array.isArray(found) ? found[0]?.text ?? "" : found; };
    return {
      addNamespace(prefix, uri) { namespaces.push([String(prefix), String(uri)]); },
      selectNodes: nodes,
      selectSingleNode: (node) => nodes(node).get(0) ?? null,
      evaluate: (node) => { const found = find(node); return Array.isArray(found) ? list(found) : found; },
      stringValueOf: (node) => String(scalar(node)),
      numberValueOf: (node) => { const value = scalar(node); return value === "" ? NaN : Number(value); },
      booleanValueOf: (node) => { const found = find(node); return Array.isArray(found) ? found.length > 0 : Boolean(found); },
    };
  }

  // What all scripts see besides `mc` writes to the message whose script runs.
  let current;
  const say = (level) => (...texts) => { current.journal[level](texts.map(String).join(" ")); };
  const globals = {
    print: say("info"),
    console: { log: say("info"), info: say("info"), debug: say("debug"), warn: say("warn"), error: say("error") },
    java: {
      lang: { Thread: { sleep: (time) => current.pause(time) }, System: { currentTimeMillis: () => Date.now() } },
      util: { UUID: { randomUUID: () => native.uuid() } },
    },
  };
  for (const [name, value] of Object.entries(globals)) {
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
  }

  // What Java's strings can do and those of JavaScript cannot.
  const ofJava = {
    equals(other) { return String(this) === String(other); },
    equalsIgnoreCase(other) { return String(this).toLowerCase() === String(other).toLowerCase(); },
    contains(part) { return String(this).includes(String(part)); },
    isEmpty() { return this.length === 0; },
  };
  for (const [name, value] of Object.entries(ofJava)) {
    Object.defineProperty(String.prototype, name, { value, writable: true, configurable: true });
  }

  // Some methods of arrays run to the end of a sparse one without looking at the time, and an index that comes with a
  // message can make one of four billion places.
  const bounded = (value) => {
    if (typeof value === "object" && value !== null && value.length > 0xffffff) {
      throw new RangeError(`an array of ${value.length} places is too long`);
    }
    return value;
  };
  const unwatched = [
    "concat", "copyWithin", "flat", "flatMap", "join", "reverse", "shift", "slice", "sort", "splice", "toLocaleString",
    "unshift",
  ];
  for (const name of unwatched) {
    const method = Array.prototype[name];
    const value = function (...values) {
      values.forEach(bounded);
      return Reflect.apply(method, bounded(this), values);
    };
    Object.defineProperty(Array.prototype, name, { value, writable: true, configurable: true });
  }
  const toJSON = function () { return bounded(this); };
  Object.defineProperty(Array.prototype, "toJSON", { value: toJSON, writable: true, configurable: true });

  // Freezes all that the language brings. A frozen prototype would keep objects from having members of the names that
  // it has itself, so those that objects are likely to have of their own become accessors which allow that.
  function freeze() {
    const open = (prototype) => {
      for (const key of Reflect.ownKeys(prototype)) {
        const { value, configurable } = Object.getOwnPropertyDescriptor(prototype, key);
        if (!configurable || value === undefined) continue;
        const set = function (other) {
          if (this === prototype) throw new TypeError(`${String(key)} of the language cannot be changed`);
          Object.defineProperty(this, key, { value: other, writable: true, enumerable: true, configurable: true });
        };
        Object.defineProperty(prototype, key, { get: () => value, set, enumerable: false, configurable: true });
      }
    };
    [Object, Error, TypeError, RangeError, SyntaxError, ReferenceError].forEach(({ prototype }) => open(prototype));
    const seen = new Set([globalThis]);
    const rest = [Object.getPrototypeOf(globalThis), Object.getPrototypeOf(async function () {})];
    rest.push(Object.getPrototypeOf(function* () {}), Object.getPrototypeOf(async function* () {}));
    rest.push(Object.getPrototypeOf([][Symbol.iterator]()), Object.getPrototypeOf(""[Symbol.iterator]()));
    rest.push(Object.getPrototypeOf(new Map().entries()), Object.getPrototypeOf(new Set().values()));
    rest.push(Object.getPrototypeOf("".matchAll(/x/g)), Xml, handler);
    for (const key of Reflect.ownKeys(globalThis)) {
      const descriptor = Object.getOwnPropertyDescriptor(globalThis, key);
      rest.push(descriptor.value);
      if (descriptor.configurable) Object.defineProperty(globalThis, key, { writable: false, configurable: false });
    }
    while (rest.length > 0) {
      const value = rest.pop();
      if ((typeof value !== "object" && typeof value !== "function") || value === null || seen.has(value)) continue;
      seen.add(value);
      Object.freeze(value);
      rest.push(Object.getPrototypeOf(value));
      for (const key of Reflect.ownKeys(value)) {
        const descriptor = Object.getOwnPropertyDescriptor(value, key);
        rest.push(descriptor.value, descriptor.get, descriptor.set);
      }
    }
  }
  if (keeps) freeze();
  const language = new Set(Reflect.ownKeys(globalThis));

  return {
    begin(facts) { current = message(facts); return current; },
    // Takes away what the script left beside the language.
    end() {
      current = undefined;
      for (const key of Reflect.ownKeys(globalThis)) {
        if (!language.has(key)) delete globalThis[key];
      }
    },
    freeze: Object.freeze,
  };
}
