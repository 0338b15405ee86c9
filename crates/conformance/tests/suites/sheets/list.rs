//! Which stylesheets are run on which documents.
//!
//! Paths are those below the folder of what was fetched; `results/KEY/DOCUMENT/reference` holds what a stylesheet made
//! that stands further up.

/// A stylesheet of others, and what it is run on.
pub(super) struct Sheet {
    /// Names its results; no other has it.
    pub(super) key: &'static str,
    /// The folder of what was fetched.
    pub(super) package: &'static str,
    /// The name of the stylesheet in the table on the page.
    pub(super) title: &'static str,
    /// Below the package's folder, or below `results/`.
    pub(super) stylesheet: &'static str,
    /// The processor whose result is expected.
    pub(super) processor: Processor,
    pub(super) parameters: &'static [(&'static str, &'static str)],
    /// The template to begin with, without a document.
    pub(super) template: Option<&'static str>,
    /// Files, and folders (`FOLDER/*`) of whose documents the first are taken.
    pub(super) documents: &'static [&'static str],
    /// How many documents of a folder are taken.
    pub(super) most: usize,
}

/// A processor that others wrote.
#[derive(Clone, Copy)]
pub(super) enum Processor {
    Xsltproc,
    Saxon,
}

impl Processor {
    pub(super) fn name(self) -> &'static str {
        match self {
            Processor::Xsltproc => "xsltproc",
            Processor::Saxon => "Saxon",
        }
    }
}

/// What most stylesheets have in common.
const SHEET: Sheet = Sheet {
    key: "",
    package: "",
    title: "",
    stylesheet: "",
    processor: Processor::Xsltproc,
    parameters: &[],
    template: None,
    documents: &[],
    most: 4,
};

const NS: &str = "docbook-xsl-ns";
const PLAIN: &str = "docbook-xsl";

const GUIDE: &[&str] = &[
    "mate-user-guide/usr/share/help/C/mate-user-guide/goscaja.xml",
    "mate-user-guide/usr/share/help/C/mate-user-guide/gostools.xml",
    "mate-user-guide/usr/share/help/C/mate-user-guide/glossary.xml",
    "mate-user-guide/usr/share/help/de/mate-user-guide/gospanel.xml",
];
const CHAPTER: &[&str] = &["mate-user-guide/usr/share/help/C/mate-user-guide/goscaja.xml"];
const MAN: &[&str] = &["docbook-xsl-ns/usr/share/doc/docbook-xsl-ns/examples/foo.1.example_manpage.xml"];
const SLIDES: &[&str] = &["docbook-xsl-ns/usr/share/xml/docbook/stylesheet/docbook-xsl-ns/slides/doc/slides.xml"];
const RULES: &[&str] = &[
    "schemas-docbook/org/docbook/schemas/docbook/5.1/sch/docbook.sch",
    "schemas-docbook/org/docbook/schemas/docbook/5.1/sch/assembly.sch",
];
const RULES_2: &[&str] = &[
    "schemas-docbook/org/docbook/schemas/docbook/5.2CR5/sch/docbook.sch",
    "xspec/io/xspec/xspec/impl/src/schemas/xspec.sch",
];
const TOPIC: &[&str] = &["own/topic.dita"];
const UBL: &[&str] = &["ph-ubl-testfiles/external/test-ubl/invoice/*"];
const CII: &[&str] = &["ph-cii-testfiles/external/test-cii/d16b/*"];

/// A stylesheet of 1.0.
const fn xsltproc(
    key: &'static str,
    package: &'static str,
    title: &'static str,
    stylesheet: &'static str,
    documents: &'static [&'static str],
) -> Sheet {
    Sheet { key, package, title, stylesheet, documents, ..SHEET }
}

/// A stylesheet of 2.0 or 3.0, or one that was written with Saxon.
const fn saxon(
    key: &'static str,
    package: &'static str,
    title: &'static str,
    stylesheet: &'static str,
    documents: &'static [&'static str],
) -> Sheet {
    Sheet { key, package, title, stylesheet, processor: Processor::Saxon, documents, ..SHEET }
}

