//! ZIP archives for tests.

use rawzip::CompressionMethod;

/// Packs files, each with its name, as tools that make archives do.
pub fn pack(files: &[(&str, &[u8])]) -> Vec<u8> {
    use std::io::Write;
    let mut packed = Vec::new();
    let mut archive = rawzip::ZipArchiveWriter::new(&mut packed);
    for (name, data) in files {
        let new = archive.new_file(name).compression_method(CompressionMethod::DEFLATE);
        let (mut entry, config) = new.start().expect("a vector takes every byte");
        let mut writer = config.wrap(Vec::new());
        writer.write_all(data).expect("a vector takes every byte");
        let (_, descriptor) = writer.finish().expect("a vector takes every byte");
        entry.write_all(&miniz_oxide::deflate::compress_to_vec(data, 6)).expect("a vector takes every byte");
        entry.finish(descriptor).expect("a vector takes every byte");
    }
    archive.finish().expect("a vector takes every byte");
    packed
}
