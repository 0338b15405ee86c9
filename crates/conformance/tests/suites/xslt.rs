//! XSLT: the W3C's suite, libxslt's tests, and stylesheets by chance against `xsltproc`.

pub(crate) mod compare;
mod engine;
mod generate;
mod libxslt;
mod oracle;
mod w3c;
mod xsltproc;
