//! How people describe requests: one by the arguments of `myelin load`, several in a file.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde::{Deserialize, Deserializer};

use super::plan::Verify;
use super::request::{Request, ThinkTime};
use crate::payload::{self, Payload};
use crate::units;

/// One request as it is described; what is left out follows from the rest.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Description {
    /// A URL, or a path at the host that is called anyway.
    pub(super) url: String,
    pub(super) name: Option<String>,
    pub(super) weight: Option<u32>,
    pub(super) method: Option<String>,
    /// The file that holds the body.
    pub(super) body: Option<PathBuf>,
    #[serde(default, deserialize_with = "size")]
    pub(super) soap: Option<u64>,
    /// The body itself.
    pub(super) text: Option<String>,
    #[serde(rename = "type")]
    pub(super) media_type: Option<String>,
    #[serde(default)]
    pub(super) headers: Vec<String>,
    #[serde(default, deserialize_with = "from_text")]
    pub(super) verify: Option<Verify>,
    #[serde(default, deserialize_with = "from_text")]
    pub(super) think: Option<ThinkTime>,
    #[serde(default)]
    pub(super) template: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    request: Vec<Description>,
}

impl Description {
    /// The request that is described; `base` is the URL whose host a path belongs to, and `folder` where files are.
    ///
    /// Errors: a file cannot be read, a URL, header line or size makes no sense; the writer's.
    pub(super) fn request(&self, base: Option<&str>, folder: &Path) -> anyhow::Result<Request> {
        let mut request = Request::new(match base {
            Some(base) if self.url.starts_with('/') => format!("{}{}", origin(base), self.url).parse()?,
            None if self.url.starts_with('/') => {
                bail!("`{}` is a path; write a whole URL, or name the host's URL on the command line", self.url)
            }
            _ => self.url.parse()?,
        });
        request.body = match (&self.body, self.soap, &self.text) {
            (Some(path), None, None) => Payload::file(&folder.join(path))?,
            (None, Some(size), None) => payload::soap(size)?,
            (None, None, Some(text)) => Payload::from(text.clone().into_bytes()),
            (None, None, None) => Payload::empty(),
            _ => bail!("a request has one body: a file (`body`), a `text`, or a message of some size (`soap`)"),
        };
        let sends_body = self.body.is_some() || self.soap.is_some() || self.text.is_some();
        request.method = self.method.clone().unwrap_or_else(|| if sends_body { "POST" } else { "GET" }.to_owned());
        request.media_type = self.media_type.clone().or_else(|| self.soap.map(|_| payload::SOAP_TYPE.to_owned()));
        for header in &self.headers {
            let Some((name, value)) = header.split_once(':') else {
                bail!("`{header}` is no header line; write `Name: value`")
            };
            request.headers.push((name.trim().to_owned(), value.trim().to_owned()));
        }
        if self.soap.is_some() && !request.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("soapaction")) {
            request.headers.push(("SOAPAction".to_owned(), "\"urn:buyStocks\"".to_owned()));
        }
        request.name = self.name.clone().unwrap_or_else(|| format!("{} {}", request.method, request.target.path));
        request.weight = self.weight.unwrap_or(1);
        request.verify = self.verify.clone().unwrap_or(Verify::Status);
        request.think = self.think;
        request.template = self.template;
        Ok(request)
    }
}

/// The requests a file describes, one table `[[request]]` for each.
///
/// Errors: the file cannot be read or is no such file; what is wrong, and in which line or request.
pub(super) fn read(path: &Path, base: Option<&str>) -> anyhow::Result<Vec<Request>> {
    let place = || path.display().to_string();
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let file: File = toml::from_str(&text).with_context(place)?;
    if file.request.is_empty() {
        bail!("{}: there is no [[request]]", path.display());
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    let requests = file.request.iter().enumerate().map(|(index, description)| {
        description.request(base, folder).with_context(|| format!("{}: request {}", path.display(), index + 1))
    });
    requests.collect()
}

/// Scheme and host of a URL.
fn origin(url: &str) -> &str {
    let host = url.find("://").map_or(0, |end| end + 3);
    let end = url[host..].find(['/', '?', '#']).map_or(url.len(), |end| host + end);
    &url[..end]
}

fn parsed<'de, D, T, E>(deserializer: D, parse: impl Fn(&str) -> Result<T, E>) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    E: Display,
{
    let text = String::deserialize(deserializer)?;
    parse(&text).map(Some).map_err(serde::de::Error::custom)
}

fn size<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    parsed(deserializer, units::size)
}

fn from_text<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: std::str::FromStr,
    T::Err: Display,
{
    parsed(deserializer, str::parse)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn requests(text: &str) -> anyhow::Result<Vec<Request>> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("order.xml"), "<order/>").unwrap();
        let file = folder.path().join("plan.toml");
        std::fs::write(&file, text).unwrap();
        read(&file, Some("http://bus:8280/ignored?x"))
    }

    #[test]
    fn what_is_left_out_follows_from_the_rest() {
        let found = requests(
            r#"
            [[request]]
            url = "/services/orders/{{n}}"
            weight = 3
            body = "order.xml"
            type = "text/xml"
            headers = ["X-Id: {{uuid}}"]
            verify = "echo"
            think = "100ms..300ms"
            template = true

            [[request]]
            url = "https://other/prices"
            name = "prices"

            [[request]]
            url = "/services/direct"
            soap = "1K"
            "#,
        )
        .unwrap();
        let order = &found[0];
        assert_eq!((order.name.as_str(), order.weight), ("POST /services/orders/{{n}}", 3));
        assert_eq!((order.target.authority.as_str(), order.body.to_vec()), ("bus:8280", b"<order/>".to_vec()));
        assert_eq!(order.headers, [("X-Id".to_owned(), "{{uuid}}".to_owned())]);
        assert_eq!((order.verify.clone(), order.template), (Verify::Echo, true));
        assert_eq!(order.think.unwrap().to, Duration::from_millis(300));
        assert_eq!((found[1].name.as_str(), found[1].method.as_str(), found[1].weight), ("prices", "GET", 1));
        assert!(found[1].target.secure);
        assert_eq!((found[2].body.length(), found[2].media_type.as_deref()), (1024, Some(payload::SOAP_TYPE)));
    }

    #[test]
    fn the_plan_of_the_readme_is_one() {
        let readme = include_str!("../../README.md");
        let plan = readme.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
        let found = requests(plan).unwrap();
        let names: Vec<&str> = found.iter().map(|request| request.name.as_str()).collect();
        assert_eq!(names, ["POST /services/orders/{{n}}", "prices"]);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let check = |text: &str, wanted: &str| {
            let error = format!("{:#}", requests(text).unwrap_err());
            assert!(error.contains("plan.toml") && error.contains(wanted), "{error}");
        };
        check("", "missing field `request`");
        check("request = []", "there is no [[request]]");
        check("[[request]]\nurl = '/a'\nwieght = 2", "unknown field `wieght`");
        check("[[request]]\nurl = '/a'\nverify = 'maybe'", "`maybe` is none of status, echo");
        check("[[request]]\nurl = '/a'\nbody = 'no.xml'", "request 1");
        check("[[request]]\nurl = '/a'\nsoap = '1K'\ntext = 'x'", "a request has one body");
        check("[[request]]\nurl = 'ftp://a/'", "does not begin with http://");
        let alone = Description { url: "/a".to_owned(), ..Description::default() };
        assert!(alone.request(None, Path::new("")).is_err());
    }
}
