//! Why the text of an expression is refused.

use myelin_config::element::Text;
use myelin_config::problem::Problem;
use myelin_xpath::SyntaxError;

/// Why the text of an expression is refused.
pub(crate) struct CompileError {
    /// The byte of the text where it is wrong.
    pub(crate) offset: usize,
    /// What is wrong, in one sentence.
    pub(crate) message: String,
    /// Whether Synapse finds out only when it evaluates the expression: the text is well-formed, but names what is not
    /// there.
    is_latent: bool,
}

impl CompileError {
    /// A text that is not well-formed.
    pub(crate) fn new(offset: usize, message: impl Into<String>) -> CompileError {
        CompileError { offset, message: message.into(), is_latent: false }
    }

    /// A name for which there is nothing.
    pub(crate) fn missing(offset: usize, message: impl Into<String>) -> CompileError {
        CompileError { is_latent: true, ..CompileError::new(offset, message) }
    }

    /// The same where the text begins at that byte of a longer one.
    pub(crate) fn behind(self, start: usize) -> CompileError {
        CompileError { offset: start + self.offset, ..self }
    }

    /// The same as a problem of the configuration.
    pub(crate) fn problem(self, text: Text<'_>) -> Problem {
        let message = format!("expression {:?}: {}", shortened(text.value), self.message);
        let problem = Problem::new(text.place(self.offset), message);
        if self.is_latent { problem.latent() } else { problem }
    }
}

impl From<(usize, String)> for CompileError {
    fn from((offset, message): (usize, String)) -> CompileError {
        CompileError::new(offset, message)
    }
}

/// Prefixes, functions and variables are looked up when the expression is evaluated, as in Jaxen.
impl From<SyntaxError> for CompileError {
    fn from(error: SyntaxError) -> CompileError {
        match error.code {
            "XPST0081" | "XPST0017" | "XPST0008" => CompileError::missing(error.offset, error.message),
            _ => CompileError::new(error.offset, error.message),
        }
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
