//! Chromium, driven by its DevTools protocol over two pipes: no port, and no WebSocket.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::{Value, json};

/// How long a test waits for what must happen, on a machine with other things to do.
const DEADLINE: Duration = Duration::from_secs(60);

/// The names under which Chromium is installed.
const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// Where `cargo xtask setup` puts axe, below the workspace.
const AXE: &str = "target/axe/node_modules/axe-core/axe.min.js";

/// A browser with one page.
pub(crate) struct Browser {
    child: Child,
    commands: File,
    events: Receiver<Value>,
    session: String,
    /// The number of the last command.
    last: u64,
    /// What the page wrote to its console as an error or a warning, and what it wanted to ask.
    complaints: Vec<String>,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// A browser that shows nothing yet; `None` where none is installed, which the test says.
    pub(crate) fn start() -> Option<Browser> {
        let Some(program) = installed() else {
            myelin_testkit::skip("Chromium is not installed");
            return None;
        };
        let profile = tempfile::tempdir().unwrap();
        let pipes = ["commands", "events"].map(|name| profile.path().join(name));
        for pipe in &pipes {
            mknodat(CWD, pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        }
        // Both ends are open from the start, so that nobody waits for the other to open his.
        let [commands, events] =
            pipes.each_ref().map(|pipe| OpenOptions::new().read(true).write(true).open(pipe).unwrap());
        // The browser reads from the third file and writes to the fourth, which only a shell can give it.
        let child = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<\"$COMMANDS\" 4>\"$EVENTS\""])
            .arg(program)
            // In a container there is no other user to be, and little shared memory.
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"])
            .args(["--remote-debugging-pipe", "--force-prefers-reduced-motion"])
            .arg(format!("--user-data-dir={}", profile.path().join("profile").display()))
            .env("COMMANDS", &pipes[0])
            .env("EVENTS", &pipes[1])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (sender, received) = channel();
        std::thread::spawn(move || {
            for part in BufReader::new(events).split(0).map_while(Result::ok) {
                let Ok(event) = serde_json::from_slice(&part) else { return };
                if sender.send(event).is_err() {
                    return;
                }
            }
        });
        let mut browser = Browser {
            child,
            commands,
            events: received,
            session: String::new(),
            last: 0,
            complaints: Vec::new(),
            _profile: profile,
        };
        let target = browser.call("Target.createTarget", &json!({ "url": "about:blank" }));
        let attached =
            browser.call("Target.attachToTarget", &json!({ "targetId": target["targetId"], "flatten": true }));
        browser.session = attached["sessionId"].as_str().unwrap().to_owned();
        for domain in ["Page", "Runtime", "Log"] {
            browser.call(&format!("{domain}.enable"), &json!({}));
        }
        Some(browser)
    }

    /// Goes to another address.
    pub(crate) fn open(&mut self, url: &str) {
        self.call("Page.navigate", &json!({ "url": url }));
    }

    /// How large the window is, and which colours somebody prefers: `light` or `dark`.
    pub(crate) fn looks(&mut self, width: u32, height: u32, scheme: &str) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", &size);
        let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.call("Emulation.setEmulatedMedia", &features);
    }

    /// The value of an expression in the page, waited for where it is a promise.
    pub(crate) fn value(&mut self, expression: &str) -> Value {
        let asked = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let answer = self.call("Runtime.evaluate", &asked);
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    /// Waits until an expression is true in the page.
    pub(crate) fn until(&mut self, expression: &str) {
        let until = Instant::now() + DEADLINE;
        while Instant::now() < until {
            if self.value(&format!("Boolean({expression})")) == true {
                return;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        let text = self.value("location.hash + '\\n' + document.body.innerText");
        panic!(
            "{expression} does not become true; {:?}; the page: {}",
            self.complaints,
            text.as_str().unwrap_or_default()
        );
    }

    /// Waits until the page shows a text.
    pub(crate) fn shows(&mut self, text: &str) {
        self.until(&format!("document.body.innerText.includes({})", json!(text)));
    }

    /// Clicks on the first element of that selector, once it is there.
    pub(crate) fn click(&mut self, selector: &str) {
        let element = format!("document.querySelector({})", json!(selector));
        self.until(&element);
        self.value(&format!("{element}.click()"));
    }

    /// Puts a text into a field as if it were typed.
    pub(crate) fn write(&mut self, selector: &str, text: &str) {
        let element = format!("document.querySelector({})", json!(selector));
        self.until(&element);
        self.value(&format!("{element}.focus(); {element}.select?.()"));
        self.call("Input.insertText", &json!({ "text": text }));
    }

    /// Chooses a file in a field, as somebody would in a dialog.
    pub(crate) fn choose_file(&mut self, selector: &str, path: &Path) {
        let element = format!("document.querySelector({})", json!(selector));
        self.until(&element);
        let found = self.call("Runtime.evaluate", &json!({ "expression": element }));
        let object = &found["result"]["objectId"];
        self.call("DOM.setFileInputFiles", &json!({ "files": [path], "objectId": object }));
    }

    /// Runs a script in each page before its own.
    pub(crate) fn before_each_page(&mut self, script: &str) {
        self.call("Page.addScriptToEvaluateOnNewDocument", &json!({ "source": script }));
    }

    /// Presses a key of a letter, wherever the focus is.
    pub(crate) fn press(&mut self, key: &str) {
        for kind in ["keyDown", "keyUp"] {
            self.call("Input.dispatchKeyEvent", &json!({ "type": kind, "key": key, "text": key }));
        }
    }

    /// What the page complained of since this was asked last.
    pub(crate) fn complaints(&mut self) -> Vec<String> {
        while let Ok(event) = self.events.try_recv() {
            self.note(&event);
        }
        std::mem::take(&mut self.complaints)
    }

    /// Brings axe into the page; `false` where it is not there, which the test says.
    pub(crate) fn load_axe(&mut self) -> bool {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(AXE);
        let Ok(axe) = fs::read_to_string(&path) else {
            myelin_testkit::skip("axe is not there: `cargo xtask setup` brings it where npm is installed");
            return false;
        };
        self.value(&format!("{axe}; true"));
        true
    }

    /// What axe finds that is serious or worse.
    pub(crate) fn violations(&mut self) -> Vec<String> {
        let found = self.value(
            "axe.run(document, { resultTypes: ['violations'] }).then((result) => result.violations\
             .filter((one) => one.impact === 'serious' || one.impact === 'critical')\
             .map((one) => one.id + ': ' + one.nodes.slice(0, 3).map((node) => node.target.join(' ')).join(', ')))",
        );
        found.as_array().unwrap().iter().map(|one| one.as_str().unwrap().to_owned()).collect()
    }

    fn call(&mut self, method: &str, parameters: &Value) -> Value {
        self.last += 1;
        let id = self.last;
        let mut command = json!({ "id": id, "method": method, "params": parameters });
        if !self.session.is_empty() {
            command["sessionId"] = self.session.as_str().into();
        }
        self.commands.write_all(format!("{command}\0").as_bytes()).unwrap();
        let until = Instant::now() + DEADLINE;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let Ok(event) = self.events.recv_timeout(left) else {
                panic!("the browser does not answer {method}; {:?}", self.complaints);
            };
            if event["id"] == id {
                assert!(event.get("error").is_none(), "{method}: {event}");
                return event["result"].clone();
            }
            self.note(&event);
        }
    }

    fn note(&mut self, event: &Value) {
        let parameters = &event["params"];
        let is_bad = match event["method"].as_str() {
            Some("Runtime.consoleAPICalled") => {
                ["error", "warning", "assert"].iter().any(|it| parameters["type"] == **it)
            }
            Some("Log.entryAdded") => ["error", "warning"].iter().any(|it| parameters["entry"]["level"] == **it),
            Some("Runtime.exceptionThrown" | "Page.javascriptDialogOpening") => true,
            _ => false,
        };
        if is_bad {
            self.complaints.push(parameters.to_string());
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A browser on the search path.
fn installed() -> Option<PathBuf> {
    let folders: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH")?).collect();
    let all = BROWSERS.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    all.into_iter().find(|path| path.is_file())
}
