//! Objects that Java wrote: only to get past them, as nothing says how long they are.
//!
//! JCEKS stores keep secret keys so. Nothing is made of an object, and each step reads at least a byte, so whatever the
//! bytes say costs no more than their number.
//!
//! Source: Java Object Serialization Specification §6.4.

use super::error::KeyStoreError;
use super::input::Input;

/// How deep objects may lie in objects.
const NESTING_MAX: usize = 32;

const NULL: u8 = 0x70;
const REFERENCE: u8 = 0x71;
const CLASS: u8 = 0x72;
const OBJECT: u8 = 0x73;
const STRING: u8 = 0x74;
const ARRAY: u8 = 0x75;
const BLOCK: u8 = 0x77;
const END_OF_BLOCKS: u8 = 0x78;
const LONG_BLOCK: u8 = 0x7a;

/// The class writes more than its fields.
const WRITES_MORE: u8 = 0x01;
/// The class writes its fields itself, in a way that only it knows.
const EXTERNAL: u8 = 0x04;

/// More things that could be referred to are no secret key.
const KNOWN_MAX: usize = 1000;

/// Java's number of the first thing that can be referred to.
const FIRST_REFERENCE: u32 = 0x7e_0000;

/// A class as the stream describes it.
#[derive(Default)]
struct Class {
    flags: u8,
    /// The first letter of each field's type.
    fields: Vec<u8>,
    /// Of what an array holds, the first letter.
    element: Option<u8>,
    /// The class above, by its place in [`Stream::known`].
    above: Option<usize>,
}

struct Stream<'a, 'b> {
    input: &'a mut Input<'b>,
    /// What references mean, in the order in which it came; `None` for what is no class.
    known: Vec<Option<Class>>,
}

/// Reads over one object with the header of its stream.
pub(super) fn skip_object(input: &mut Input<'_>) -> Result<(), KeyStoreError> {
    if input.take(4)? != [0xac, 0xed, 0x00, 0x05] {
        return Err(input.malformed("a secret key is no Java object"));
    }
    let kind = input.byte()?;
    Stream { input, known: Vec::new() }.content(kind, NESTING_MAX)
}

impl Stream<'_, '_> {
    fn content(&mut self, kind: u8, nesting: usize) -> Result<(), KeyStoreError> {
        let nesting = self.deeper(nesting)?;
        if self.known.len() > KNOWN_MAX {
            return Err(self.unknown());
        }
        match kind {
            NULL => Ok(()),
            REFERENCE => self.input.take(4).map(drop),
            OBJECT => self.object(nesting),
            STRING => {
                self.known.push(None);
                self.input.text().map(drop)
            }
            ARRAY => self.array(nesting),
            BLOCK => {
                let bytes = self.input.byte()?;
                self.input.take(usize::from(bytes)).map(drop)
            }
            LONG_BLOCK => {
                let bytes = self.input.long()?;
                self.input.take(bytes as usize).map(drop)
            }
            _ => Err(self.unknown()),
        }
    }

    fn object(&mut self, nesting: usize) -> Result<(), KeyStoreError> {
        let mut class = self.class(nesting)?;
        self.known.push(None);
        // A class may name itself as the one above it, so this has an end of its own.
        let mut classes = Vec::new();
        while let Some(at) = class {
            if classes.len() == NESTING_MAX {
                return Err(self.unknown());
            }
            classes.push(at);
            class = self.known.get(at).and_then(Option::as_ref).and_then(|class| class.above);
        }
        for at in classes.into_iter().rev() {
            let Some(Some(class)) = self.known.get(at) else { return Err(self.unknown()) };
            if class.flags & EXTERNAL != 0 {
                return Err(self.unknown());
            }
            let writes_more = class.flags & WRITES_MORE != 0;
            for field in class.fields.clone() {
                self.value(field, nesting)?;
            }
            if writes_more {
                self.blocks(nesting)?;
            }
        }
        Ok(())
    }

    fn array(&mut self, nesting: usize) -> Result<(), KeyStoreError> {
        let class = self.class(nesting)?.and_then(|at| self.known[at].as_ref());
        let element = class.and_then(|class| class.element).ok_or(self.unknown())?;
        self.known.push(None);
        for _ in 0..self.input.long()? {
            self.value(element, nesting)?;
        }
        Ok(())
    }

    /// A value of a type that is known by its first letter.
    fn value(&mut self, kind: u8, nesting: usize) -> Result<(), KeyStoreError> {
        let bytes = match kind {
            b'B' | b'Z' => 1,
            b'C' | b'S' => 2,
            b'F' | b'I' => 4,
            b'D' | b'J' => 8,
            b'L' | b'[' => {
                let kind = self.input.byte()?;
                return self.content(kind, nesting);
            }
            _ => return Err(self.unknown()),
        };
        self.input.take(bytes).map(drop)
    }

    /// What classes write beside their fields, up to its end.
    fn blocks(&mut self, nesting: usize) -> Result<(), KeyStoreError> {
        loop {
            match self.input.byte()? {
                END_OF_BLOCKS => return Ok(()),
                kind => self.content(kind, nesting)?,
            }
        }
    }

    /// A class, or none, by its place in `known`.
    fn class(&mut self, nesting: usize) -> Result<Option<usize>, KeyStoreError> {
        let nesting = self.deeper(nesting)?;
        match self.input.byte()? {
            NULL => Ok(None),
            REFERENCE => {
                let at = self.input.long()?.wrapping_sub(FIRST_REFERENCE) as usize;
                if !matches!(self.known.get(at), Some(Some(_))) {
                    return Err(self.unknown());
                }
                Ok(Some(at))
            }
            CLASS => {
                let name = self.input.text()?;
                // The number of its version.
                self.input.take(8)?;
                let at = self.known.len();
                self.known.push(Some(Class::default()));
                let flags = self.input.byte()?;
                let mut fields = Vec::new();
                for _ in 0..self.input.short()? {
                    let kind = self.input.byte()?;
                    self.input.text()?;
                    if matches!(kind, b'L' | b'[') {
                        self.value(kind, nesting)?;
                    }
                    fields.push(kind);
                }
                self.blocks(nesting)?;
                let above = self.class(nesting)?;
                let element = name.strip_prefix('[').and_then(|rest| rest.bytes().next());
                self.known[at] = Some(Class { flags, fields, element, above });
                Ok(Some(at))
            }
            _ => Err(self.unknown()),
        }
    }

    fn deeper(&self, nesting: usize) -> Result<usize, KeyStoreError> {
        nesting.checked_sub(1).ok_or_else(|| self.input.malformed("the object of a secret key is too deep"))
    }

    fn unknown(&self) -> KeyStoreError {
        self.input.malformed("the object of a secret key is not as Java writes one")
    }
}
