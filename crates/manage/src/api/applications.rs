//! `/applications`: the archives (`.car`) of the configuration.

use myelin_engine::{Artefact, Report};
use myelin_message::StatusCode;
use serde_json::{Value, json};

use super::answer::{ApiAnswer, Failure, bad_request, failure, item, not_found, object};
use super::call::{Call, told};
use super::definition::archive;
use super::request::{ApiRequest, Caller};
use super::route::{Body, Route, SEARCH, Shape, field, optional};
use super::server::refused;

/// How long the name of an archive may be.
const NAME_CHARACTERS: usize = 200;

pub(super) const ROUTES: &[Route] = &[
    Route {
        path: "/applications",
        summary: "Lists the applications, those that run whole and those with something faulty in them, or tells of one.",
        parameters: &[optional("carbonAppName", "The name of one"), SEARCH],
        answer: Shape::Object(&[
            field("totalCount", "integer", "How many there are"),
            field("activeCount", "integer", "How many run whole"),
            field("activeList", "object", "Those, with their artefacts"),
            field("faultyCount", "integer", "How many have something faulty in them"),
            field("faultyList", "object", "Those"),
        ]),
        handler: read,
        ..Route::READ
    },
    Route {
        path: "/applications",
        summary: "Takes an archive: it is checked whole, and then serves with the rest; one of its name is replaced.",
        body: Body::File,
        handler: add,
        ..Route::CHANGE
    },
    Route {
        method: "DELETE",
        path: "/applications/{application}",
        summary: "Removes an application, by its name or the name of its file.",
        handler: remove,
        ..Route::CHANGE
    },
];

/// An archive, with what came in it.
struct Application<'a> {
    whole: &'a Artefact,
    artefacts: Vec<&'a Artefact>,
}

fn applications(report: &Report) -> Vec<Application<'_>> {
    // Archives in archives are parts of theirs.
    let archives = report.artefacts.iter().filter(|it| it.kind == "archive" && it.outer_file() == it.file);
    let with_artefacts = archives.map(|whole| {
        let inside = |it: &&Artefact| it.kind != "archive" && it.outer_file() == whole.file;
        Application { whole, artefacts: report.artefacts.iter().filter(inside).collect() }
    });
    with_artefacts.collect()
}

impl Application<'_> {
    fn file_name(&self) -> &str {
        self.whole.file.rsplit('/').next().unwrap_or_default()
    }

    /// Its name and its version: the file is called by both.
    fn name(&self) -> (&str, &str) {
        let stem = archive(self.whole).unwrap_or_default();
        if let Some(version) = stem.strip_prefix(&*self.whole.name).and_then(|rest| rest.strip_prefix(['_', '-'])) {
            return (&self.whole.name, version);
        }
        let named = stem.rsplit_once('_').filter(|(_, version)| version.starts_with(|it: char| it.is_ascii_digit()));
        named.unwrap_or((stem, ""))
    }

    fn is_ok(&self) -> bool {
        self.whole.is_ok() && self.artefacts.iter().all(|artefact| artefact.is_ok())
    }

    fn to_json(&self) -> Value {
        let (name, version) = self.name();
        let artefacts = self.artefacts.iter().map(|artefact| {
            json!({ "name": artefact.name, "type": artefact.kind, "status": if artefact.is_ok() { "active" } else { "faulty" } })
        });
        json!({
            "name": name,
            "version": version,
            "file": self.file_name(),
            "status": if self.is_ok() { "active" } else { "faulty" },
            "artifacts": artefacts.collect::<Vec<_>>(),
        })
    }
}

fn read(call: &Call<'_>, _: Option<&Caller>) -> Result<ApiAnswer, Failure> {
    let report = call.api.process.report();
    let all = applications(&report);
    if let Some(name) = call.query("carbonAppName") {
        let found = all.iter().find(|it| it.name().0 == name || it.file_name() == name).ok_or_else(not_found)?;
        return item(&found.to_json());
    }
    let search = call.query("searchKey").unwrap_or_default().to_lowercase();
    let chosen: Vec<&Application<'_>> = all.iter().filter(|it| it.name().0.to_lowercase().contains(&search)).collect();
    let told = |is_ok| chosen.iter().filter(|it| it.is_ok() == is_ok).map(|it| it.to_json()).collect::<Vec<_>>();
    let (active, faulty) = (told(true), told(false));
    item(&object([
        ("totalCount", chosen.len().into()),
        ("activeCount", active.len().into()),
        ("activeList", active.into()),
        ("faultyCount", faulty.len().into()),
        ("faultyList", faulty.into()),
    ]))
}

fn add(call: &Call<'_>, _: Option<&Caller>) -> Result<ApiAnswer, Failure> {
    let Upload { name, bytes } = upload(call.request)?;
    let is_plain = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.' | ' ' | '+' | '(' | ')');
    let stem = name.strip_suffix(".car").filter(|stem| !stem.is_empty() && !stem.starts_with(['.', ' ']));
    if stem.is_none() || !name.chars().all(is_plain) || name.chars().count() > NAME_CHARACTERS {
        return Err(bad_request(format!(
            "The name of the file has to end in .car, and to hold letters, digits, hyphens, dots and underscores only: {name:?}"
        )));
    }
    call.api.process.deploy(&name, bytes).map_err(refused)?;
    told("Message", format!("Successfully added Carbon Application {name}"))
}

