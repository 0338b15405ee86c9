//! What APIs look at in a request.

/// What of a request tells its resource, and its mediators where it came from.
#[derive(Clone, Copy, Debug)]
pub struct Visit<'a> {
    /// The HTTP method.
    pub method: &'a str,
    /// The path of the request's target, with the query.
    pub path: &'a str,
    /// Where in the path the API's address ends.
    pub start: usize,
    /// Whether it came over TLS.
    pub secure: bool,
    /// The header `Host`.
    pub host: Option<&'a str>,
    /// The header `Content-Type`.
    pub content_type: Option<&'a [u8]>,
    /// The header `User-Agent`.
    pub user_agent: Option<&'a [u8]>,
    /// Whether it has a body.
    pub has_body: bool,
}

impl<'a> Visit<'a> {
    /// The path behind the API's address, with the query; `/` where there is nothing.
    pub fn sub_path(&self) -> &'a str {
        match &self.path[self.start..] {
            "" => "/",
            rest => rest,
        }
    }
}
