//! The numbers by which flows refer to what a configuration defines.

/// Which of the bus's named sequences.
pub type SequenceId = usize;

/// Which of the bus's sequence templates.
pub type TemplateId = usize;
