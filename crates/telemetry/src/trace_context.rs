//! The context of a trace as messages carry it: `traceparent` and `tracestate`.
//!
//! Source: W3C Trace Context, <https://www.w3.org/TR/trace-context/>, with the flag `random` of its level 2.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use myelin_engine::identity;
use myelin_message::Head;

/// The header line that names trace and span.
pub const TRACEPARENT: &str = "traceparent";
/// The header line with what each tracing system on the way adds.
pub const TRACESTATE: &str = "tracestate";

/// How long a `traceparent` of the version that is known is: `00-` trace `-` span `-` flags.
const LENGTH: usize = 55;
/// How many members a `tracestate` may have (§3.3.1.1).
const MOST_MEMBERS: usize = 32;
/// How many bytes of `tracestate` are carried on; the standard asks for at least 512.
const STATE_BYTES: usize = 4096;

/// Which trace: 16 bytes, not all of them zero.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct TraceId([u8; 16]);

/// Which span of a trace: 8 bytes, not all of them zero.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct SpanId([u8; 8]);

/// Who reads the trace is told whether it is recorded: the flags of a `traceparent`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TraceFlags(u8);

/// What a message says of the trace that it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceContext {
    /// The trace.
    pub trace: TraceId,
    /// The span that sent the message.
    pub span: SpanId,
    /// Whether its sender records it.
    pub flags: TraceFlags,
    /// The `tracestate` in one line; `None` where there is none.
    pub state: Option<Arc<str>>,
}

impl TraceId {
    /// A new one.
    pub fn new() -> TraceId {
        let (high, low) = identity::random();
        // One bit makes sure that it is not zero; samplers that go by the trace read the last 7 bytes, and these are random.
        TraceId(((u128::from(high) << 64 | u128::from(low)) | 1 << 127).to_be_bytes())
    }

    /// The one with these bytes.
    pub fn of(bytes: [u8; 16]) -> TraceId {
        TraceId(bytes)
    }

    /// The bytes of it.
    pub fn bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// The last 56 bits, by which systems that sample agree on a trace (level 2 of the standard, §5.4).
    pub fn randomness(&self) -> u64 {
        u128::from_be_bytes(self.0) as u64 & ((1 << 56) - 1)
    }
}

impl Default for TraceId {
    fn default() -> TraceId {
        TraceId::new()
    }
}

impl SpanId {
    /// A new one.
    pub fn new() -> SpanId {
        SpanId(identity::random().0.max(1).to_be_bytes())
    }

    /// The one with these bytes.
    pub fn of(bytes: [u8; 8]) -> SpanId {
        SpanId(bytes)
    }

    /// The bytes of it.
    pub fn bytes(&self) -> &[u8; 8] {
        &self.0
    }
}

impl Default for SpanId {
    fn default() -> SpanId {
        SpanId::new()
    }
}

impl TraceFlags {
    const SAMPLED: u8 = 1;
    const RANDOM: u8 = 2;

    /// Those of a trace that begins here; its identifier is random, but a reader of level 1 must be told nothing of that.
    pub fn new(is_sampled: bool) -> TraceFlags {
        TraceFlags(u8::from(is_sampled) * TraceFlags::SAMPLED)
    }

    /// Whether who set them records the trace.
    pub fn is_sampled(self) -> bool {
        self.0 & TraceFlags::SAMPLED != 0
    }

    /// The same with another answer to whether it is recorded.
    pub fn sampled(self, is_sampled: bool) -> TraceFlags {
        TraceFlags(self.0 & !TraceFlags::SAMPLED | TraceFlags::new(is_sampled).0)
    }

    /// The byte of it.
    pub fn byte(self) -> u8 {
        self.0
    }
}

impl TraceContext {
    /// The context that a message brings; `None` where it brings none, or none that can be understood.
    ///
    /// Shape: several lines of `tracestate` become one; a `tracestate` that cannot be understood is dropped, and one
    /// without a `traceparent` counts for nothing.
    /// Source: W3C Trace Context §3.2, §3.3 and §4.
    pub fn of(head: &Head) -> Option<TraceContext> {
        let mut lines = head.all(TRACEPARENT);
        let line = lines.next()?;
        if lines.next().is_some() {
            return None;
        }
        let (trace, span, flags) = traceparent(line)?;
        Some(TraceContext { trace, span, flags, state: tracestate(head.all(TRACESTATE)) })
    }

