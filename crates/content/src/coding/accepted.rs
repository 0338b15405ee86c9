//! What a backend is told of the codings that are accepted.

use myelin_message::{Head, HeaderId};

use super::{Coding, DECODABLE, is};

/// Leaves of `Accept-Encoding` what can be decoded here, for a flow may read the answer; a line that says nothing else
/// stays as it came. `*` becomes the codings that can be decoded and are not named besides.
///
/// Source: RFC 9110 §12.5.3.
pub fn accept_what_can_be_decoded(head: &mut Head) {
    let is_known = |name: &[u8]| is(name, "identity") || Coding::of(name) != Coding::Unknown;
    let members = || {
        let members = head.all_known(HeaderId::AcceptEncoding).flat_map(|value| value.split(|&byte| byte == b','));
        members.map(<[u8]>::trim_ascii).filter(|member| !member.is_empty())
    };
    if members().all(|member| is_known(name_of(member))) {
        return;
    }
    let mut kept: Vec<Vec<u8>> = Vec::new();
    for member in members() {
        let name = name_of(member);
        if is_known(name) {
            kept.push(member.to_vec());
        } else if name == b"*" {
            let weight = &member[name.len()..];
            let is_unnamed = |known: &&str| !members().any(|member| is(name_of(member), known));
            let others = DECODABLE.split(", ").chain(["identity"]).filter(is_unnamed);
            kept.extend(others.map(|name| [name.as_bytes(), weight].concat()));
        }
    }
    let value = if kept.is_empty() { b"identity".to_vec() } else { kept.join(&b", "[..]) };
    // Members of a valid value make a valid one.
    let _ = head.set("Accept-Encoding", &value);
}

fn name_of(member: &[u8]) -> &[u8] {
    member.split(|&byte| byte == b';').next().unwrap_or_default().trim_ascii()
}
