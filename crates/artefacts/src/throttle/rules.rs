//! Which rule of a throttle is for a caller, by its address or by its name.
//!
//! Source: `IPBaseThrottleConfiguration` and `DomainBaseThrottleConfiguration` of WSO2's `commons.throttle`.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};
use std::ops::RangeInclusive;

/// The word that stands for whoever no other rule is for.
const OTHER: &str = "other";

/// The numbers of rules by the addresses that they are for.
#[derive(Debug, Default)]
pub(super) struct Addresses {
    single: HashMap<IpAddr, usize>,
    ranges: Vec<(RangeInclusive<Ipv4Addr>, usize)>,
    /// The same for those that were said with an asterisk.
    networks: Vec<(RangeInclusive<Ipv4Addr>, usize)>,
    other: Option<usize>,
}

/// The numbers of rules by the domains that they are for.
#[derive(Debug, Default)]
pub(super) struct Domains {
    names: HashMap<Box<str>, usize>,
    /// Of rules for `*.NAME`, by `NAME`.
    below: HashMap<Box<str>, usize>,
    other: Option<usize>,
}

impl Addresses {
    /// Adds a rule for an address, a range `a-b`, the 256 addresses `a.b.c.*`, or `other`.
    ///
    /// Errors: a sentence, where the text is none of these.
    pub(super) fn add(&mut self, text: &str, rule: usize) -> Result<(), String> {
        let text = text.trim();
        if text == OTHER {
            self.other = Some(rule);
        } else if let Some((first, last)) = text.split_once('-') {
            let address = |text: &str| text.trim().parse::<Ipv4Addr>();
            match (address(first), address(last)) {
                (Ok(first), Ok(last)) if first <= last => self.ranges.push((first..=last, rule)),
                _ => return Err(format!("{text:?} is no range: two IPv4 addresses, the lower one first")),
            }
        } else if let Some(network) = text.strip_suffix(".*") {
            let address = |last: u8| format!("{network}.{last}").parse::<Ipv4Addr>();
            match (address(0), address(u8::MAX)) {
                (Ok(first), Ok(last)) => self.networks.push((first..=last, rule)),
                _ => return Err(format!("{text:?} is no network: three numbers and an asterisk, such as 10.0.0.*")),
            }
        } else {
            let message = "is no address, no range a-b, no network a.b.c.*, and not \"other\", which stands for all";
            let address: IpAddr = text.parse().map_err(|_| format!("{text:?} {message}"))?;
            self.single.insert(address.to_canonical(), rule);
        }
        Ok(())
    }

    /// The rule for a caller; `None` stands for one whose address is none.
    pub(super) fn find(&self, caller: Option<IpAddr>) -> Option<usize> {
        let caller = caller.map(|address| address.to_canonical());
        let single = || self.single.get(&caller?).copied();
        let range = || match caller? {
            IpAddr::V4(caller) => {
                let mut narrow_first = self.ranges.iter().chain(&self.networks);
                narrow_first.find(|(range, _)| range.contains(&caller)).map(|(_, rule)| *rule)
            }
            IpAddr::V6(_) => None,
        };
        single().or_else(range).or(self.other)
    }
}

impl Domains {
    /// Adds a rule for a name and what is below it, for what is below it alone (`*.NAME`), or `other`.
    pub(super) fn add(&mut self, text: &str, rule: usize) {
        let text = text.trim().to_lowercase();
        if text == OTHER {
            self.other = Some(rule);
            return;
        }
        let name = text.trim_start_matches("*.");
        let names = if name.len() == text.len() { &mut self.names } else { &mut self.below };
        names.insert(name.into(), rule);
    }

    /// The rule for a caller: that of the longest name which its own ends in.
    pub(super) fn find(&self, caller: &str) -> Option<usize> {
        let caller = caller.trim().to_lowercase();
        let mut name = &*caller;
        loop {
            if let Some(&rule) = self.names.get(name) {
                return Some(rule);
            }
            let rest = name.split_once('.').map(|(_, rest)| rest);
            // As in Synapse `*.host` is for `host` itself, too, where nothing is above it.
            if let Some(&rule) = self.below.get(rest.unwrap_or(name)) {
                return Some(rule);
            }
            match rest {
                Some(rest) => name = rest,
                None => return self.other,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_narrowest_rule_is_for_an_address() {
        let mut addresses = Addresses::default();
        let rules = ["other", "10.100.1.160", "10.100.1.150-10.100.1.165", "10.100.1.*", "2001:db8::1"];
        rules.iter().enumerate().for_each(|(rule, text)| addresses.add(text, rule).unwrap());
        let check = |caller: &str, rule| assert_eq!(addresses.find(caller.parse().ok()), Some(rule), "{caller}");
        check("10.100.1.160", 1);
        check("::ffff:10.100.1.160", 1);
        check("10.100.1.151", 2);
        check("10.100.1.1", 3);
        check("10.100.2.1", 0);
        check("2001:db8::1", 4);
        check("2001:db8::2", 0);
        check("unknown", 0);
    }

    #[test]
    fn whoever_no_rule_is_for_passes() {
        let mut addresses = Addresses::default();
        addresses.add(" 10.0.0.1 - 10.0.1.9 ", 0).unwrap();
        let find = |caller: &str| addresses.find(caller.parse().ok());
        assert_eq!((find("10.0.0.255"), find("10.0.1.9"), find("10.0.1.10"), find("")), (Some(0), Some(0), None, None));
    }

    #[test]
    fn what_is_no_address_is_refused_with_what_would_be_one() {
        let check = |text: &str, part: &str| {
            let message = Addresses::default().add(text, 0).unwrap_err();
            assert!(message.contains(part), "{message}");
        };
        check("*", "\"other\", which stands for all");
        check("10.0.*", "10.0.0.*");
        check("10.0.0.9-10.0.0.1", "the lower one first");
        check("10.0.0.1-9", "two IPv4 addresses");
        check("example.com", "no address");
    }

    #[test]
    fn a_domain_is_that_of_the_longest_name_it_ends_in() {
        let mut domains = Domains::default();
        let rules = ["example.com", "*.Example.com", "*.*.co.uk", "host", "other"];
        rules.iter().enumerate().for_each(|(rule, text)| domains.add(text, rule));
        let check = |caller: &str, rule| assert_eq!(domains.find(caller), Some(rule), "{caller}");
        check("example.com", 0);
        check("WWW.example.com", 1);
        check("a.b.example.com", 1);
        check("shop.co.uk", 2);
        check("co.uk", 4);
        check("host", 3);
        check("www.host", 3);
        check("192.0.2.7", 4);
    }
}