    /// Writes the context into a message, in the place of any other.
    pub fn write(&self, head: &mut Head) {
        // Digits, hyphens and what was a header line can stand in a header line.
        let _ = head.set(TRACEPARENT, self.traceparent().as_bytes());
        match &self.state {
            Some(state) => drop(head.set(TRACESTATE, state.as_bytes())),
            None => drop(head.remove(TRACESTATE)),
        }
    }

    /// The same trace, as a span of it tells it.
    pub fn at(&self, span: SpanId) -> TraceContext {
        TraceContext { span, ..self.clone() }
    }

    /// The `traceparent` of it.
    pub fn traceparent(&self) -> String {
        let mut text = Vec::with_capacity(LENGTH);
        text.extend_from_slice(b"00-");
        push_hex(&mut text, &self.trace.0);
        text.push(b'-');
        push_hex(&mut text, &self.span.0);
        text.push(b'-');
        push_hex(&mut text, &[self.flags.0]);
        String::from_utf8(text).unwrap_or_default()
    }
}

fn push_hex(text: &mut Vec<u8>, bytes: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    text.extend(bytes.iter().flat_map(|byte| [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 0xf)]]));
}

/// What a `traceparent` says; `None` where it is none.
///
/// A version that is not known is read as far as the known one goes, as the standard wants it (§4.3).
fn traceparent(line: &[u8]) -> Option<(TraceId, SpanId, TraceFlags)> {
    let (known, rest) = line.split_at_checked(LENGTH)?;
    let [version] = hex(&known[..2])?;
    let is_whole = match version {
        0 => rest.is_empty(),
        0xff => false,
        _ => rest.is_empty() || rest.starts_with(b"-"),
    };
    if !is_whole || [2, 35, 52].iter().any(|&place| known[place] != b'-') {
        return None;
    }
    let (trace, span, [flags]) = (hex::<16>(&known[3..35])?, hex::<8>(&known[36..52])?, hex::<1>(&known[53..])?);
    if trace == [0; 16] || span == [0; 8] {
        return None;
    }
    // Flags that nobody knows yet must not be passed on.
    Some((TraceId(trace), SpanId(span), TraceFlags(flags & (TraceFlags::SAMPLED | TraceFlags::RANDOM))))
}

/// The bytes that small hexadecimal digits stand for.
fn hex<const N: usize>(digits: &[u8]) -> Option<[u8; N]> {
    let digit = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(bytes)
}

/// The lines of `tracestate` as one; `None` where there is nothing in them, or something that must not be.
fn tracestate<'a>(lines: impl Iterator<Item = &'a [u8]>) -> Option<Arc<str>> {
    let mut state = String::new();
    for line in lines {
        for member in std::str::from_utf8(line).ok()?.split(',') {
            let member = member.trim_matches([' ', '\t']);
            // Empty members are allowed, and mean nothing.
            if member.is_empty() {
                continue;
            }
            if !state.is_empty() {
                state.push(',');
            }
            state.push_str(member);
        }
        if state.len() > STATE_BYTES {
            return None;
        }
    }
    let mut keys = HashSet::new();
    let is_sound = state.split(',').all(|member| {
        member.split_once('=').is_some_and(|(key, value)| is_key(key) && is_value(value) && keys.insert(key))
    });
    (is_sound && keys.len() <= MOST_MEMBERS && !state.is_empty()).then(|| state.into())
}

/// `vendor` or `tenant@vendor` (§3.3.1.3.1).
fn is_key(key: &str) -> bool {
    let is_letter = |letter: u8| letter.is_ascii_lowercase() || letter.is_ascii_digit() || b"_-*/".contains(&letter);
    let is_part = |part: &str, most: usize, may_be_digit: bool| {
        let first = part.bytes().next();
        let begins = first.is_some_and(|it| it.is_ascii_lowercase() || may_be_digit && it.is_ascii_digit());
        begins && part.len() <= most && part.bytes().all(is_letter)
    };
    match key.split_once('@') {
        Some((tenant, system)) => is_part(tenant, 241, true) && is_part(system, 14, false),
        None => is_part(key, 256, true),
    }
}

/// Printable ASCII without comma and equals sign (§3.3.1.3.2).
fn is_value(value: &str) -> bool {
    let is_letter = |letter: u8| matches!(letter, b' '..=b'~') && letter != b',' && letter != b'=';
    !value.is_empty() && value.len() <= 256 && value.bytes().all(is_letter)
}

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", u128::from_be_bytes(self.0))
    }
}

impl fmt::Debug for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for SpanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", u64::from_be_bytes(self.0))
    }
}

impl fmt::Debug for SpanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests;
