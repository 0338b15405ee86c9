//! The files in a `.car` archive, which is a ZIP file: each is unpacked when it is asked for, within bounds.

use std::cell::Cell;
use std::collections::BTreeMap;

use miniz_oxide::inflate::decompress_to_vec_with_limit;
use rawzip::{CompressionMethod, Error, ZipArchive, ZipArchiveEntryWayfinder, ZipSliceArchive};

/// Stands between the path of an archive and that of a file in it.
pub const INSIDE: &str = "!/";

/// How many files an archive may hold.
const ENTRIES: usize = 10_000;
/// The largest file that is unpacked, and how much is of one archive: far more than any configuration has.
const FILE_BYTES: u64 = 16 << 20;
const TOTAL_BYTES: u64 = 128 << 20;
/// A larger file that was packed to less than one part of so many is not there to be read.
const RATIO: u64 = 200;
/// How deep archives lie in each other.
const DEPTH: usize = 6;
const RATIO_FROM_BYTES: u64 = 1 << 20;

/// An archive that was found to be one.
pub struct Archive<'a> {
    zip: ZipSliceArchive<&'a [u8]>,
    entries: BTreeMap<String, Entry>,
    left_bytes: Cell<u64>,
}

#[derive(Clone, Copy)]
struct Entry {
    place: ZipArchiveEntryWayfinder,
    method: CompressionMethod,
}

impl<'a> Archive<'a> {
    /// Reads the directory of an archive.
    ///
    /// Errors: a sentence, where it is none, holds too many files, or names one twice or outside itself.
    pub fn open(bytes: &'a [u8]) -> Result<Archive<'a>, String> {
        let told = |error: Error| format!("no sound archive: {error}");
        let zip = ZipArchive::from_slice(bytes).map_err(told)?;
        let mut entries = BTreeMap::new();
        let mut listed = zip.entries();
        while let Some(entry) = listed.next_entry().map_err(told)? {
            let name =
                std::str::from_utf8(entry.file_path().as_bytes()).map_err(|_| "a name in it is not valid UTF-8")?;
            let leads_out = name.starts_with('/') || name.split(['/', '\\']).any(|part| part == "..");
            if leads_out || name.contains([':', '\0']) {
                return Err(format!("{name:?} leads out of the archive"));
            }
            if entry.is_dir() {
                continue;
            }
            if entries.len() == ENTRIES {
                return Err(format!("it holds more than {ENTRIES} files"));
            }
            let found = Entry { place: entry.wayfinder(), method: entry.compression_method() };
            // Archives made on Windows say it so now and then.
            let name = name.replace('\\', "/");
            if entries.insert(name.clone(), found).is_some() {
                return Err(format!("it holds {name:?} twice"));
            }
        }
        Ok(Archive { zip, entries, left_bytes: Cell::new(TOTAL_BYTES) })
    }

    /// The names of all files, in their order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    /// Unpacks a file; `None` where there is none of that name.
    ///
    /// Errors: a sentence, where it is too large or damaged.
    pub fn read(&self, name: &str) -> Result<Option<Vec<u8>>, String> {
        let Some(entry) = self.entries.get(name) else { return Ok(None) };
        self.unpack(*entry).map(Some).map_err(|message| format!("{name}: {message}"))
    }

    fn unpack(&self, entry: Entry) -> Result<Vec<u8>, String> {
        let (packed, whole) = (entry.place.compressed_size_hint(), entry.place.uncompressed_size_hint());
        if whole > FILE_BYTES {
            return Err(format!("larger than {FILE_BYTES} bytes"));
        }
        if whole > RATIO_FROM_BYTES && whole / packed.max(1) > RATIO {
            return Err(format!("{packed} bytes that unpack to {whole}: this is no file of a configuration"));
        }
        let left = self.left_bytes.get().checked_sub(whole);
        self.left_bytes.set(left.ok_or_else(|| format!("the archive unpacks to more than {TOTAL_BYTES} bytes"))?);
        let found = self.zip.get_entry(entry.place).map_err(|error| error.to_string())?;
        let data = match entry.method {
            CompressionMethod::STORE => found.data().to_vec(),
            // What unpacks to more than it says is damaged, and no more than it says is unpacked.
            CompressionMethod::DEFLATE => {
                let limit = usize::try_from(whole).map_err(|_| "too large")?;
                decompress_to_vec_with_limit(found.data(), limit).map_err(|_| "damaged, or larger than it says")?
            }
            other => return Err(format!("packed in a way that is not offered ({other:?})")),
        };
        let claim = found.claim_verifier();
        if claim.uncompressed_size != data.len() as u64 || claim.crc != rawzip::crc32(&data) {
            return Err("damaged: its checksum or its size is another".to_owned());
        }
        Ok(data)
    }
}

/// The text of a file in an archive, or in one within it: `path` begins with [`INSIDE`], as places have it behind the
/// path of the archive.
///
/// Errors: a sentence, where there is no such file, or it is too large, damaged, or no UTF-8.
pub fn text(bytes: &[u8], path: &str) -> Result<String, String> {
    let mut bytes = bytes.to_vec();
    // Each unpacks within its own bounds, so that so many archives in each other end.
    for name in path.split(INSIDE).skip(1).take(DEPTH) {
        let found = Archive::open(&bytes)?.read(name)?;
        bytes = found.ok_or_else(|| format!("{name}: there is no such file in the archive"))?;
    }
    String::from_utf8(bytes).map_err(|_| "the file is no UTF-8".to_owned())
}

#[cfg(test)]
mod tests {
    use myelin_testkit::pack;

