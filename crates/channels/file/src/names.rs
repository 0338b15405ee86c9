//! Names with a meaning of their own beside the files that are messages: locks, files half written, free names.

use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// What Synapse puts behind a name to say that somebody works on the file.
const LOCK: &str = ".lock";

/// What Synapse's inbound endpoints put behind the name of a file that could not be moved.
const FAIL: &str = ".fail";

/// How the names of files end that are not complete yet. They look like locks, so that Synapse leaves them alone, too.
const PART: &str = ".myelin-part.lock";

/// Whether a file of that name is never a message.
pub(crate) fn is_reserved(name: &OsStr) -> bool {
    let name = name.as_bytes();
    name.ends_with(LOCK.as_bytes()) || name.ends_with(FAIL.as_bytes())
}

/// Whether a file of that name is a lock.
pub(crate) fn is_lock(name: &OsStr) -> bool {
    name.as_bytes().ends_with(LOCK.as_bytes()) && !is_part(name)
}

/// Whether a file of that name is one that somebody began to write.
pub(crate) fn is_part(name: &OsStr) -> bool {
    name.as_bytes().ends_with(PART.as_bytes())
}

/// The name for a file that is being written, which no other file of any process has.
pub(crate) fn part() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    format!(".{:x}-{time:x}-{count:x}{PART}", std::process::id())
}

/// The lock of a file.
pub(crate) fn lock_of(file: &Path) -> PathBuf {
    let mut path = file.as_os_str().to_owned();
    path.push(LOCK);
    path.into()
}

/// Another name where that one is in use: `orders.xml`, `orders-1.xml`, `orders-2.xml`.
pub(crate) fn numbered(name: &OsStr, number: u64) -> OsString {
    if number == 0 {
        return name.to_owned();
    }
    let bytes = name.as_bytes();
    let dot = bytes.iter().rposition(|&byte| byte == b'.').filter(|&dot| dot > 0).unwrap_or(bytes.len());
    let number = format!("-{number}");
    OsString::from_vec([&bytes[..dot], number.as_bytes(), &bytes[dot..]].concat())
}

/// A path as a `file:` URI, escaped as Commons VFS does: blanks, `#` and `%`, and what could not stand in a header.
pub(crate) fn file_uri(path: &Path) -> String {
    let mut uri = "file://".to_owned();
    for chunk in path.as_os_str().as_bytes().utf8_chunks() {
        for letter in chunk.valid().chars() {
            if letter.is_control() || matches!(letter, ' ' | '#' | '%' | '?') {
                let mut bytes = [0; 4];
                escape(letter.encode_utf8(&mut bytes).as_bytes(), &mut uri);
            } else {
                uri.push(letter);
            }
        }
        escape(chunk.invalid(), &mut uri);
    }
    uri
}

/// A name or path as the value of a header: control characters are escaped, what is not UTF-8 is replaced.
pub(crate) fn shown(path: &OsStr) -> String {
    let mut out = String::new();
    for letter in path.to_string_lossy().chars() {
        let mut bytes = [0; 4];
        if letter.is_control() {
            escape(letter.encode_utf8(&mut bytes).as_bytes(), &mut out);
        } else {
            out.push(letter);
        }
    }
    out
}

fn escape(bytes: &[u8], out: &mut String) {
    for byte in bytes {
        // Writing into a string cannot fail.
        let _ = write!(out, "%{byte:02X}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_names_keep_their_endings() {
        let check = |name: &str, number, expected: &str| assert_eq!(numbered(OsStr::new(name), number), expected);
        check("orders.xml", 0, "orders.xml");
        check("orders.xml", 1, "orders-1.xml");
        check("orders.tar.gz", 12, "orders.tar-12.gz");
        check("orders", 2, "orders-2");
        check(".orders", 2, ".orders-2");
    }

    #[test]
    fn locks_and_parts_are_no_messages() {
        for name in ["a.xml.lock", "a.xml.fail", &part()] {
            assert!(is_reserved(OsStr::new(name)), "{name}");
        }
        assert!(!is_reserved(OsStr::new("lock.xml")));
        assert!(is_part(OsStr::new(&part())) && part() != part());
    }

    #[test]
    fn paths_become_uris_and_values_of_headers() {
        assert_eq!(file_uri(Path::new("/in/a b#1%ä.xml")), "file:///in/a%20b%231%25ä.xml");
        assert_eq!(file_uri(Path::new(OsStr::from_bytes(b"/in/\xff\n"))), "file:///in/%FF%0A");
        assert_eq!(shown(OsStr::new("Auftrag ä\n.xml")), "Auftrag ä%0A.xml");
    }
}
