//! The console in a browser, before a bus as an operator runs it.

#![allow(clippy::unwrap_used, reason = "what fails in a test fails the test")]

mod browser;
mod canary;
mod operating;
#[allow(dead_code, reason = "other tests use the rest")]
#[path = "../support/process.rs"]
mod process;

use std::net::SocketAddr;

use myelin_testkit::faulty::{Backend, Script};
use myelin_testkit::raw::exchange;
use serde_json::{Value, json};

use browser::Browser;
use process::{Process, write};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok";

/// What must never run, wherever a text of the bus is shown.
const HOSTILE: &str = "<img src=x onerror=console.error(1)>";

const SETTINGS: &str = r#"
[[internal_apis.users]]
user.name = "ann"
user.password = "a-long-password"
user.is_admin = true

[[internal_apis.users]]
user.name = "bob"
user.password = "another-password"
user.is_admin = false

[myelin.management]
listen = "127.0.0.1:0"
"#;

/// A bus with its console, a browser, and the backend behind both.
struct Operated {
    bus: Process,
    console: String,
    backend: Backend,
}

fn configuration(backend: &Backend) -> String {
    let text = include_str!("synapse.xml");
    text.replace("BACKEND", &backend.address().to_string())
}

impl Operated {
    fn start() -> Operated {
        let backend = Backend::start([Script::answering(OK)]).unwrap();
        let bus = Process::with(
            &[("synapse.xml", &configuration(&backend))],
            SETTINGS,
            &["--threads", "1", "--admin", "127.0.0.1:0"],
        );
        let line = bus.logged("metrics and probes are on");
        let url = line.split(' ').find(|word| word.starts_with("http://")).unwrap();
        Operated { bus, console: format!("{url}/console/"), backend }
    }

    fn address(&self) -> SocketAddr {
        self.bus.address
    }

    /// The status of the answer to a GET.
    fn get(&self, path: &str) -> u16 {
        let request = format!("GET {path} HTTP/1.1\r\nHost: bus\r\nConnection: close\r\n\r\n");
        exchange(self.address(), request.as_bytes()).unwrap().status
    }

