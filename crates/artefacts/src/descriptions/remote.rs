//! Descriptions that other servers hold: fetched when they are first asked for, and kept.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::Duration;

use http::Uri;
use myelin_message::{Body, Head};
use myelin_wsdl::{Documents, Source};

use crate::descriptions::read::{NamedResources, source};
use myelin_config::files::decode;
use myelin_config::resource::Resource;
use myelin_content::coding;
use myelin_flow::transport::{Address, Manner, Method, Outgoing, Transport, ask};

/// How long a description with all that it imports may take.
const DEADLINE: Duration = Duration::from_secs(30);

/// How large one document of it may be, in bytes.
const LIMIT_BYTES: u64 = 8 << 20;

/// Something that is made of a description which another server holds.
pub(crate) struct RemoteDescription<T> {
    /// What imports mean that `resource` elements name, by location.
    named: NamedResources,
    // Whoever asks while it is being fetched fetches it, too: no request waits for another one's.
    kept: Mutex<Option<Arc<T>>>,
}

impl<T> RemoteDescription<T> {
    /// One that was not fetched yet; `named` is what `resource` elements give for its imports.
    pub(crate) fn new(named: NamedResources) -> RemoteDescription<T> {
        RemoteDescription { named, kept: Mutex::new(None) }
    }

    /// What was made of it, if it was fetched before.
    pub(crate) fn kept(&self) -> Option<Arc<T>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What is made of the description at a URI; fetched where it was not before.
    ///
    /// Errors: a sentence for the log; the next one who asks tries again.
    pub(crate) async fn get<E: ToString>(
        &self,
        uri: &Uri,
        transport: &dyn Transport,
        make: impl FnOnce(&Documents) -> Result<T, E>,
    ) -> Result<Arc<T>, String> {
        if let Some(kept) = self.kept() {
            return Ok(kept);
        }
        let documents = self.fetch(uri, transport).await?;
        let made = Arc::new(make(&documents).map_err(|error| error.to_string())?);
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&made));
        Ok(made)
    }

    /// Forgets what was made of it.
    pub(crate) fn forget(&self) {
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    async fn fetch(&self, uri: &Uri, transport: &dyn Transport) -> Result<Documents, String> {
        let mut late = pin!(transport.sleep(DEADLINE));
        let mut documents = pin!(collect(transport, uri, &self.named));
        poll_fn(|cx| match documents.as_mut().poll(cx) {
            Poll::Ready(outcome) => Poll::Ready(outcome),
            Poll::Pending => late.as_mut().poll(cx).map(|()| Err(format!("{uri} took longer than {DEADLINE:?}"))),
        })
        .await
    }
}

async fn collect(transport: &dyn Transport, root: &Uri, named: &[(String, Resource)]) -> Result<Documents, String> {
    let said = |error: myelin_wsdl::Error| error.to_string();
    let mut documents = Documents::new(get(transport, root).await?).map_err(said)?;
    while let Some(wanted) = documents.wanted() {
        let given = named.iter().find(|(location, _)| location == wanted.location).map(|(_, resource)| resource);
        let elsewhere = join(wanted.base, wanted.location).filter(|uri| is_same_server(uri, root));
        let found = match (given, elsewhere) {
            (Some(resource), _) => Some(source(resource)?),
            (None, Some(uri)) if documents.knows(&uri.to_string()) => {
                Some(Source { uri: uri.to_string(), text: String::new() })
            }
            (None, Some(uri)) => Some(get(transport, &uri).await?),
            // Whoever reads the description can fetch it there as well as we; we go where the configuration says.
            (None, None) => None,
        };
        documents.supply(found).map_err(said)?;
    }
    Ok(documents)
}

async fn get(transport: &dyn Transport, uri: &Uri) -> Result<Source, String> {
    let request = Outgoing {
        method: Method::Named("GET".to_owned()),
        address: Address::Uri(uri.clone()),
        head: Head::default(),
        body: Body::Empty,
        timeout: Some(DEADLINE),
        host: None,
        manner: Manner::default(),
    };
    let mut response = ask(transport, request).await.map_err(|error| format!("{uri}: {error}"))?;
    if response.status != 200 {
        return Err(format!("{uri} answered {}", response.status));
    }
    coding::decode_message(&mut response.head, &mut response.body, LIMIT_BYTES);
    let bytes = response.body.bytes(LIMIT_BYTES).await.map_err(|error| format!("{uri}: {error}"))?;
    let text = decode(bytes.to_vec()).map_err(|message| format!("{uri}: {message}"))?;
    Ok(Source { uri: uri.to_string(), text })
}

fn is_same_server(one: &Uri, other: &Uri) -> bool {
    one.scheme() == other.scheme() && one.authority() == other.authority()
}

/// What a location in a document means (RFC 3986 §5.2).
fn join(base: &str, location: &str) -> Option<Uri> {
    if location.contains("://") {
        return location.parse().ok();
    }
    let base: Uri = base.parse().ok()?;
    let (scheme, authority) = (base.scheme_str()?, base.authority()?);
    let server = format!("{scheme}://{authority}");
    let location = location.split('#').next().unwrap_or_default();
    let (path, query) = match location.split_once('?') {
        Some((path, query)) => (path, format!("?{query}")),
        None => (location, String::new()),
    };
    if path.starts_with("//") {
        return format!("{scheme}:{location}").parse().ok();
    }
    let mut parts: Vec<&str> = match path {
        "" => return format!("{server}{}{query}", base.path()).parse().ok(),
        _ if path.starts_with('/') => Vec::new(),
        _ => base.path().rsplit_once('/').map_or("", |(folder, _)| folder).split('/').skip(1).collect(),
    };
    for part in path.trim_start_matches('/').split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    format!("{server}/{}{query}", parts.join("/")).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_are_seen_from_the_document_that_names_them() {
        let check = |base: &str, location: &str, expected: &str| {
            assert_eq!(join(base, location).unwrap().to_string(), expected, "{location}");
        };
        let base = "http://back:9000/services/S?wsdl";
        check(base, "S?xsd=xsd0", "http://back:9000/services/S?xsd=xsd0");
        check(base, "?xsd=xsd0", "http://back:9000/services/S?xsd=xsd0");
        check(base, "types/a.xsd#x", "http://back:9000/services/types/a.xsd");
        check(base, "../a.xsd", "http://back:9000/a.xsd");
        check(base, "../../../a.xsd", "http://back:9000/a.xsd");
        check(base, "/a.xsd", "http://back:9000/a.xsd");
        check(base, "//other/a.xsd", "http://other/a.xsd");
        check(base, "https://other/a.xsd", "https://other/a.xsd");
        check("http://back", "a.xsd", "http://back/a.xsd");
    }
}
