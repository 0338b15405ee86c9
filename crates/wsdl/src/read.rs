//! From documents to what they describe, whatever their version.

use crate::described::{Description, Port};
use crate::documents::Documents;
use crate::error::{Error, ErrorKind};
use crate::{WSDL20, rpc, wsdl11, wsdl20};

impl Description {
    /// Reads what documents describe.
    ///
    /// Shape: the interface of the first service's best port (SOAP 1.2, SOAP 1.1, any other); without services, the
    /// first interface.
    /// Errors: [`Error`] where a message, binding or interface is missing, or where there are no operations.
    pub fn read(documents: &Documents) -> Result<Description, Error> {
        let root = documents.root();
        let name = root.tree.qname(root.element);
        let mut description =
            if name.namespace == WSDL20 { wsdl20::read(documents)? } else { wsdl11::read(documents)? };
        if description.operations.is_empty() {
            return Err(Error::whole(&root.uri, ErrorKind::Empty));
        }
        rpc::wrap(&mut description);
        Ok(description)
    }

    /// The ports that documents describe, without looking at anything else in them.
    pub fn ports(documents: &Documents) -> Vec<Port> {
        let root = documents.root();
        match root.tree.qname(root.element).namespace {
            WSDL20 => wsdl20::ports(documents),
            _ => wsdl11::ports(documents),
        }
    }
}
