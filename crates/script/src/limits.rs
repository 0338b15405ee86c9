//! What a run may take.

/// How much a script may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How much memory its values may take, in bytes.
    pub memory_bytes: usize,
    /// How deep its calls may go, in bytes of the thread's stack; the thread must have that much, and as much again.
    pub stack_bytes: usize,
}

impl Default for Limits {
    /// 64 MiB of memory, and a stack of 256 KiB, which is about a thousand calls deep.
    fn default() -> Limits {
        Limits { memory_bytes: 64 << 20, stack_bytes: 256 << 10 }
    }
}

/// What a run may take.
pub struct Terms {
    /// What it may ask for.
    pub limits: Limits,
    /// How often it may be looked at, about ten thousand steps apart, before it is given up with
    /// [`Error::Long`](crate::Error::Long), as it is when it asks for more than 8 MiB; `None` as often as it takes.
    pub polls: Option<u32>,
    /// Whether its time is over.
    pub expired: Box<dyn Fn() -> bool + Send>,
}
