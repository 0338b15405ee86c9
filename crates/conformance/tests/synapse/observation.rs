//! What was seen of one request from outside, in a form in which two buses can be compared.

use std::collections::BTreeMap;

use myelin_bench::canonical;
use myelin_testkit::raw;
use myelin_testkit::service;

/// One request to the bus: what its client got, and what backends received meanwhile.
#[derive(Clone, Debug)]
pub(crate) struct Scene {
    pub(crate) name: String,
    pub(crate) answer: Seen,
    /// By the port that the sample names; in the order of arrival.
    pub(crate) received: BTreeMap<u16, Vec<Seen>>,
}

/// One message in parts that can be named, such as `status` or `body`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Seen(pub(crate) BTreeMap<&'static str, String>);

impl Seen {
    /// An answer, or why there is none.
    pub(crate) fn answer(answer: &Result<raw::Answer, raw::Error>) -> Seen {
        let answer = match answer {
            Ok(answer) => answer,
            Err(raw::Error::Deadline(_)) => return Seen([("status", "none: the client hangs".to_owned())].into()),
            Err(error) => return Seen([("status", format!("none: {error}"))].into()),
        };
        let media_type = answer.header("content-type").map(media_type).unwrap_or_default();
        Seen([("status", answer.status.to_string()), ("media type", media_type), ("body", body(&answer.body))].into())
    }

    /// A request as a backend got it.
    pub(crate) fn request(request: &service::Request) -> Seen {
        let content_type = request.header("content-type").unwrap_or_default();
        let parameter = content_type.split(';').skip(1).find_map(|part| part.trim().strip_prefix("action="));
        let action = request.header("soapaction").or(parameter).unwrap_or_default().trim_matches('"').to_owned();
        Seen(
            [
                ("method", request.method.clone()),
                ("path", request.target.clone()),
                ("action", action),
                ("media type", media_type(content_type)),
                ("body", body(&request.body)),
            ]
            .into(),
        )
    }

    /// Keeps of the body which elements and texts it has, in an order of their own.
    pub(crate) fn forget_order(&mut self) {
        if let Some(body) = self.0.get_mut("body") {
            let mut pieces: Vec<_> = body.split_inclusive('>').collect();
            pieces.sort_unstable();
            *body = pieces.concat();
        }
    }

    /// One part; empty where there is none of that name.
    pub(crate) fn part(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }
}

/// Without parameters: how a character set is written says nothing about a bus.
fn media_type(content_type: &str) -> String {
    content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Canonical where it is XML, with all message ids alike.
fn body(bytes: &[u8]) -> String {
    let form = canonical::form(bytes.to_vec()).unwrap_or_else(|_| bytes.to_vec());
    let text = String::from_utf8_lossy(&form).into_owned();
    let mut pieces = text.split("urn:uuid:");
    let mut alike = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        alike += "urn:uuid:";
        alike += piece.trim_start_matches(|letter: char| letter.is_ascii_hexdigit() || letter == '-');
    }
    alike
}

/// What of one scene is different on two buses: the part's name, and both values.
pub(crate) fn differences(ours: &Scene, theirs: &Scene) -> Vec<(String, String)> {
    let mut found = Vec::new();
    parts(&mut found, "answer", &ours.answer, &theirs.answer);
    let ports: std::collections::BTreeSet<_> = ours.received.keys().chain(theirs.received.keys()).collect();
    for port in ports {
        let (left, right) = (at(ours, *port), at(theirs, *port));
        if left.len() != right.len() {
            found.push((format!("{port} requests"), format!("{} here, {} there", left.len(), right.len())));
        }
        for (number, (left, right)) in left.iter().zip(right).enumerate() {
            let which = if number == 0 { port.to_string() } else { format!("{port}#{}", number + 1) };
            parts(&mut found, &which, left, right);
        }
    }
    found
}

fn at(scene: &Scene, port: u16) -> &[Seen] {
    scene.received.get(&port).map_or(&[], Vec::as_slice)
}

fn parts(found: &mut Vec<(String, String)>, which: &str, ours: &Seen, theirs: &Seen) {
    // Where only one of them answers, or with another status, what else is different says nothing more.
    let names = if ours.part("status") == theirs.part("status") {
        vec!["method", "path", "action", "media type", "body"]
    } else {
        vec!["status"]
    };
    for name in names {
        if ours.part(name) != theirs.part(name) {
            found.push((
                format!("{which} {name}"),
                format!("{:?} here, {:?} there", ours.part(name), theirs.part(name)),
            ));
        }
    }
}

/// A scene as text, for readers.
pub(crate) fn transcript(scene: &Scene) -> String {
    let mut text = format!("== {}\n", scene.name);
    let line = |which: &str, seen: &Seen| {
        let parts: Vec<_> =
            seen.0.iter().filter(|(name, _)| **name != "body").map(|(_, value)| value.as_str()).collect();
        format!("{which}: {}\n{}\n", parts.join(" | "), seen.part("body"))
    };
    text += &line("answer", &scene.answer);
    for (port, received) in &scene.received {
        for seen in received {
            text += &line(&format!("received at {port}"), seen);
        }
    }
    text
}