pub(super) const SHEETS: &[Sheet] = &[
    xsltproc("ns-html", NS, "html", "usr/share/xml/docbook/stylesheet/docbook-xsl-ns/html/docbook.xsl", GUIDE),
    xsltproc("ns-chunk", NS, "html, chunk", "usr/share/xml/docbook/stylesheet/docbook-xsl-ns/html/chunk.xsl", GUIDE),
    xsltproc(
        "ns-one",
        NS,
        "html, onechunk",
        "usr/share/xml/docbook/stylesheet/docbook-xsl-ns/html/onechunk.xsl",
        CHAPTER,
    ),
    xsltproc("ns-xhtml", NS, "xhtml", "usr/share/xml/docbook/stylesheet/docbook-xsl-ns/xhtml/docbook.xsl", GUIDE),
    xsltproc(
        "ns-xhtml-c",
        NS,
        "xhtml, chunk",
        "usr/share/xml/docbook/stylesheet/docbook-xsl-ns/xhtml/chunk.xsl",
        CHAPTER,
    ),
    xsltproc(
        "ns-xhtml11",
        NS,
        "xhtml-1_1",
        "usr/share/xml/docbook/stylesheet/docbook-xsl-ns/xhtml-1_1/docbook.xsl",
        CHAPTER,
    ),
    xsltproc("ns-xhtml5", NS, "xhtml5", "usr/share/xml/docbook/stylesheet/docbook-xsl-ns/xhtml5/docbook.xsl", GUIDE),
    xsltproc(
        "ns-xhtml5-c",
        NS,
        "xhtml5, chunk",
        "usr/share/xml/docbook/stylesheet/docbook-xsl-ns/xhtml5/chunk.xsl",
        CHAPTER,
    ),
    xsltproc("ns-epub3", NS, "epub3", "usr/share/xml/docbook/stylesheet/docbook-xsl-ns/epub3/chunk.xsl", CHAPTER),
    xsltproc("ns-fo", NS, "fo", "usr/share/xml/docbook/stylesheet/docbook-xsl-ns/fo/docbook.xsl", GUIDE),
    xsltproc("ns-man", NS, "manpages", "usr/share/xml/docbook/stylesheet/docbook-xsl-ns/manpages/docbook.xsl", MAN),
    xsltproc(
        "ns-htmlhelp",
        NS,
        "htmlhelp",
        "usr/share/xml/docbook/stylesheet/docbook-xsl-ns/htmlhelp/htmlhelp.xsl",
        CHAPTER,
    ),
    xsltproc(
        "ns-eclipse",
        NS,
        "eclipse",
        "usr/share/xml/docbook/stylesheet/docbook-xsl-ns/eclipse/eclipse.xsl",
        CHAPTER,
    ),
    xsltproc(
        "ns-javahelp",
        NS,
        "javahelp",
        "usr/share/xml/docbook/stylesheet/docbook-xsl-ns/javahelp/javahelp.xsl",
        CHAPTER,
    ),
    xsltproc(
        "ns-slides",
        NS,
        "slides, xhtml",
        "usr/share/xml/docbook/stylesheet/docbook-xsl-ns/slides/xhtml/plain.xsl",
        SLIDES,
    ),
    xsltproc(
        "ns-slides-fo",
        NS,
        "slides, fo",
        "usr/share/xml/docbook/stylesheet/docbook-xsl-ns/slides/fo/plain.xsl",
        SLIDES,
    ),
    Sheet {
        parameters: &[("profile.os", "linux")],
        ..xsltproc(
            "ns-profile",
            NS,
            "profiling",
            "usr/share/xml/docbook/stylesheet/docbook-xsl-ns/profiling/profile.xsl",
            CHAPTER,
        )
    },
    xsltproc("html", PLAIN, "html", "usr/share/xml/docbook/stylesheet/docbook-xsl/html/docbook.xsl", CHAPTER),
    xsltproc("chunk", PLAIN, "html, chunk", "usr/share/xml/docbook/stylesheet/docbook-xsl/html/chunk.xsl", CHAPTER),
    xsltproc("fo", PLAIN, "fo", "usr/share/xml/docbook/stylesheet/docbook-xsl/fo/docbook.xsl", CHAPTER),
    xsltproc("xhtml5", PLAIN, "xhtml5", "usr/share/xml/docbook/stylesheet/docbook-xsl/xhtml5/docbook.xsl", CHAPTER),
    xsltproc("man", PLAIN, "manpages", "usr/share/xml/docbook/stylesheet/docbook-xsl/manpages/docbook.xsl", MAN),
    xsltproc(
        "titlepage",
        PLAIN,
        "template/titlepage",
        "usr/share/xml/docbook/stylesheet/docbook-xsl/template/titlepage.xsl",
        &[
            "docbook-xsl/usr/share/xml/docbook/stylesheet/docbook-xsl/html/titlepage.templates.xml",
            "docbook-xsl/usr/share/xml/docbook/stylesheet/docbook-xsl/fo/titlepage.templates.xml",
        ],
    ),
    xsltproc("yelp-db", "yelp-xsl", "docbook/html", "usr/share/yelp-xsl/xslt/docbook/html/db2html.xsl", GUIDE),
    xsltproc(
        "yelp-mal",
        "yelp-xsl",
        "mallard/html",
        "usr/share/yelp-xsl/xslt/mallard/html/mal2html.xsl",
        &[
            "gnome-user-docs/usr/share/help/C/gnome-help/a11y-bouncekeys.page",
            "gnome-user-docs/usr/share/help/C/gnome-help/files-search.page",
            "gnome-user-docs/usr/share/help/de/gnome-help/net-wireless-connect.page",
        ],
    ),
    xsltproc("nmap", "nmap-common", "nmap.xsl", "usr/share/nmap/nmap.xsl", &["own/scan.xml"]),
    saxon("dita-xhtml", "dita-ot", "dita2xhtml", "usr/share/dita-ot/xsl/dita2xhtml.xsl", TOPIC),
    saxon("dita-html", "dita-ot", "dita2html", "usr/share/dita-ot/xsl/dita2html.xsl", TOPIC),
    saxon("dita-docbook", "dita-ot", "dita2docbook", "usr/share/dita-ot/xsl/dita2docbook.xsl", TOPIC),
    saxon("dita-troff", "dita-ot", "dita2troff", "usr/share/dita-ot/xsl/dita2troff-step1-shell.xsl", TOPIC),
    xsltproc(
        "iso-include",
        "lxml",
        "iso_dsdl_include",
        "lxml/isoschematron/resources/xsl/iso-schematron-xslt1/iso_dsdl_include.xsl",
        RULES,
    ),
    xsltproc(
        "iso-expand",
        "lxml",
        "iso_abstract_expand",
        "lxml/isoschematron/resources/xsl/iso-schematron-xslt1/iso_abstract_expand.xsl",
        RULES,
    ),
    xsltproc(
        "iso-svrl",
        "lxml",
        "iso_svrl_for_xslt1",
        "lxml/isoschematron/resources/xsl/iso-schematron-xslt1/iso_svrl_for_xslt1.xsl",
        RULES,
    ),
    xsltproc(
        "iso-message",
        "lxml",
        "iso_schematron_message",
        "lxml/isoschematron/resources/xsl/iso-schematron-xslt1/iso_schematron_message.xsl",
        RULES,
    ),
    xsltproc(
        "iso-rules",
        "lxml",
        "what iso_svrl_for_xslt1 made",
        "results/iso-svrl/docbook.sch/reference/result.xml",
        GUIDE,
    ),
    xsltproc(
        "rng-sch",
        "lxml",
        "RNG2Schtrn",
        "lxml/isoschematron/resources/xsl/RNG2Schtrn.xsl",
        &["schemas-docbook/org/docbook/schemas/docbook/5.0/rng/docbook.rng"],
    ),
    xsltproc(
        "xsd-sch",
        "lxml",
        "XSD2Schtrn",
        "lxml/isoschematron/resources/xsl/XSD2Schtrn.xsl",
        &["schemas-docbook/org/docbook/schemas/docbook/5.0/xsd/docbook.xsd"],
    ),
    xsltproc("schxslt-1", "schxslt", "1.0/compile-for-svrl", "xslt/1.0/compile-for-svrl.xsl", RULES),
    saxon("schxslt-include", "schxslt", "2.0/include", "xslt/2.0/include.xsl", RULES_2),
    saxon("schxslt-expand", "schxslt", "2.0/expand", "xslt/2.0/expand.xsl", RULES_2),
    saxon("schxslt-2", "schxslt", "2.0/pipeline-for-svrl", "xslt/2.0/pipeline-for-svrl.xsl", RULES_2),
    saxon(
        "schxslt-rules",
        "schxslt",
        "what 2.0/pipeline-for-svrl made",
        "results/schxslt-2/docbook.sch/reference/result.xml",
        GUIDE,
    ),
    saxon("schxslt2", "schxslt2", "transpile", "content/transpile.xsl", RULES_2),
    saxon(
        "schxslt2-rules",
        "schxslt2",
        "what transpile made",
        "results/schxslt2/docbook.sch/reference/result.xml",
        GUIDE,
    ),
    saxon(
        "xspec",
        "xspec",
        "compile-xslt-tests",
        "io/xspec/xspec/impl/src/compiler/compile-xslt-tests.xsl",
        &["own/greeting.xspec"],
    ),
    Sheet {
        template: Some("{http://www.jenitennison.com/xslt/xspec}main"),
        ..saxon(
            "xspec-run",
            "xspec",
            "what compile-xslt-tests made",
            "results/xspec/greeting.xspec/reference/result.xml",
            &[],
        )
    },
    saxon(
        "xspec-html",
        "xspec",
        "format-xspec-report",
        "io/xspec/xspec/impl/src/reporter/format-xspec-report.xsl",
        &["results/xspec-run/alone/reference/result.xml"],
    ),
    saxon(
        "xspec-junit",
        "xspec",
        "junit-report",
        "io/xspec/xspec/impl/src/reporter/junit-report.xsl",
        &["results/xspec-run/alone/reference/result.xml"],
    ),
    saxon(
        "en-ubl",
        "phive-rules-en16931",
        "1.3.14.2, UBL",
        "external/schematron/1.3.14.2/ubl/EN16931-UBL-validation.xslt",
        UBL,
    ),
    saxon(
        "en-cii",
        "phive-rules-en16931",
        "1.3.14.2, CII",
        "external/schematron/1.3.14.2/cii/EN16931-CII-validation.xslt",
        CII,
    ),
    saxon(
        "xr-ubl",
        "phive-rules-xrechnung",
        "3.0.2, UBL",
        "external/schematron/3.0.2/XRechnung-UBL-validation.xslt",
        UBL,
    ),
    saxon(
        "xr-cii",
        "phive-rules-xrechnung",
        "3.0.2, CII",
        "external/schematron/3.0.2/XRechnung-CII-validation.xslt",
        CII,
    ),
    saxon(
        "pint",
        "phive-rules-peppol",
        "PINT 1.0.2",
        "external/schematron/pint/1.0.2/xslt/PINT-UBL-validation-preprocessed-inv.xslt",
        UBL,
    ),
    saxon("factur-x", "zugferd-validator", "Factur-X 2.3.2, EN 16931", "xslt/ZF_232/FACTUR-X_EN16931.xslt", CII),
    saxon("cii-xr", "zugferd-library", "cii-xr", "stylesheets/cii-xr.xsl", CII),
    saxon("ubl-xr", "zugferd-library", "ubl-invoice-xr", "stylesheets/ubl-invoice-xr.xsl", UBL),
    saxon(
        "xr-html",
        "zugferd-library",
        "xrechnung-html.de",
        "stylesheets/xrechnung-html.de.xsl",
        &["results/cii-xr/CII_example1.xml/reference/result.xml"],
    ),
    saxon(
        "xr-pdf",
        "zugferd-library",
        "xr-pdf",
        "stylesheets/xr-pdf.xsl",
        &["results/cii-xr/CII_example1.xml/reference/result.xml"],
    ),
    saxon("tng", "docbook-xslTNG", "docbook", "org/docbook/xsltng/xslt/docbook.xsl", &["own/article.xml"]),
    Sheet {
        parameters: &[("chunk", "index.html")],
        ..saxon(
            "tng-chunk",
            "docbook-xslTNG",
            "docbook, chunk",
            "org/docbook/xsltng/xslt/docbook.xsl",
            &["own/article.xml"],
        )
    },
];
