//! What APIs look at in a request.

/// What of a request tells its resource, and its mediators where it came from.
#[derive(Clone, Copy, Debug)]
pub struct Visit<'a> {
    pub method: &'a str,
    /// The path of the request's target, with the query.
    pub path: &'a str,
    /// Where in the path the API's address ends.
    pub start: usize,
    pub secure: bool,
    pub host: Option<&'a str>,
    pub content_type: Option<&'a [u8]>,
    pub user_agent: Option<&'a [u8]>,
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
