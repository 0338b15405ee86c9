//! XPath: the W3C's suite for 2.0 and later (QT3), and XPath 1.0 against `xmllint`.

mod assertion;
mod environment;
mod oracle;
mod qt3;
