//! One coding of a body, undone as the bytes come, by a library for each.

use std::fmt;
use std::io::{self, Write};

use brotli_decompressor::DecompressorWriter;
use flate2::write::MultiGzDecoder;
use flate2::{Decompress, FlushDecompress, Status};
use zstd::stream::raw::{Decoder, InBuffer, Operation, OutBuffer};
use zstd::zstd_safe::DParameter;

use super::Coding;

/// What is decoded in one call of a library.
const BUFFER_BYTES: usize = 8 << 10;
/// The largest window of zstd in HTTP, as a power of two (RFC 9659 §3).
const ZSTD_WINDOW: u32 = 23;

/// Why a stage cannot go on.
#[derive(Debug)]
pub(super) enum Failure {
    /// The bytes are not in the coding.
    Broken(&'static str),
    /// There is more than may be.
    Full,
}

/// One coding on its way.
pub(super) enum Stage {
    Gzip(Box<MultiGzDecoder<Sink>>),
    Deflate(Deflate),
    Brotli(Box<DecompressorWriter<Sink>>, Progress),
    Zstd(Decoder<'static>, Progress),
}

/// Where a stream of bytes is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    Open,
    Ended,
}

/// `deflate` is the format zlib by the standard, and bare DEFLATE by some who send it: the first two bytes tell.
pub(super) struct Deflate {
    start: Vec<u8>,
    decompress: Option<Decompress>,
    progress: Progress,
}

/// Where decoded bytes go, as far as there is room.
pub(super) struct Sink {
    bytes: Vec<u8>,
    room: usize,
    is_full: bool,
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() > self.room.saturating_sub(self.bytes.len()) {
            self.is_full = true;
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Stage {
    /// The beginning of a stream; `None` for a coding that is not known.
    pub(super) fn of(coding: Coding) -> Option<Stage> {
        let sink = || Sink { bytes: Vec::new(), room: 0, is_full: false };
        Some(match coding {
            Coding::Gzip => Stage::Gzip(Box::new(MultiGzDecoder::new(sink()))),
            Coding::Deflate => {
                Stage::Deflate(Deflate { start: Vec::new(), decompress: None, progress: Progress::Open })
            }
            Coding::Brotli => Stage::Brotli(Box::new(DecompressorWriter::new(sink(), BUFFER_BYTES)), Progress::Open),
            Coding::Zstd => {
                // Only a lack of memory makes this fail; then the coding is as good as unknown.
                let mut decoder = Decoder::new().ok()?;
                decoder.set_parameter(DParameter::WindowLogMax(ZSTD_WINDOW)).ok()?;
                Stage::Zstd(decoder, Progress::Open)
            }
            Coding::Unknown => return None,
        })
    }

    fn name(&self) -> &'static str {
        match self {
            Stage::Gzip(_) => "gzip",
            Stage::Deflate(_) => "deflate",
            Stage::Brotli(..) => "br",
            Stage::Zstd(..) => "zstd",
        }
    }

    /// Appends what bytes become; `into` may become as long as `room`.
    pub(super) fn push(&mut self, bytes: &[u8], into: &mut Vec<u8>, room: usize) -> Result<(), Failure> {
        let broken = Failure::Broken(self.name());
        match self {
            Stage::Gzip(decoder) => {
                let sink = decoder.get_mut();
                (sink.bytes, sink.room) = (std::mem::take(into), room);
                // Flushed, for what was decoded is to be seen before the next bytes come.
                let written = decoder.write_all(bytes).and_then(|()| decoder.flush());
                let sink = decoder.get_mut();
                *into = std::mem::take(&mut sink.bytes);
                let is_full = sink.is_full;
                written.map_err(|_| if is_full { Failure::Full } else { broken })
            }
            Stage::Brotli(decoder, _) => {
                let sink = decoder.get_mut();
                (sink.bytes, sink.room) = (std::mem::take(into), room);
                let written = decoder.write_all(bytes);
                let sink = decoder.get_mut();
                *into = std::mem::take(&mut sink.bytes);
                let is_full = sink.is_full;
                written.map_err(|_| if is_full { Failure::Full } else { broken })
            }
            Stage::Deflate(deflate) => deflate.push(bytes, into, room),
            Stage::Zstd(decoder, progress) => {
                let mut buffer = [0; BUFFER_BYTES];
                let mut input = InBuffer::around(bytes);
                loop {
                    let mut output = OutBuffer::around(&mut buffer[..]);
                    let Ok(hint) = decoder.run(&mut input, &mut output) else { return Err(broken) };
                    // A frame has ended where nothing more is wanted; another may follow.
                    *progress = if hint == 0 { Progress::Ended } else { Progress::Open };
                    let made = output.as_slice();
                    append(made, into, room)?;
                    let is_drained = made.len() < BUFFER_BYTES || hint == 0;
                    if input.pos() == bytes.len() && is_drained {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// The coding, where its stream has not ended though the body has.
    pub(super) fn unfinished(&mut self) -> Option<&'static str> {
        let is_finished = match self {
            Stage::Gzip(decoder) => decoder.try_finish().is_ok(),
            Stage::Deflate(deflate) => deflate.progress == Progress::Ended,
            Stage::Brotli(decoder, progress) => {
                // The library tells it once.
                if *progress == Progress::Open && decoder.close().is_ok() {
                    *progress = Progress::Ended;
                }
                *progress == Progress::Ended
            }
            Stage::Zstd(_, progress) => *progress == Progress::Ended,
        };
        (!is_finished).then(|| self.name())
    }
}

impl Deflate {
    fn push(&mut self, bytes: &[u8], into: &mut Vec<u8>, room: usize) -> Result<(), Failure> {
        if let Some(decompress) = &mut self.decompress {
            return inflate(decompress, &mut self.progress, bytes, into, room);
        }
        self.start.extend_from_slice(bytes);
        let [first, second, ..] = self.start[..] else { return Ok(()) };
        // RFC 1950 §2.2: method 8, and a multiple of 31.
        let is_zlib = first & 0x0f == 8 && u16::from_be_bytes([first, second]) % 31 == 0;
        let decompress = self.decompress.insert(Decompress::new(is_zlib));
        let start = std::mem::take(&mut self.start);
        inflate(decompress, &mut self.progress, &start, into, room)
    }
}

fn inflate(
    decompress: &mut Decompress,
    progress: &mut Progress,
    mut bytes: &[u8],
    into: &mut Vec<u8>,
    room: usize,
) -> Result<(), Failure> {
    const BROKEN: Failure = Failure::Broken("deflate");
    let mut buffer = [0; BUFFER_BYTES];
    loop {
        if *progress == Progress::Ended {
            return if bytes.is_empty() { Ok(()) } else { Err(BROKEN) };
        }
        let before = (decompress.total_in(), decompress.total_out());
        let status = decompress.decompress(bytes, &mut buffer, FlushDecompress::None).map_err(|_| BROKEN)?;
        // Neither is more than the slices that were given.
        let taken = (decompress.total_in() - before.0) as usize;
        let made = (decompress.total_out() - before.1) as usize;
        bytes = &bytes[taken..];
        append(&buffer[..made], into, room)?;
        match status {
            Status::StreamEnd => *progress = Progress::Ended,
            _ if made == BUFFER_BYTES => {}
            _ if bytes.is_empty() => return Ok(()),
            _ if taken == 0 && made == 0 => return Err(BROKEN),
            _ => {}
        }
    }
}

fn append(made: &[u8], into: &mut Vec<u8>, room: usize) -> Result<(), Failure> {
    if made.len() > room.saturating_sub(into.len()) {
        return Err(Failure::Full);
    }
    into.extend_from_slice(made);
    Ok(())
}

impl fmt::Debug for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
