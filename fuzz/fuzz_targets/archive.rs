#![no_main]
//! Whatever an archive holds, loading ends with a report in which everything has its place.

use libfuzzer_sys::fuzz_target;
use myelin_fuzz::load_archive;

fuzz_target!(|bytes: &[u8]| {
    load_archive(bytes);
});