fn remove(call: &Call<'_>, _: Option<&Caller>) -> Result<ApiAnswer, Failure> {
    let wanted = call.item.as_str();
    let report = call.api.process.report();
    let all = applications(&report);
    let is_meant =
        |it: &&Application<'_>| it.name().0 == wanted || it.file_name() == wanted || archive(it.whole) == Some(wanted);
    let missing = || failure(StatusCode::NOT_FOUND, format!("Cannot find the Carbon Application {wanted}"));
    let found = all.iter().find(is_meant).ok_or_else(missing)?;
    call.api.process.undeploy(&found.whole.file).map_err(refused)?;
    told("Message", format!("Successfully removed Carbon Application named {}", found.name().0))
}

/// A file that came in a form, or as the whole body.
struct Upload<'a> {
    name: String,
    bytes: &'a [u8],
}

/// Source: RFC 7578, multipart/form-data.
fn upload(request: &ApiRequest) -> Result<Upload<'_>, Failure> {
    let no_file = || bad_request("The form holds no file");
    if request.media_type() != "multipart/form-data" {
        if request.body.is_empty() || !matches!(&*request.media_type(), "application/octet-stream" | "application/zip")
        {
            return Err(failure(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "The body has to be multipart/form-data with one file, or application/octet-stream with its name in Content-Disposition",
            ));
        }
        let name = request.disposition.as_deref().and_then(|said| parameter(said, "filename")).ok_or_else(|| {
            bad_request("Content-Disposition has to name the file: attachment; filename=\"name_1.0.0.car\"")
        })?;
        return Ok(Upload { name, bytes: &request.body });
    }
    let boundary = request.content_type.as_deref().and_then(|said| parameter(said, "boundary"));
    let boundary =
        boundary.filter(|it| (1..=70).contains(&it.len())).ok_or_else(|| bad_request("The form has no boundary"))?;
    let delimiter = format!("--{boundary}").into_bytes();
    let mut rest = request.body.as_slice();
    let find = |text: &[u8], part: &[u8]| memchr::memmem::find(text, part);
    rest = &rest[find(rest, &delimiter).ok_or_else(no_file)? + delimiter.len()..];
    loop {
        rest = rest.strip_prefix(b"\r\n").ok_or_else(no_file)?;
        let head_end = find(rest, b"\r\n\r\n").ok_or_else(no_file)?;
        let head = String::from_utf8_lossy(&rest[..head_end]).into_owned();
        rest = &rest[head_end + 4..];
        let closing = [b"\r\n", delimiter.as_slice()].concat();
        let end = find(rest, &closing).ok_or_else(|| bad_request("The form ends within its file"))?;
        let disposition = head.lines().find(|line| line.to_ascii_lowercase().starts_with("content-disposition:"));
        if let Some(name) = disposition.and_then(|line| parameter(line, "filename")) {
            return Ok(Upload { name, bytes: &rest[..end] });
        }
        rest = &rest[end + closing.len()..];
    }
}

/// A parameter of a header line, without its quotes; of a path the last part.
fn parameter(line: &str, name: &str) -> Option<String> {
    let said = line.split(';').skip(1).find_map(|part| {
        let (key, value) = part.trim().split_once('=')?;
        key.trim().eq_ignore_ascii_case(name).then(|| value.trim().trim_matches('"').to_owned())
    })?;
    Some(said.rsplit(['/', '\\']).next().unwrap_or_default().to_owned()).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(content_type: &str, body: &[u8]) -> ApiRequest {
        let head = myelin_message::Head::request("POST", "/management/applications");
        let mut request = ApiRequest::of(&head, [127, 0, 0, 1].into()).unwrap();
        request.content_type = Some(content_type.to_owned());
        request.body = body.to_vec();
        request
    }

    #[test]
    fn a_file_is_found_in_a_form() {
        let form = b"--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--x\r\ncontent-disposition: \
                     form-data; name=\"file\"; filename=\"C:\\\\f\\\\a_1.0.0.car\"\r\n\r\nPK\r\n--\r\n\r\n--x--\r\n";
        let asked = request("multipart/form-data; boundary=\"x\"", form);
        let found = upload(&asked).unwrap();
        assert_eq!((&*found.name, found.bytes), ("a_1.0.0.car", &b"PK\r\n--\r\n"[..]));
    }

    #[test]
    fn what_is_no_form_is_refused() {
        for (content_type, body) in [
            ("multipart/form-data", &b"--x"[..]),
            ("multipart/form-data; boundary=x", b""),
            ("multipart/form-data; boundary=x", b"--x"),
            ("multipart/form-data; boundary=x", b"--x\r\na: b"),
            ("multipart/form-data; boundary=x", b"--x\r\nContent-Disposition: form-data; filename=\"a.car\"\r\n\r\nPK"),
            ("multipart/form-data; boundary=x", b"--x\r\na: b\r\n\r\n1\r\n--x--\r\n"),
            ("application/json", b"{}"),
            ("application/octet-stream", b"PK"),
        ] {
            assert!(upload(&request(content_type, body)).is_err(), "{content_type} {body:?}");
        }
    }
}