    use super::*;

    #[test]
    fn files_come_out_as_they_went_in() {
        let packed = pack(&[("a/b.xml", b"<b/>"), ("c", &[b'x'; 5000])]);
        let archive = Archive::open(&packed).unwrap();
        assert_eq!(archive.names().collect::<Vec<_>>(), ["a/b.xml", "c"]);
        assert_eq!(archive.read("a/b.xml").unwrap().as_deref(), Some(&b"<b/>"[..]));
        assert_eq!(archive.read("c").unwrap().unwrap().len(), 5000);
        assert_eq!(archive.read("d"), Ok(None));
    }

    #[test]
    fn a_file_in_an_archive_within_an_archive_is_found() {
        let packed = pack(&[("in.zip", &pack(&[("a/b.xml", b"<b/>")])), ("c", b"\xff")]);
        assert_eq!(text(&packed, "!/in.zip!/a/b.xml").as_deref(), Ok("<b/>"));
        assert!(text(&packed, "!/d").is_err() && text(&packed, "!/c").is_err() && text(&packed, "!/c!/d").is_err());
    }

    #[test]
    fn what_is_hostile_or_damaged_is_refused() {
        let refused = |bytes: &[u8], part: &str| {
            let error = Archive::open(bytes).and_then(|archive| {
                let names: Vec<String> = archive.names().map(str::to_owned).collect();
                names.iter().try_for_each(|name| archive.read(name).map(drop))
            });
            let error = error.unwrap_err();
            assert!(error.contains(part), "{part:?} is not in {error:?}");
        };
        refused(b"PK, or so", "no sound archive");
        // What packs here makes names harmless; others do not.
        let named = |harmless: &str, name: &[u8]| {
            let mut packed = pack(&[(harmless, b"")]);
            for at in 0..packed.len() - name.len() {
                if packed[at..].starts_with(harmless.as_bytes()) {
                    packed[at..at + name.len()].copy_from_slice(name);
                }
            }
            packed
        };
        refused(&named("a/bb/passwd", b"a/../passwd"), "leads out");
        refused(&named("a_bb_passwd", b"a\\..\\passwd"), "leads out");
        refused(&named("xetc/passwd", b"/etc/passwd"), "leads out");
        refused(&named("C__x", b"C:/x"), "leads out");
        refused(&named("abc", b"\xff\xfe\xfd"), "not valid UTF-8");
        refused(&pack(&[("a", b"1"), ("a", b"2")]), "twice");
        refused(&pack(&[("zeros", &vec![0; 4 << 20])]), "no file of a configuration");
        refused(&pack(&[("zeros", &vec![0; 17 << 20])]), "larger than");
        let mut packed = pack(&[("a", b"<some>text</some>")]);
        let at = packed.windows(4).position(|it| it == b"PK\x01\x02").unwrap();
        // The checksum in the directory.
        packed[at + 16] ^= 1;
        refused(&packed, "damaged");
        let many: Vec<String> = (0..=ENTRIES).map(|number| number.to_string()).collect();
        let many: Vec<(&str, &[u8])> = many.iter().map(|name| (name.as_str(), &b""[..])).collect();
        refused(&pack(&many), "more than 10000 files");
    }

    #[test]
    fn no_damage_makes_reading_panic() {
        let packed = pack(&[("a/b.xml", b"<b/>"), ("c", &[b'x'; 500])]);
        for at in 0..packed.len() {
            for by in [1, 0x80, 0xff] {
                let mut damaged = packed.clone();
                damaged[at] ^= by;
                if let Ok(archive) = Archive::open(&damaged) {
                    archive.names().for_each(|name| drop(archive.read(name)));
                }
            }
            if let Ok(archive) = Archive::open(&packed[..at]) {
                archive.names().for_each(|name| drop(archive.read(name)));
            }
        }
    }
}