    /// Sends an order, and gives the status of the answer.
    fn order(&self, quantity: u32, correlation: &str) -> u16 {
        let body = format!("<order><id>17</id><quantity>{quantity}</quantity></order>");
        let request = format!(
            "POST /services/Orders HTTP/1.1\r\nHost: bus\r\nContent-Type: application/xml\r\n\
             X-Note: {HOSTILE}\r\nactivityid: {correlation}\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        exchange(self.address(), request.as_bytes()).unwrap().status
    }

    /// A browser in which somebody has logged in.
    fn logged_in(&self, name: &str, password: &str) -> Option<Browser> {
        let mut browser = Browser::start()?;
        browser.looks(1280, 860, "light");
        browser.open(&self.console);
        browser.write("[name=username]", name);
        browser.write("[name=password]", password);
        browser.click("form.login button");
        browser.until("document.querySelector('table.services tbody tr')");
        Some(browser)
    }
}

/// Goes to a page by its address, and waits for something on it.
fn go(browser: &mut Browser, address: &str, selector: &str) {
    browser.value(&format!("location.hash = {}", json!(address)));
    browser.until(&format!("document.querySelector({})", json!(selector)));
}

/// The row of a table whose head is that text.
fn row(head: &str) -> String {
    let head = json!(head);
    format!(
        "[...document.querySelectorAll('main tbody tr')].find((row) => row.querySelector('th')?.innerText.startsWith({head}))"
    )
}

/// The row of a table that shows a text.
fn row_with(text: &str) -> String {
    let text = json!(text);
    format!("[...document.querySelectorAll('main tbody tr')].find((row) => row.innerText.includes({text}))")
}

#[test]
fn an_operator_sees_and_steers_a_bus() {
    let operated = Operated::start();
    let Some(mut browser) = Browser::start() else { return };
    browser.looks(1280, 860, "light");

    // A wrong password, and the right one.
    browser.open(&operated.console);
    browser.write("[name=username]", "ann");
    browser.write("[name=password]", "wrong");
    browser.click("form.login button");
    browser.shows("wrong");
    // The browser itself tells of the status of that request.
    assert!(browser.complaints().iter().all(|complaint| complaint.contains("401")));
    browser.write("[name=password]", "a-long-password");
    browser.click("form.login button");
    browser.until("document.querySelector('table.services tbody tr')");

    // Traffic is seen as a rate.
    let is_counted = format!("{}?.children[2].innerText.match(/[1-9]/)", row("Orders"));
    for _ in 0..200 {
        assert_eq!(operated.order(1, "c-1"), 200);
        if browser.value(&format!("Boolean({is_counted})")) == true {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    browser.until(&is_counted);

    // The flow is drawn, and a step tells its line.
    go(&mut browser, "#/services/proxy%20Orders", ".graph .node");
    let steps =
        browser.value("[...document.querySelectorAll('.lane.in .node .element')].map((one) => one.innerText).join()");
    assert_eq!(steps, "log,filter,header,call,call,respond");
    browser.value("[...document.querySelectorAll('.node')].find((node) => node.innerText.includes('filter')).click()");
    browser.until("document.querySelector('.details .marked')?.innerText.includes('<filter')");

    // An endpoint is switched off, which its clients notice, and on again.
    go(&mut browser, "#/endpoints/Small", "[role=switch]");
    assert_eq!(operated.order(1, "c-2"), 200);
    browser.click("[role=switch]");
    browser.shows("An operator switched it off.");
    assert!(operated.order(1, "c-3") >= 500);
    browser.click("[role=switch]");
    browser.shows("It gets messages.");
    assert_eq!(operated.order(1, "c-4"), 200);

    // A problem is shown at its line, with a caret below its column.
    go(&mut browser, "#/problems", ".card");
    browser.shows("respnd");
    browser.until("document.querySelector('.card .marked')?.innerText.includes('<respnd')");
    browser.until("document.querySelector('.card .caret')?.innerText.trim() === '^'");

    // A reload tells what it changed.
    go(&mut browser, "#/reloads", "main h1");
    write(
        &operated.bus.path("synapse.xml"),
        &configuration(&operated.backend).replace("level=\"simple\"", "level=\"full\""),
    );
    operated.bus.hang_up();
    browser.until("document.querySelector('.card')?.innerText.includes('proxy Orders')");

    // The rest is there, and what is not offered is said.
    go(&mut browser, "#/tasks", "main tbody tr");
    browser.shows("Nightly");
    go(&mut browser, "#/stores", ".empty");
    browser.shows("does not offer message stores");
    go(&mut browser, "#/applications", "main input[type=file]");
    go(&mut browser, "#/source", "main li a");
    browser.click("main li a");
    browser.until("document.querySelector('pre.source .x-name')");

    // Back goes back, and who logs out is out.
    browser.value("history.back()");
    browser
        .until("document.querySelector('main h1')?.innerText === 'Sources' && !document.querySelector('pre.source')");
    browser.value("[...document.querySelectorAll('header button')].find((one) => one.innerText === 'Log out').click()");
    browser.until("document.querySelector('form.login')");
    assert_eq!(browser.value("sessionStorage.length"), 0);
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn why_an_order_went_where_it_went_is_read_from_its_trace() {
    let operated = Operated::start();
    let Some(mut browser) = operated.logged_in("ann", "a-long-password") else { return };
    go(&mut browser, "#/traces", "form.filters");
    browser.value("document.querySelector('form.filters select').value = 'Orders'");
    browser.write("form.filters input[type=number]", "2");
    browser.click("form.filters button.primary");
    browser.shows("The next 2 exchanges of Orders");
    assert_eq!(
        (operated.order(1, "c-small"), operated.order(500, "c-large"), operated.order(1, "c-late")),
        (200, 200, 200)
    );
    browser.until("document.querySelectorAll('main tbody tr').length === 2");
    browser.shows("Nothing is chosen.");
    assert_eq!(browser.value("document.querySelector('main').innerText.includes('c-late')"), false);

    // The large one: the keys go from step to step, and the filter says what it decided and why.
    browser.value(&format!("{}.querySelector('a').click()", row_with("c-large")));
    browser.until("document.querySelector('.waterfall')");
    let steps = "[...document.querySelectorAll('.waterfall .element')].map((one) => one.innerText.trim()).join()";
    assert_eq!(
        browser.value(steps),
        "client sent,sequence inSequence,log,filter,header,call,request,respond,client got"
    );
    let current = "document.querySelector('[aria-current=step] .element')?.innerText.trim()";
    for step in ["sequence inSequence", "log", "filter"] {
        browser.press("j");
        browser.until(&format!("{current} === {}", json!(step)));
    }
    let details = |text: &str| format!("document.querySelector('.details').innerText.includes({})", json!(text));
    for text in ["//quantity > 100", "true", "then"] {
        browser.until(&details(text));
    }
    browser.until("document.querySelector('.details .marked')?.innerText.includes('<filter')");
    // What the backend got, with what the step before it set; what a client sent is a text.
    browser.press("j");
    browser.until(&details("X-Size = large"));
    browser.press("j");
    browser.press("j");
    browser.until(&details("/large"));
    browser.until(&details("X-Size: large"));
    browser.until(&details(HOSTILE));
    assert_eq!(browser.value("document.querySelectorAll('main img').length"), 0);

    // A fault is found by a key.
    browser.value("location.hash = '#/endpoints/Small'");
    browser.click("[role=switch]");
    browser.shows("An operator switched it off.");
    go(&mut browser, "#/traces", "form.filters");
    browser.value("document.querySelector('form.filters input[type=checkbox]').click()");
    browser.click("form.filters button.primary");
    browser.shows("The next 20 exchanges of any service with a fault");
    assert!(operated.order(1, "c-fault") >= 500);
    browser.until(&row_with("c-fault"));
    browser.value(&format!("{}.querySelector('a').click()", row_with("c-fault")));
    browser.until("document.querySelector('.waterfall')");
    browser.press("k");
    browser.press("f");
    browser.until(&details("303001"));
    if browser.load_axe() {
        for scheme in ["light", "dark"] {
            browser.looks(1280, 860, scheme);
            assert_eq!(browser.violations(), Vec::<String>::new(), "a trace, {scheme}");
        }
    }
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn lines_of_the_log_are_found_by_text_and_by_exchange() {
    let operated = Operated::start();
    let Some(mut browser) = operated.logged_in("ann", "a-long-password") else { return };
    assert_eq!((operated.order(1, "c-one"), operated.order(1, "c-two")), (200, 200));
    go(&mut browser, "#/logs", "main tbody tr");
    browser.shows("c-one");
    browser.shows("c-two");
    go(&mut browser, "#/logs?correlation=c-one", "main tbody tr");
    browser.until("[...document.querySelectorAll('main tbody tr')].every((row) => row.innerText.includes('c-one'))");
    // A text that a client sent is a text.
    assert_eq!(browser.value("document.querySelector('main tbody').innerText.includes('<img src=x')"), true);
    assert_eq!(browser.value("document.querySelector('main tbody img')"), Value::Null);
    go(&mut browser, "#/logs?contains=no-line-has-this", ".log");
    browser.until("document.querySelectorAll('.log tbody tr').length === 0");
    assert_eq!(operated.order(1, "no-line-has-this"), 200);
    browser.until("document.querySelectorAll('.log tbody tr').length > 0");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn what_names_and_messages_say_is_never_run() {
    let operated = Operated::start();
    let Some(mut browser) = operated.logged_in("ann", "a-long-password") else { return };
    assert_eq!(operated.order(1, HOSTILE), 200);
    browser.shows("<img src=x onerror=console.error(2)>");
    browser.click("main a[href*='img']");
    browser.until("document.querySelector('.graph .node')");
    go(&mut browser, "#/services/%3Cimg%20src=x%20onerror=console.error(3)%3E", "main h1");
    browser.shows("No service is called");
    go(&mut browser, "#/source?file=%3Cimg%20src=x%3E", "main [role=alert]");
    go(&mut browser, "#/%3Cimg%20src=x%3E", "main h1");
    browser.shows("No such page");
    assert_eq!(browser.value("document.querySelectorAll('main img').length"), 0);
    // Even a mistake of the page could not make HTML of a text.
    let refused = browser.value("(() => { try { document.querySelector('main').innerHTML = '<b>a</b>'; return false } catch { return true } })()");
    assert_eq!(refused, true);
    let complaints = browser.complaints();
    // The browser itself tells of the file that is not there, and of what it refused.
    assert!(complaints.iter().all(|it| it.contains("404") || it.contains("TrustedHTML")), "{complaints:?}");
}

#[test]
fn who_may_only_read_changes_nothing() {
    let operated = Operated::start();
    let Some(mut browser) = operated.logged_in("bob", "another-password") else { return };
    go(&mut browser, "#/endpoints/Small", "[role=switch]");
    assert_eq!(browser.value("document.querySelector('[role=switch]').disabled"), true);
    go(&mut browser, "#/applications", "main h1");
    assert_eq!(browser.value("document.querySelector('input[type=file]')"), Value::Null);
}

#[test]
fn axe_finds_nothing_serious_on_any_page() {
    let operated = Operated::start();
    let Some(mut browser) = operated.logged_in("ann", "a-long-password") else { return };
    assert_eq!(operated.order(1, "c-1"), 200);
    if !browser.load_axe() {
        return;
    }
    let pages = [
        ("#/", "table.services tbody tr"),
        ("#/services/proxy%20Orders", ".graph .node"),
        ("#/endpoints", "main tbody tr"),
        ("#/endpoints/Small", ".tiles"),
        ("#/problems", ".card"),
        ("#/logs", "main tbody tr"),
        ("#/reloads", ".empty"),
        ("#/tasks", "main tbody tr"),
        ("#/stores", ".empty"),
        ("#/applications", ".empty"),
        ("#/source", "main li a"),
    ];
    for (address, selector) in pages {
        go(&mut browser, address, selector);
        for (width, scheme) in [(1280, "light"), (1280, "dark"), (360, "light")] {
            browser.looks(width, 860, scheme);
            assert_eq!(browser.violations(), Vec::<String>::new(), "{address} {width} {scheme}");
            let wide = browser.value("document.documentElement.scrollWidth");
            assert!(wide.as_u64().unwrap() <= u64::from(width), "{address} is {wide} wide on {width}");
        }
    }
    // It would find something.
    browser.value("document.querySelector('main').append(document.createElement('img'))");
    assert!(browser.violations().iter().any(|one| one.starts_with("image-alt")));
}
