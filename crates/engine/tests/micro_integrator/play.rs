//! Plays a case: the real engine, a backend that answers as the case says, and what differs from it.

use std::path::Path;

use myelin_engine::transport::SendErrorKind;
use myelin_engine::{Settings, load};
use myelin_message::Body;

use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use super::case::{Answer, Beside, Case, Check, Message, Must, Step};
use super::common::{Reply, Scenario, Sent, request, response};

/// Whoever reads the log: what is written there is worked out, and a message that it needs is read.
struct Reader;

impl Subscriber for Reader {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// What differs from what the case says, each with the line that says so.
pub(crate) fn differences(case: &Case, folder: &Path) -> Vec<String> {
    tracing::subscriber::with_default(Reader, || found(case, folder))
}

fn found(case: &Case, folder: &Path) -> Vec<String> {
    let project = tempfile::tempdir().unwrap();
    let copy = |name: &str| {
        let path = project.path().join(name);
        std::fs::copy(folder.join(name), &path).unwrap_or_else(|error| panic!("{name}: {error}"));
        path
    };
    let mut files = vec![copy(&case.file)];
    for beside in &case.beside {
        match beside {
            Beside::File(name) => files.push(copy(name)),
            Beside::Artefact(text) => {
                let path = project.path().join(format!("beside-{}.xml", files.len()));
                std::fs::write(&path, text).unwrap();
                files.push(path);
            }
            Beside::Resource(key, content) => {
                let (hive, path) = key.split_once(':').unwrap_or_else(|| panic!("{key} has no hive"));
                let path = project.path().join("registry").join(hive).join(path.trim_start_matches('/'));
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, content).unwrap();
            }
        }
    }
    let loaded = load(&files, &Settings::default());
    if loaded.report.faulty() > 0 {
        return vec![format!("it does not load: {}", loaded.report.to_text())];
    }
    let answers: Vec<_> = case.answers.iter().map(prepared).collect();
    let scenario = Scenario::of(loaded, move |count, _| match answers.get(count).or(answers.last()) {
        Some(Some((status, headers, body))) => {
            let lines: Vec<_> = headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            let mut message = response(*status, &lines, body);
            if body.is_empty() {
                message.body = Body::Empty;
            }
            Ok(message)
        }
        _ => Err(SendErrorKind::ConnectFailed),
    });
    play(case, &scenario)
}

/// Status, header lines and body; `None` where nobody listens.
type Prepared = Option<(u16, Vec<(String, String)>, String)>;

fn prepared(answer: &Answer) -> Prepared {
    Some((answer.status?, answer.message.headers.clone(), answer.message.body.clone()))
}

fn play(case: &Case, scenario: &Scenario) -> Vec<String> {
    let (mut differences, mut reply, mut seen) = (Vec::new(), None::<Reply>, 0);
    for step in &case.steps {
        match step {
            Step::Send(target, message) => reply = Some(scenario.serve(sending(target, message))),
            Step::Sent(target, checks) => {
                let sent = scenario.sent();
                let Some(one) = sent.get(seen) else {
                    differences.push(format!("nothing was sent, but {target} should have been"));
                    continue;
                };
                seen += 1;
                let got = format!("{} {}", one.method, one.uri);
                if got != *target {
                    differences.push(format!("sent {got}, not {target}"));
                }
                differences.extend(checks.iter().filter_map(|check| failure(check, &Seen::of_request(one))));
            }
            Step::Gets(status, checks) => {
                let Some(reply) = &reply else { panic!("{}:{}: gets before send", case.place.0, case.place.1) };
                if reply.status.to_string() != *status {
                    differences.push(format!("the client got {} for {status}: {}", reply.status, reply.body));
                }
                differences.extend(checks.iter().filter_map(|check| failure(check, &Seen::of_reply(reply))));
            }
        }
    }
    // What a case does not name must not happen.
    let sent = scenario.sent();
    differences.extend(sent.iter().skip(seen).map(|sent| format!("sent besides: {} {}", sent.method, sent.uri)));
    differences
}

fn sending(target: &str, message: &Message) -> myelin_message::Message {
    let (method, target) = target.split_once(' ').unwrap_or_else(|| panic!("{target}: METHOD TARGET"));
    let mut lines = vec![("Host", "bus")];
    lines.extend(message.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())));
    let mut request = request(method, target, &lines, &message.body);
    if message.body.is_empty() {
        request.body = Body::Empty;
    }
    request
}

/// A message that the bus made.
struct Seen<'a> {
    headers: &'a [(String, String)],
    body: &'a str,
}

impl<'a> Seen<'a> {
    fn of_request(sent: &'a Sent) -> Seen<'a> {
        Seen { headers: &sent.headers, body: &sent.body }
    }

    fn of_reply(reply: &'a Reply) -> Seen<'a> {
        Seen { headers: &reply.headers, body: &reply.body }
    }
}

/// What a message does not keep to.
fn failure(Check { line, must }: &Check, seen: &Seen<'_>) -> Option<String> {
    let body = plain(seen.body);
    let values = |wanted: &str| -> Vec<String> {
        let of_name = seen.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case(wanted));
        of_name.map(|(_, value)| value.clone()).collect()
    };
    let (holds, what) = match must {
        Must::Is(text) => (body == plain(text), format!("is not {text}")),
        Must::Has(text) => (body.contains(&plain(text)), format!("has no {text}")),
        Must::Lack(text) => (!body.contains(&plain(text)), format!("has {text}")),
        Must::Head(name, value) => {
            let values = values(name);
            return (!values.contains(value)).then(|| format!("line {line}: {name} is {values:?}, not {value}"));
        }
        Must::NoHead(name) => {
            let values = values(name);
            return (!values.is_empty()).then(|| format!("line {line}: there is {name}: {values:?}"));
        }
    };
    (!holds).then(|| format!("line {line}: the body {what}: {body}"))
}

/// A text without what means nothing in it: white space between tags and around them, and in JSON outside of strings.
fn plain(text: &str) -> String {
    let text = text.trim();
    if text.starts_with(['{', '[']) {
        return compact(text);
    }
    let text = match (text.starts_with("<?xml"), text.split_once("?>")) {
        (true, Some((_, rest))) => rest,
        _ => text,
    };
    let mut plain = String::with_capacity(text.len());
    for piece in text.split_inclusive('>') {
        // What stands between two tags, if it is more than white space, is content.
        let content =
            if plain.ends_with('>') && piece.trim_start().starts_with('<') { piece.trim_start() } else { piece };
        plain.push_str(content);
    }
    plain.trim().to_owned()
}

fn compact(json: &str) -> String {
    let (mut inside, mut escaped) = (false, false);
    let is_kept = |c: &char| {
        let kept = inside || !c.is_whitespace();
        inside ^= *c == '"' && !escaped;
        escaped = inside && *c == '\\' && !escaped;
        kept
    };
    json.chars().filter(is_kept).collect()
}

#[test]
fn white_space_that_means_nothing_does_not_count() {
    assert_eq!(plain("<?xml version=\"1.0\"?>\n<a>\n  <b>x y</b>\n</a>\n"), "<a><b>x y</b></a>");
    assert_eq!(plain("{\"a b\": [1, \"\\\" c\"]}"), "{\"a b\":[1,\"\\\" c\"]}");
}
