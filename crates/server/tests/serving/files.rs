//! Files through the binary: processes that are killed, several on one folder, and files larger than memory.
//!
//! `MYELIN_HEAVY=1` lets them be as many and as large as the aims say; without it they are fewer and smaller.

mod checked;
mod killed;
mod large;
mod odd;
mod reload;
mod shared;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::support::definitions;
use tempfile::TempDir;

/// One of two sizes: that of every day, and that of `MYELIN_HEAVY`.
fn size<T>(light: T, heavy: T) -> T {
    if std::env::var_os("MYELIN_HEAVY").is_some() { heavy } else { light }
}

/// How long a test waits for many files, on a machine with other things to do.
fn patience() -> Duration {
    size(Duration::from_secs(120), Duration::from_secs(1800))
}

/// Folders of one test: `in`, `done`, `failed`, and `out`, which the bus makes.
struct Folders(TempDir);

impl Folders {
    /// In memory where the machine has such folders: what a killed process leaves does not depend on the disk.
    fn new() -> Folders {
        let root = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        for name in ["in", "done", "failed"] {
            fs::create_dir(root.path().join(name)).unwrap();
        }
        Folders(root)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The address of a folder or file.
    fn uri(&self, name: &str) -> String {
        format!("vfs:file://{}", self.path(name).display())
    }

    /// Puts files there, each whole from the start.
    fn fill(&self, files: &BTreeMap<String, String>) {
        for (name, content) in files {
            fs::write(self.path("new"), content).unwrap();
            fs::rename(self.path("new"), self.path("in").join(name)).unwrap();
        }
    }

    /// The files of a folder with their content; those of locks and parts do not count.
    fn content(&self, folder: &str) -> BTreeMap<String, String> {
        let folder = self.path(folder);
        let content = |name: &String| fs::read_to_string(folder.join(name)).unwrap();
        names(&folder).map(|name| (name.clone(), content(&name))).collect()
    }

    /// How many files wait.
    fn waiting(&self) -> usize {
        names(&self.path("in")).count()
    }

    fn wait_until_none_waits(&self) {
        let start = Instant::now();
        while self.waiting() > 0 {
            assert!(start.elapsed() < patience(), "{} files wait", self.waiting());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// A proxy that makes an invoice of each file, which goes to a folder under the name of the order.
    fn invoices(&self, out: &str) -> String {
        let parameters: String = [
            ("transport.vfs.FileURI", &*self.uri("in")),
            ("transport.vfs.FileNamePattern", r".*\.xml"),
            ("transport.vfs.ContentType", "application/xml"),
            ("transport.PollInterval", "50ms"),
            ("sequential", "false"),
            ("transport.vfs.ActionAfterProcess", "MOVE"),
            ("transport.vfs.MoveAfterProcess", &*self.uri("done")),
            ("transport.vfs.ActionAfterFailure", "MOVE"),
            ("transport.vfs.MoveAfterFailure", &*self.uri("failed")),
        ]
        .map(|(name, value)| format!(r#"<parameter name="{name}">{value}</parameter>"#))
        .concat();
        let out = self.uri(out);
        definitions(&format!(
            r#"<localEntry key="invoice">{STYLESHEET}</localEntry>
            <proxy name="Orders" transports="vfs"><target><inSequence>
              <xslt key="invoice"/>
              <property name="transport.vfs.ReplyFileName" scope="transport"
                        expression="fn:concat('invoice-', get-property('transport', 'FILE_NAME'))"/>
              <send><endpoint><address uri="{out}/"/></endpoint></send>
            </inSequence></target>{parameters}</proxy>"#
        ))
    }
}

fn names(folder: &Path) -> impl Iterator<Item = String> + use<> {
    // It is there when the first file has come.
    let entries = fs::read_dir(folder).into_iter().flatten();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| !name.ends_with(".lock"))
}

const STYLESHEET: &str = r#"<xsl:stylesheet xmlns="" version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
  <xsl:template match="/order">
    <invoice order="{@id}" total="{sum(item/@price)}">
      <xsl:for-each select="item"><line sku="{@sku}"><xsl:value-of select="."/></line></xsl:for-each>
    </invoice>
  </xsl:template>
</xsl:stylesheet>"#;

/// Orders with these numbers by the names of their files, between one and a hundred kilobytes.
fn orders(numbers: std::ops::Range<usize>) -> BTreeMap<String, String> {
    numbers.map(|number| (format!("{number}.xml"), order(number, "order", "item", true))).collect()
}

/// What has to come of them.
fn invoices(numbers: std::ops::Range<usize>) -> BTreeMap<String, String> {
    numbers.map(|number| (format!("invoice-{number}.xml"), order(number, "invoice", "line", false))).collect()
}

/// An order, or its invoice.
fn order(number: usize, root: &str, item: &str, is_order: bool) -> String {
    // Most are small, as orders are.
    let items = 8 + (number * 7919 % 31).pow(2);
    let text = "Schrauben & Muttern, ü".replace('&', "&amp;").repeat(3);
    let total: usize = (0..items).map(|item| item % 90).sum();
    let head = if is_order { format!(r#"id="{number}""#) } else { format!(r#"order="{number}" total="{total}""#) };
    let items: String = (0..items)
        .map(|at| {
            let price = if is_order { format!(r#" price="{}""#, at % 90) } else { String::new() };
            format!(r#"<{item} sku="{number}-{at}"{price}>{text}</{item}>"#)
        })
        .collect();
    format!("<{root} {head}>{items}</{root}>")
}
