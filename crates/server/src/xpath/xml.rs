//! XPath on XML documents: in one pass as far as the decision, or on a tree.

use std::io;
use std::path::PathBuf;

use myelin_xml::doctype::DoctypeOptions;
use myelin_xpath::{Context, Expression, Limits, Meter, NodeRef, Version};
use myelin_xslt::{Library, LibraryScope, LibraryStore};

use super::bindings::{Bindings, Hosts};
use super::printer::Printer;
use super::stream::Pass;
use super::{Arguments, misplaced};
use crate::clock;
use crate::reading::{Complaint, Documents, is_standard_input};

/// Who typed the expression waits for it and may interrupt it; what grows is still bounded.
const LIMITS: Limits = Limits { steps: 10_000_000_000, bytes: 1 << 30 };

/// The code of an expression with a prefix that stands for nothing (XPath 3.1 appendix G).
const UNBOUND_PREFIX: &str = "XPST0081";

/// An expression, and how to ask it.
pub(super) struct Question {
    expression: Expression,
    bindings: Bindings,
    /// Only where one pass may be enough.
    pass: Option<Pass>,
}

impl Question {
    /// Errors: a sentence; the typist's.
    pub(super) fn new(arguments: &Arguments) -> Result<Question, String> {
        let mut bindings = Bindings::new(&arguments.namespaces, &arguments.variables, arguments.version.into());
        let expression = Expression::compile(&arguments.expression, &mut bindings).map_err(|error| {
            let hint = if error.code == UNBOUND_PREFIX { "; here, --ns PREFIX=URI says it" } else { "" };
            misplaced(&arguments.expression, error.offset, &format!("{}{hint}", error.message))
        })?;
        let pass = match Pass::new(&expression) {
            Ok(pass) => Some(pass),
            Err(reason) if arguments.stream => return Err(format!("the expression cannot be streamed: {reason}")),
            Err(_) => None,
        };
        Ok(Question { expression, bindings, pass: pass.filter(|_| !arguments.tree) })
    }

    /// Prints what a document answers; whether it is something.
    ///
    /// Errors: the outer ones are of printing, the inner ones the document's.
    pub(super) fn ask(
        &self,
        arguments: &Arguments,
        file: &PathBuf,
        printer: &mut Printer<'_>,
    ) -> io::Result<Result<bool, Complaint>> {
        // What was read of standard input is gone should the pass find that it needs a tree after all.
        let pass = self.pass.as_ref().filter(|_| arguments.stream || !is_standard_input(file));
        let answer = match pass {
            Some(pass) => pass.run(&arguments.documents, file, &self.bindings),
            None => Ok(None),
        };
        match answer {
            Ok(Some(value)) => printer.value(file, &value).map(|()| Ok(value.boolean())),
            Ok(None) if arguments.stream => Ok(Err(Complaint::about(file, "this document needs --tree"))),
            Ok(None) => self.ask_tree(&arguments.documents, file, printer),
            Err(complaint) => Ok(Err(complaint)),
        }
    }

    fn ask_tree(
        &self,
        documents: &Documents,
        file: &PathBuf,
        printer: &mut Printer<'_>,
    ) -> io::Result<Result<bool, Complaint>> {
        let read = documents
            .files([file])
            .and_then(|files| Ok((documents.document(file, &files, &DoctypeOptions::default())?, files)));
        let (document, files) = match read {
            Ok(read) => read,
            Err(complaint) => return Ok(Err(complaint)),
        };
        let uri = file.to_string_lossy();
        let store = LibraryStore::new(LibraryScope {
            namespaces: self.bindings.namespaces.clone(),
            base: uri.clone().into_owned(),
            later: self.expression.version() != Version::V1,
        });
        let meter = Meter::default();
        let library = Library::new(&store, &self.bindings.calls, &files, clock::now(), (&meter, LIMITS));
        library.add_document(&uri, &document);
        let hosts = Hosts { bindings: &self.bindings, library: &library };
        let context = Context { limits: LIMITS, now: clock::now(), meter: Some(&meter), ..Context::new(&hosts) };
        match self.expression.evaluate(&context.at(NodeRef::new(&document, document.document_node()))) {
            Ok(value) => printer.value(file, &value).map(|()| Ok(value.boolean())),
            Err(error) => Ok(Err(Complaint::about(file, error))),
        }
    }
}
