//! Where APIs are offered: which of them a request is for, by path, version, host and protocol.

use std::sync::Arc;

use myelin_message::Head;

use crate::apis::Api;
use crate::apis::address::{Address, Caller};
use crate::left_out::LeftOut;

/// An API at its address; a faulty one keeps its paths, so that nobody else answers in its place.
pub struct Offer {
    /// Where it is offered.
    pub address: Address,
    /// The API, or what answers for it where it is faulty.
    pub api: Result<Arc<Api>, LeftOut>,
}

/// All APIs of a bus.
#[derive(Default)]
pub struct Offers(Vec<Offer>);

impl Offers {
    /// Puts offers into the order in which they are asked: those with a version first, and the longest context first.
    ///
    /// Source: `AbstractApiHandler` of WSO2's Synapse; Apache's asks in the order of the configuration.
    pub fn new(mut offers: Vec<Offer>) -> Offers {
        // Among equals, sound ones first: of two with one address, the second is the faulty one.
        offers.sort_by_key(|Offer { address, api }| {
            (address.version.is_empty(), usize::MAX - address.context.len(), api.is_err())
        });
        Offers(offers)
    }

    /// The offer for a request, by the path of its target with the query.
    pub fn find(&self, path: &str, head: &Head, secure: bool, caller: Caller<'_>) -> Option<&Offer> {
        let is_meant =
            |address: &Address| address.is_for(path) && address.is_offered_to(caller) && address.admits(head, secure);
        self.0.iter().find(|offer| is_meant(&offer.address))
    }

    /// The APIs that are served, in the order in which they are asked.
    pub fn iter(&self) -> impl Iterator<Item = (&Arc<Api>, &Address)> {
        self.0.iter().filter_map(|offer| Some((offer.api.as_ref().ok()?, &offer.address)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(context: &str, version: &str, prefix: &str) -> Address {
        Address {
            context: context.to_owned(),
            version: version.to_owned(),
            prefix: prefix.to_owned(),
            host: None,
            port: None,
            http: true,
            https: true,
            bound: None,
        }
    }

    #[test]
    fn the_longest_context_is_asked_first_and_a_version_before_none() {
        let addresses = [
            address("", "", ""),
            address("/a", "", "/a"),
            address("/a", "1", "/a/1"),
            address("/a/b", "", "/a/b"),
            address("/2/a", "2", "/2/a"),
        ];
        let offers = Offers::new(addresses.map(|address| Offer { address, api: Err(LeftOut::new("api", "a")) }).into());
        let check = |path: &str, expected: &str| {
            let found =
                offers.find(path, &Head::default(), false, Caller::Server).map(|offer| offer.address.prefix.as_str());
            assert_eq!(found, Some(expected), "{path}");
        };
        check("/a", "/a");
        check("/a?x", "/a");
        check("/a/1/x", "/a/1");
        check("/a/1?x", "/a/1");
        check("/a/12", "/a");
        check("/a/b/c", "/a/b");
        check("/ab", "");
        check("/2/a/x", "/2/a");
        check("?x", "");
    }
}
