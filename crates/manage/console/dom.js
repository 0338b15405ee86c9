// Elements, made without ever reading HTML from a text: what the bus tells is data, and stays text.

const SVG = "http://www.w3.org/2000/svg";

/** Puts properties, listeners and children on an element; what is null or false is left out. */
function fill(element, properties, children) {
    for (const [name, value] of Object.entries(properties ?? {})) {
        if (value === null || value === undefined || value === false) continue;
        if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
        else if (name === "class") element.setAttribute("class", value);
        else if (name === "value" || name === "checked" || name === "disabled" || name === "selected") element[name] = value;
        else element.setAttribute(name, value === true ? "" : String(value));
    }
    append(element, children);
    return element;
}

function append(element, children) {
    for (const child of children.flat(Infinity)) {
        if (child === null || child === undefined || child === false) continue;
        element.append(child instanceof Node ? child : String(child));
    }
}

/** An element of HTML. */
export function h(name, properties, ...children) {
    return fill(document.createElement(name), properties, children);
}

/** An element of SVG. */
export function s(name, properties, ...children) {
    return fill(document.createElementNS(SVG, name), properties, children);
}

/** Gives an element these children and no others. */
export function replace(element, ...children) {
    element.replaceChildren();
    append(element, children);
    return element;
}

/** Changes a text only where it is another, so that nothing is drawn for nothing. */
export function say(element, text) {
    text = String(text);
    if (element.textContent !== text) element.textContent = text;
}

/** A link to a page of the console; parts of the path are texts of any kind. */
export function link(parts, query = {}) {
    const path = parts.map(encodeURIComponent).join("/");
    const told = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "");
    const search = new URLSearchParams(told).toString();
    return `#/${path}${search && `?${search}`}`;
}

/** Runs something once nothing has called it for a while. */
export function debounced(milliseconds, work) {
    let timer;
    return (...values) => {
        clearTimeout(timer);
        timer = setTimeout(() => work(...values), milliseconds);
    };
}
