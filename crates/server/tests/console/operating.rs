//! What an operator switches, starts and uploads, and that messages notice it.

use std::fs;
use std::time::Duration;

use myelin_testkit::{eventually, pack};
use serde_json::json;

use crate::browser::Browser;
use crate::{Operated, go, row, row_with};

/// The button with that text.
fn button(text: &str) -> String {
    let text = json!(text);
    format!("[...document.querySelectorAll('button')].find((one) => one.innerText.trim().startsWith({text}))")
}

fn press(browser: &mut Browser, element: &str) {
    browser.until(element);
    browser.value(&format!("{element}.click()"));
}

/// Whether a switch with that text is on, and has settled.
fn is_on(text: &str, on: bool) -> String {
    format!("{0}.getAttribute('aria-checked') === '{on}' && {0}.getAttribute('aria-busy') === null", button(text))
}

#[test]
fn a_service_is_switched_off_and_its_clients_notice() {
    let operated = Operated::start();
    let Some(mut browser) = operated.logged_in("ann", "a-long-password") else { return };
    go(&mut browser, "#/services/proxy%20Orders", ".graph .node");
    assert_eq!(operated.order(1, "c-on"), 200);
    browser.until(&is_on("Active", true));
    press(&mut browser, &button("Active"));
    browser.shows("Proxy service Orders stopped successfully");
    browser.until(&is_on("Active", false));
    assert_eq!(operated.order(1, "c-off"), 503);
    // It is off for whoever opens the page, too.
    go(&mut browser, "#/tasks", "main tbody tr");
    go(&mut browser, "#/services/proxy%20Orders", ".graph .node");
    browser.until(&is_on("Active", false));
    press(&mut browser, &button("Active"));
    browser.shows("Proxy service Orders started successfully");
    assert_eq!(operated.order(1, "c-again"), 200);

    // Its tracing is switched, which the page of traces shows.
    press(&mut browser, &button("Tracing"));
    browser.shows("Enabled tracing for ('Orders')");
    assert_eq!(operated.order(1, "c-traced"), 200);
    press(&mut browser, &button("Tracing"));
    browser.shows("Disabled tracing for ('Orders')");
    assert_eq!(operated.order(1, "c-untraced"), 200);
    go(&mut browser, "#/traces", "form.filters");
    browser.until(&row_with("c-traced"));
    assert_eq!(browser.value("document.querySelectorAll('main tbody tr').length"), 1);
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn the_graph_shows_what_comes_to_each_step() {
    let operated = Operated::start();
    let Some(mut browser) = operated.logged_in("ann", "a-long-password") else { return };
    go(&mut browser, "#/services/proxy%20Orders", ".graph .node");
    browser.shows("Steps are counted only while this page is open");
    let figure = |what: &str| {
        format!(
            "[...document.querySelectorAll('.lane.in .node')].find((one) => one.innerText.includes('{what}'))?\
             .querySelector('.figures')?.innerText"
        )
    };
    let branch = |label: &str| {
        format!(
            "[...document.querySelectorAll('.branch')].find((one) => one.querySelector('.label')?.innerText === '{label}')?\
             .querySelector('.figures')?.innerText"
        )
    };
    browser.until(&format!("{} === '0/s'", figure("filter")));
    // Small orders fail, so that the call of the one branch raises faults, and nothing takes the other.
    browser.value("location.hash = '#/endpoints/Small'");
    browser.click("[role=switch]");
    browser.shows("An operator switched it off.");
    go(&mut browser, "#/services/proxy%20Orders", ".graph .node");
    let is_seen = format!("{}?.match(/^[0-9.]*[1-9][0-9.]*\\/s$/)", figure("filter"));
    for _ in 0..200 {
        assert!(operated.order(1, "c-small") >= 500);
        if browser.value(&format!("Boolean({is_seen})")) == true {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    browser.until(&is_seen);
    browser.until(&format!("{}?.match(/[1-9]/)", branch("else")));
    browser.until(&format!("{}?.trim() === '0/s'", branch("then")));
    browser.until(
        "[...document.querySelectorAll('.node .figures.bad')].some((one) => /[1-9].* faults\\/s/.test(one.innerText))",
    );
    assert_eq!(browser.value(&format!("{}.includes('fault')", figure("filter"))), false);
    // The sums of a step stand beside its source.
    press(&mut browser, "[...document.querySelectorAll('.node')].find((node) => node.innerText.includes('filter'))");
    browser.until("/While this page was open: [1-9][0-9,]* messages?, 0 faults, else: [1-9]/.test(document.querySelector('.details').innerText)");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn a_task_runs_at_once_and_rests_while_it_is_off() {
    let operated = Operated::start();
    let Some(mut browser) = operated.logged_in("ann", "a-long-password") else { return };
    let runs = || {
        let all = operated.backend.connections();
        all.iter().map(|connection| connection.text().matches("<run").count()).sum::<usize>()
    };
    go(&mut browser, "#/tasks", "main tbody tr");
    assert_eq!(runs(), 0);
    press(&mut browser, &button("Run now"));
    browser.shows("Nightly is triggered");
    eventually("the backend has the message of the task", || runs() == 1);
    // What it gives to a proxy is a message of that proxy.
    browser.until(&format!("{}?.children[3].innerText === 'counted with its proxy'", row("Nightly")));
    browser.click("main [role=switch]");
    browser.until("document.querySelector('main [role=switch]').getAttribute('aria-checked') === 'false'");
    browser.until("document.querySelector('main [role=switch]').getAttribute('aria-busy') === null");
    press(&mut browser, &button("Run now"));
    browser.shows("Task Nightly is inactive; activate it first");
    assert_eq!(runs(), 1);
    // The browser itself tells of the status of that request.
    assert!(browser.complaints().iter().all(|complaint| complaint.contains("409")));
}

#[test]
fn the_level_of_a_logger_is_changed_while_the_bus_serves() {
    let operated = Operated::start();
    let Some(mut browser) = operated.logged_in("ann", "a-long-password") else { return };
    go(&mut browser, "#/logs", "details.levels summary");
    browser.click("details.levels summary");
    let level =
        "document.querySelector(\"select[aria-label='Level of org-apache-synapse-mediators-builtin-LogMediator']\")";
    let set = |browser: &mut Browser, to: &str| {
        browser.until(level);
        browser
            .value(&format!("{level}.value = '{to}'; {level}.dispatchEvent(new Event('change', {{ bubbles: true }}))"));
        browser.shows(&format!("with level {to}"));
        // The table is drawn anew with what the bus says.
        browser.until(&format!("{level}?.value === '{to}'"));
    };
    assert_eq!(operated.order(1, "c-first"), 200);
    browser.shows("c-first");
    set(&mut browser, "ERROR");
    assert_eq!(operated.order(1, "c-quiet"), 200);
    set(&mut browser, "INFO");
    assert_eq!(operated.order(1, "c-loud"), 200);
    browser.shows("c-loud");
    assert_eq!(browser.value("document.body.innerText.includes('c-quiet')"), false);
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn an_endpoint_is_switched_in_the_list() {
    let operated = Operated::start();
    let Some(mut browser) = operated.logged_in("ann", "a-long-password") else { return };
    assert_eq!(operated.order(1, "c-on"), 200);
    go(&mut browser, "#/endpoints", "main tbody tr");
    let switch = format!("{}?.querySelector('[role=switch]')", row("Small"));
    for (state, is_served) in [("off", false), ("active", true)] {
        press(&mut browser, &switch);
        browser.until(&format!("{}?.children[1].innerText.includes('{state}')", row("Small")));
        let status = operated.order(1, "c-switched");
        assert_eq!(status == 200, is_served, "{state}: {status}");
        // The other one goes on.
        assert_eq!(operated.order(500, "c-large"), 200);
    }
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn exchanges_are_recorded_where_an_expression_is_true() {
    let operated = Operated::start();
    let Some(mut browser) = operated.logged_in("ann", "a-long-password") else { return };
    go(&mut browser, "#/traces", "form.filters");
    browser.write("form.filters input[placeholder]", "//quantity > 400");
    browser.click("form.filters button.primary");
    browser.shows("The next 20 exchanges of any service, where //quantity > 400");
    assert_eq!((operated.order(1, "c-small"), operated.order(500, "c-large")), (200, 200));
    browser.until(&row_with("c-large"));
    assert_eq!(browser.value("document.querySelector('main').innerText.includes('c-small')"), false);
    press(&mut browser, &button("Stop"));
    browser.shows("Nothing is chosen.");
    // The filter tells what it compared.
    browser.value(&format!("{}.querySelector('a').click()", row_with("c-large")));
    browser.until("document.querySelector('.waterfall')");
    press(
        &mut browser,
        "[...document.querySelectorAll('.waterfall a')].find((one) => one.innerText.includes('filter'))",
    );
    browser.until("document.querySelector('.details .compared')?.innerText === '//quantity \"500\" > \"100\" is true'");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

fn archive(proxy: &str) -> Vec<u8> {
    let artifacts = r#"<artifacts><artifact name="Shop" version="1.0.0" type="carbon/application">
        <dependency artifact="P" version="1.0.0" include="true" serverRole="EnterpriseServiceBus"/></artifact></artifacts>"#;
    let artifact = r#"<artifact name="P" version="1.0.0" type="synapse/proxy-service" serverRole="EnterpriseServiceBus"><file>p.xml</file></artifact>"#;
    pack(&[
        ("artifacts.xml", artifacts.as_bytes()),
        ("P_1.0.0/artifact.xml", artifact.as_bytes()),
        ("P_1.0.0/p.xml", proxy.as_bytes()),
    ])
}

#[test]
fn an_archive_is_uploaded_refused_and_removed() {
    let operated = Operated::start();
    let Some(mut browser) = operated.logged_in("ann", "a-long-password") else { return };
    let folder = tempfile::tempdir().unwrap();
    let proxy = r#"<proxy xmlns="http://ws.apache.org/ns/synapse" name="Added"><target><inSequence><respond/></inSequence></target></proxy>"#;
    let [good, bad] =
        [("Shop_1.0.0.car", proxy.to_owned()), ("Bad_1.0.0.car", proxy.replace("<respond/>", "<respnd/>"))].map(
            |(name, proxy)| {
                let path = folder.path().join(name);
                fs::write(&path, archive(&proxy)).unwrap();
                path
            },
        );
    let status = || operated.get("/services/Added");
    go(&mut browser, "#/applications", "main input[type=file]");
    browser.shows("The configuration has no applications");
    assert_eq!(status(), 404);

    browser.choose_file("main input[type=file]", &bad);
    browser.click("form.filters button.primary");
    browser.shows("respnd");
    browser.shows("The configuration has no applications");
    assert_eq!(status(), 404);
    // The browser itself tells of the status of that request.
    assert!(browser.complaints().iter().all(|complaint| complaint.contains("400")));

    browser.choose_file("main input[type=file]", &good);
    browser.click("form.filters button.primary");
    browser.shows("Successfully added Carbon Application Shop_1.0.0.car");
    browser.until("document.querySelector('.card.good')?.innerText.includes('Shop 1.0.0')");
    assert_eq!(status(), 200);
    assert_eq!(operated.order(1, "c-1"), 200);

    // Who does not confirm removes nothing.
    press(&mut browser, &button("Remove"));
    press(&mut browser, &button("Cancel"));
    browser.until("!document.querySelector('dialog')");
    assert_eq!(status(), 200);
    press(&mut browser, &button("Remove"));
    browser.click("dialog button.danger");
    browser.shows("The configuration has no applications");
    assert_eq!(status(), 404);
    assert_eq!(browser.complaints(), Vec::<String>::new());
}
