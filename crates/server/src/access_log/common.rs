//! What lines that follow each other mostly have in common, as text.

use std::net::IpAddr;
use std::time::{Duration, UNIX_EPOCH};

/// What lines that follow each other mostly have in common, as text.
#[derive(Default)]
pub(super) struct Common {
    /// A second since 1970, and its time as far as the seconds: `2026-11-21T05:00:00`.
    second: Option<(u64, String)>,
    /// The same as `[21/Nov/2026:05:00:00 +0000]`.
    clf: Option<(u64, String)>,
    /// A client and its address.
    client: Option<(IpAddr, String)>,
}

/// The months, as RFC 9110 §5.6.7 names them.
const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

impl Common {
    pub(super) fn second(&mut self, second: u64) -> &str {
        if self.second.as_ref().is_none_or(|(known, _)| *known != second) {
            self.second = Some((second, iso(second)));
        }
        self.second.as_ref().map_or("", |(_, text)| text)
    }

    pub(super) fn clf(&mut self, second: u64) -> &str {
        if self.clf.as_ref().is_none_or(|(known, _)| *known != second) {
            // Cut from `2026-11-21T05:00:00`, whose parts have their places.
            let text = iso(second);
            let month = text.get(5..7).and_then(|month| month.parse::<usize>().ok()).unwrap_or(1);
            let part = |from: usize, to: usize| text.get(from..to).unwrap_or_default();
            let month = MONTHS.get(month - 1).copied().unwrap_or_default();
            let clf = format!("[{}/{month}/{}:{} +0000]", part(8, 10), part(0, 4), part(11, 19));
            self.clf = Some((second, clf));
        }
        self.clf.as_ref().map_or("", |(_, text)| text)
    }

    pub(super) fn client(&mut self, client: IpAddr) -> &str {
        if self.client.as_ref().is_none_or(|(known, _)| *known != client) {
            self.client = Some((client, client.to_string()));
        }
        self.client.as_ref().map_or("", |(_, text)| text)
    }
}

fn iso(second: u64) -> String {
    let time = UNIX_EPOCH + Duration::from_secs(second);
    humantime::format_rfc3339_seconds(time).to_string().trim_end_matches('Z').to_owned()
}
