//! What an expression may refer to when it is compiled, and what it asks for while it runs.

/// By which rules an expression runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// XPath 1.0: numbers are doubles and print without exponent, a node-set is its first node where one value is
    /// asked for. What later versions added can be written all the same.
    #[default]
    V1,
    /// XPath 2.0: values have types, and what does not fit is an error.
    V2,
    /// XPath 3.0 and 3.1, as far as this library has them.
    V3,
}

/// What an expression may refer to; asked when it is compiled, never while it runs.
pub trait Environment {
    /// The namespace that a prefix of the expression stands for; `None`: nothing.
    ///
    /// `xml`, `xs`, `fn` and `math` are known where this knows nothing of them.
    fn namespace(&self, prefix: &str) -> Option<String>;

    /// The namespace of element names without a prefix: none in XPath 1.0, `xpath-default-namespace` in XSLT 2.0.
    fn default_namespace(&self) -> Option<String> {
        None
    }

    /// The host's own number for the variable `$prefix:local`.
    ///
    /// The prefix is as it is written and need not stand for a namespace; of `$Q{uri}local` it is `Q{uri}`. Errors: a
    /// sentence for the user.
    fn variable(&mut self, prefix: Option<&str>, local: &str) -> Result<u32, String>;

    /// Whether a function that is made while an expression runs has to keep the value that the variable in this slot has
    /// then: the slot means another variable when the function is called.
    fn is_passing(&self, _slot: u32) -> bool {
        false
    }

    /// A function that this library does not know, with its arguments as far as they are literals.
    ///
    /// `name` is as it is written, with its prefix; `namespace` what the prefix stands for. `Ok(None)`: the host does
    /// not know it either. Errors: a sentence for the user.
    fn function(
        &mut self,
        name: &str,
        namespace: Option<&str>,
        arguments: &[Argument<'_>],
    ) -> Result<Option<Declared>, String>;

    /// Told before the body of a function inside the expression is read: it runs when that function is called.
    fn enters_function(&mut self) {}

    /// Told behind the body of a function inside the expression.
    fn leaves_function(&mut self) {}

    /// The host's own number for an exact name, where one table serves many expressions: a running expression finds it
    /// in [`Context::names`](crate::Context::names). `None`: the expression numbers its names itself.
    ///
    /// Errors: none; a host that numbers names has to number all of them.
    fn name(&mut self, _namespace: &str, _local: &str) -> Option<u32> {
        None
    }

    /// By which rules the expression runs.
    fn version(&self) -> Version {
        Version::V1
    }
}

/// An argument of a function as it is known when the expression is compiled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Argument<'e> {
    /// A text between quotes.
    Text(&'e str),
    /// A number.
    Number(f64),
    /// Anything that is known only when the expression runs.
    Dynamic,
}

/// What a function of the host is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Declared {
    /// The arguments say all, and it is read like the variable with this slot: `get-property('x')`.
    Variable(u32),
    /// A function that is called with its arguments whenever the expression comes to it.
    Function(u32),
    /// The item that the whole expression started from, wherever it is asked for: `current()` of XSLT.
    Current,
}
