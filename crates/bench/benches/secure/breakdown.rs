//! What of an exchange is what: each kind of work done by itself on the same bytes, beside the whole.

use std::hint::black_box;
use std::path::Path;

use anyhow::Context;
use myelin_bench::statistics::median;
use myelin_bench::units;
use myelin_soap::Envelope;
use myelin_wss::algorithm::{BlockCipher, DigestMethod, KeyBits, KeyTransport, SignatureMethod};
use myelin_wss::crypto::{decrypt, digest, encrypt};
use myelin_xml::c14n::{Canonical, Method, Sink, Subset, canonicalize};
use myelin_xml::{Arena, Document, Options};

use super::common::{Message, cpu_nanoseconds};
use super::myelin::Myelin;
use super::{Arguments, Profile, keys};

/// Takes a canonical form and does nothing with it.
struct Nothing;

impl Sink for Nothing {
    fn write(&mut self, bytes: &[u8]) {
        black_box(bytes);
    }
}

/// Prints for each profile what an exchange consists of, in microseconds.
pub(super) fn tables(arguments: &Arguments, folder: &Path, key_folder: &Path) -> anyhow::Result<()> {
    println!("One thread, CPU time in µs, medians of {} rounds.", arguments.rounds);
    let mut ours = Myelin::new(key_folder.to_owned());
    for &profile in &arguments.profiles {
        println!(
            "\n`{}`\n\n| size | request | answer | RSA or ECDSA | digest | cipher | C14N | parse | the rest |",
            profile.name()
        );
        println!("|---|---|---|---|---|---|---|---|---|");
        for &size in &arguments.sizes {
            let message = Message::new(folder, size)?;
            let mut rounds = vec![Vec::new(); 7];
            for _ in 0..arguments.rounds {
                let whole = whole(&mut ours, profile, &message.bytes, arguments.turn)?;
                let parts = parts(profile, &message.bytes, key_folder, arguments.turn)?;
                for (row, value) in rounds.iter_mut().zip(whole.into_iter().chain(parts)) {
                    row.push(value);
                }
            }
            let medians: Vec<f64> = rounds.iter().map(|row| median(row) / 1e3).collect();
            let (whole, parts) = medians.split_at(2);
            let rest = whole.iter().sum::<f64>() - parts.iter().sum::<f64>();
            let shown: Vec<String> = medians.iter().chain([&rest]).map(|value| format!("{value:.1}")).collect();
            println!("| {} | {} |", units::show_size(size), shown.join(" | "));
        }
    }
    Ok(())
}

/// The nanoseconds of an exchange: of its request, and of its answer.
fn whole(ours: &mut Myelin, profile: Profile, plain: &[u8], turn: u64) -> anyhow::Result<[f64; 2]> {
    let (mut count, mut nanoseconds) = (0, [0; 2]);
    while nanoseconds.iter().sum::<u64>() < turn * 1_000_000 {
        let [request, answer, _] = ours.exchanges(profile, plain, 10)?;
        nanoseconds = [nanoseconds[0] + request, nanoseconds[1] + answer];
        count += 10;
    }
    Ok(nanoseconds.map(|nanoseconds| nanoseconds as f64 / f64::from(count)))
}

/// The nanoseconds of each kind of work: two signatures and two encrypted keys, one of each on either side, two digests
/// of the body, its encryption and decryption, two canonical forms, and what has to be parsed.
fn parts(profile: Profile, plain: &[u8], key_folder: &Path, turn: u64) -> anyhow::Result<[f64; 5]> {
    let own = keys::identity(key_folder, &format!("bob{}", profile.people()))?;
    let (client, _) = keys::guards(key_folder, profile)?;
    let request = Myelin::request(&client, plain)?;
    let options = Options::default();
    let document = Document::parse(plain.to_vec(), &options)?;
    let body = Envelope::of(&document).and_then(|envelope| envelope.body).context("the message has a body")?;
    let subset = Subset { apex: body, excluded: &[] };
    let how = Canonical::new(Method::Exclusive);
    let mut form = Vec::new();
    canonicalize(&document, subset, &how, &mut form)?;
    let (signs, hashes, cipher, transport) = match profile {
        Profile::Modern => (
            SignatureMethod::Rsa(DigestMethod::Sha256),
            DigestMethod::Sha256,
            Some(BlockCipher::AesGcm(KeyBits::Bits128)),
            KeyTransport::RsaOaep { digest: DigestMethod::Sha1, mask: DigestMethod::Sha1 },
        ),
        Profile::Legacy => (
            SignatureMethod::Rsa(DigestMethod::Sha1),
            DigestMethod::Sha1,
            Some(BlockCipher::AesCbc(KeyBits::Bits128)),
            KeyTransport::Rsa15,
        ),
        Profile::Ecdsa => {
            (SignatureMethod::Ecdsa(DigestMethod::Sha256), DigestMethod::Sha256, None, KeyTransport::Rsa15)
        }
    };
    let (key, public, signed) = ([7; 16], own.key.public(), [7; 1500]);
    let signature = own.key.sign(signs, &signed)?;
    let encrypted_key = cipher.map(|_| public.encrypt(transport, &key)).transpose()?;
    let asymmetric = each(turn, || {
        black_box(own.key.sign(signs, black_box(&signed))?);
        public.verify(signs, &signed, black_box(&signature))?;
        if let Some(encrypted_key) = &encrypted_key {
            black_box(public.encrypt(transport, black_box(&key))?);
            black_box(own.key.decrypt(transport, black_box(encrypted_key), Some(16))?);
        }
        Ok(())
    })?;
    let digests = each(turn, || {
        black_box(digest(hashes, black_box(&form)));
        black_box(digest(hashes, black_box(&form)));
        Ok(())
    })?;
    let mut ciphertext = Vec::new();
    let ciphers = match cipher {
        Some(cipher) => each(turn, || {
            ciphertext.clear();
            encrypt(cipher, &key, black_box(&form), &mut ciphertext)?;
            Ok(decrypt(cipher, &key, &mut ciphertext)?)
        })?,
        None => 0.0,
    };
    let canonical = each(turn, || {
        canonicalize(&document, subset, &how, &mut Nothing)?;
        Ok(canonicalize(&document, subset, &how, &mut Nothing)?)
    })?;
    let mut arena = Arena::default();
    // The request, what it is decrypted, and the answer.
    let sources = [&request[..], plain, plain];
    let wanted = if cipher.is_some() { &sources[..] } else { &sources[..2] };
    let parse = each(turn, || {
        for source in wanted {
            arena = Document::parse_in(source.to_vec(), &options, std::mem::take(&mut arena))?.into_arena();
        }
        Ok(())
    })?;
    Ok([asymmetric, digests, ciphers, canonical, parse])
}

/// The nanoseconds of some work, repeated for a fifth of a turn.
fn each(turn: u64, mut work: impl FnMut() -> anyhow::Result<()>) -> anyhow::Result<f64> {
    work()?;
    let (start, mut count) = (cpu_nanoseconds(), 0);
    loop {
        work()?;
        count += 1;
        let spent = cpu_nanoseconds() - start;
        if spent > turn * 200_000 {
            return Ok(spent as f64 / f64::from(count));
        }
    }
}
