//! `myelin xslt`.

use std::fs;
use std::path::Path;

use super::{Ended, run};

const DOCUMENT: &str = "<d><x>1</x></d>";

/// A folder with some files in it.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn sheet(body: &str) -> String {
    format!(
        "<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform' xmlns:p='urn:p' exclude-result-prefixes='p'>\n\
         <xsl:output omit-xml-declaration='yes'/>\n{body}</xsl:stylesheet>"
    )
}

/// Transforms the document of a folder with its stylesheet; of both, and of what the command says, names are relative.
fn transform(folder: &Path, options: &[&str]) -> Ended {
    let path = |name: &str| folder.join(name).display().to_string();
    let ended = run(&[&["xslt", &path("s.xsl"), &path("d.xml")], options].concat(), "");
    Ended { err: ended.err.replace(&format!("{}/", folder.display()), ""), ..ended }
}

/// Transforms a small document with a stylesheet from standard input.
fn quick(body: &str, options: &[&str]) -> Ended {
    let folder = folder(&[("d.xml", DOCUMENT)]);
    let document = folder.path().join("d.xml").display().to_string();
    run(&[&["xslt", "-", &document], options].concat(), sheet(body))
}

#[test]
fn results_go_to_standard_output_and_end_their_line() {
    quick("<xsl:template match='x'><y/></xsl:template>", &[]).with(0, "<y/>\n", "");
    quick("<xsl:output method='text'/><xsl:template match='/'>t</xsl:template>", &[]).with(0, "t", "");
}

#[test]
fn results_beside_its_own_go_below_a_folder_that_is_named() {
    let body =
        "<xsl:template match='/'><xsl:result-document href='a/b.xml'><b/></xsl:result-document><r/></xsl:template>";
    quick(body, &[]).with(1, "", "not allowed here");
    let target = tempfile::tempdir().unwrap();
    let path = target.path().join("new").display().to_string();
    quick(body, &["--output-dir", &path]).with(0, "<r/>\n", "");
    let written = fs::read_to_string(target.path().join("new/a/b.xml")).unwrap();
    assert!(written.ends_with("<b/>"), "{written}");
    quick(&body.replace("a/b", "../b"), &["--output-dir", &path]).with(1, "", "not below");
}

#[test]
fn parameters_are_expressions_or_texts() {
    let body = "<xsl:param name='a'/><xsl:param name='p:b'/><xsl:template match='/'>\
                <r a='{$a}' b='{$p:b}'/></xsl:template>";
    quick(body, &["--param", "a=//x + 1", "--string-param", "{urn:p}b=//x"]).with(0, "<r a=\"2\" b=\"//x\"/>\n", "");
    quick(body, &["--stringparam", "a=x=y", "--param", "unknown=1"]).with(0, "<r a=\"x=y\" b=\"\"/>\n", "");
    quick(body, &["--param", "a=1 +"]).with(1, "", "parameter a, `1 +`");
    assert_eq!(quick(body, &["--param", "a"]).code, 2);
}

#[test]
fn a_run_may_begin_in_a_mode_or_with_a_template() {
    let body = "<xsl:template match='x' mode='m'>moded</xsl:template>\
                <xsl:template name='t'>named</xsl:template>";
    quick(body, &["--mode", "m"]).with(0, "moded\n", "");
    quick(body, &["--template", "t"]).with(0, "named\n", "");
    quick(body, &["--template", "u"]).with(1, "", "there is no template named \"u\"");
    // A template needs no document, and then there is none.
    run(&["xslt", "-", "--template", "t"], sheet(body)).with(0, "named\n", "");
    let reading = "<xsl:template name='t'><xsl:value-of select='/'/></xsl:template>";
    run(&["xslt", "-", "--template", "t"], sheet(reading)).with(1, "", "XPDY0002");
}

#[test]
fn stylesheets_know_files_by_absolute_uris() {
    let text = sheet(
        "<xsl:include href='a/b%20c.xsl'/><xsl:template match='/'>\
         <r d='{base-uri(d)}' s='{static-base-uri()}' e='{document-uri(doc(&quot;e.xml&quot;))}'/></xsl:template>",
    );
    let included = sheet("<xsl:template match='x'>{</xsl:template><xsl:template match='['/>");
    let files = [("s.xsl", &*text), ("d.xml", DOCUMENT), ("e.xml", "<e/>"), ("a/b c.xsl", &*included)];
    let files = folder(&files);
    // What is wrong is told with the names of files.
    transform(files.path(), &[]).with(2, "", "a/b c.xsl:3:");
    fs::write(files.path().join("a/b c.xsl"), sheet("")).unwrap();
    let uri = |name: &str| format!("file://{}/{name}", files.path().display());
    let expected = format!("<r d=\"{}\" s=\"{}\" e=\"{}\"/>\n", uri("d.xml"), uri("s.xsl"), uri("e.xml"));
    transform(files.path(), &[]).with(0, &expected, "");
}

#[test]
fn all_that_is_wrong_with_a_stylesheet_is_told_at_once_with_its_places() {
    let text = sheet(
        "<xsl:template match='/'>\n  <xsl:value-of select='1 +'/>\n  <xsl:foo/>\n</xsl:template>\
         <xsl:template match='['/>",
    );
    let folder = folder(&[("s.xsl", &text), ("d.xml", DOCUMENT)]);
    let ended = transform(folder.path(), &["-o", &folder.path().join("out").display().to_string()]);
    ended.with(2, "", "s.xsl:4:");
    assert!(ended.err.contains("s.xsl:5:") && ended.err.contains("s.xsl:6:"), "{}", ended.err);
    assert!(ended.err.lines().all(|line| line.starts_with("s.xsl:") && line.contains("(X")), "{}", ended.err);
    assert!(!folder.path().join("out").exists());
}

#[test]
fn what_fails_is_told_with_the_way_there() {
    let text = sheet(
        "<xsl:template match='/'><xsl:apply-templates/></xsl:template>\n\
         <xsl:template match='x'><xsl:call-template name='t'/>!</xsl:template>\n\
         <xsl:template name='t'>\n  <xsl:message>before</xsl:message>\n  \
         <xsl:message terminate='yes'>no <xsl:value-of select='.'/></xsl:message>\n</xsl:template>",
    );
    let folder = folder(&[("s.xsl", &text), ("d.xml", DOCUMENT)]);
    let ended = transform(folder.path(), &[]);
    ended.with(1, "", "before");
    let expected = "s.xsl:6:3: before\ns.xsl:7:3: no 1 (XTMM9000)\n  at /d/x of d.xml\n  in template t at s.xsl:5:1\n  \
                    from the template at s.xsl:4:1\n  from the template at s.xsl:3:1\n";
    assert_eq!(ended.err, expected);
}

#[test]
fn several_documents_are_transformed_and_one_that_fails_does_not_hide_the_others() {
    let text = sheet("<xsl:template match='/'><r><xsl:value-of select='.'/></r></xsl:template>");
    let folder = folder(&[("s.xsl", &text), ("d.xml", DOCUMENT), ("e.xml", "<e>2</e>"), ("broken.xml", "<a>")]);
    let [broken, second, out] = ["broken.xml", "e.xml", "out"].map(|name| folder.path().join(name));
    let [broken, second, out_name] = [&broken, &second, &out].map(|path| path.display().to_string());
    transform(folder.path(), &[&broken, &second]).with(1, "<r>1</r>\n<r>2</r>\n", "broken.xml:1:4: ");
    transform(folder.path(), &[&second, "-o", &out_name]).with(0, "", "");
    assert_eq!(fs::read_to_string(out).unwrap(), "<r>1</r>\n<r>2</r>\n");
    run(&["xslt", "-", "-"], text).with(2, "", "only once");
}

#[test]
fn entities_are_read_beside_stylesheets_and_documents_and_nowhere_else() {
    let text = sheet(
        "<xsl:include href='../common/c.xsl'/>\
         <xsl:template match='/'>&n;<xsl:value-of select=\"id('x')\"/>,<xsl:value-of select='d/@a'/></xsl:template>",
    );
    let text = format!("<!DOCTYPE x [<!ENTITY % e SYSTEM '../common/x.ent'> %e;]>{text}");
    let secret = folder(&[("secret", "secret")]);
    let secret = secret.path().join("secret").display().to_string();
    let catalog = "<catalog xmlns='urn:oasis:names:tc:entity:xmlns:xml:catalog'>
        <public publicId='P' uri='dtd/p.dtd'/><uri name='urn:s' uri='html/s.xsl'/></catalog>";
    let external = "<!DOCTYPE d PUBLIC 'P' 'http://127.0.0.1:1/d.dtd'><d>&i;</d>";
    let folder = folder(&[
        ("html/s.xsl", &text),
        ("common/c.xsl", &sheet("")),
        ("common/x.ent", "<!ENTITY n 'N'>"),
        (
            "d.xml",
            "<!DOCTYPE d [<!ENTITY i SYSTEM 'i.xml'><!ATTLIST d a CDATA '1'><!ATTLIST i i ID #IMPLIED>]><d>&i;</d>",
        ),
        ("i.xml", "<i i='x'>I</i>"),
        ("secret.xml", &format!("<!DOCTYPE d [<!ENTITY i SYSTEM '{secret}'>]><d>&i;</d>")),
        ("bomb.xml", "<!DOCTYPE d [<!ENTITY i '&i;'>]><d>&i;</d>"),
        ("external.xml", external),
        ("dtd/p.dtd", "<!ENTITY i 'J'><!ATTLIST d a CDATA '2'>"),
        ("catalog.xml", catalog),
    ]);
    let path = |name: &str| folder.path().join(name).display().to_string();
    let sheet = path("html/s.xsl");
    run(&["xslt", &sheet, &path("d.xml")], "").with(0, "NI,1\n", "");
    run(&["xslt", "--skip-doctype", &sheet, &path("d.xml")], "").with(1, "", "is not expanded");
    run(&["xslt", "--refuse-doctype", &sheet, &path("d.xml")], "").with(1, "", "is refused");
    run(&["xslt", &sheet, &path("secret.xml")], "").with(1, "", "--allow FOLDER lets it be read");
    run(&["xslt", &sheet, &path("bomb.xml")], "").with(1, "", "stands for itself");
    run(&["xslt", &sheet, &path("external.xml")], "").with(1, "", "nothing from the network");
    run(&["xslt", "--catalog", &path("catalog.xml"), "urn:s", &path("external.xml")], "").with(0, "N,2\n", "");
    run(&["xml", "--c14n", &path("d.xml")], "").with(0, "<d a=\"1\"><i i=\"x\">I</i></d>", "");
    run(&["xml", &path("secret.xml")], "").with(1, "", "--allow FOLDER lets it be read");
}

#[test]
fn files_below_the_folders_of_stylesheet_and_documents_can_be_read_and_no_others() {
    let text = sheet(
        "<xsl:include href='more/t.xsl'/><xsl:param name='href'/>\
         <xsl:template match='/'><xsl:call-template name='t'/><xsl:value-of select='document($href)'/></xsl:template>",
    );
    let included = sheet("<xsl:template name='t'><xsl:value-of select=\"document('u.xml')\"/>,</xsl:template>");
    let secret = folder(&[("secret.xml", "<s>secret</s>")]);
    let folder = folder(&[
        ("s.xsl", &text),
        ("d.xml", "<d href='more/u%20v.xml'/>"),
        ("more/t.xsl", &included),
        ("more/u.xml", "<u>below</u>"),
        ("more/u v.xml", "<u>escaped</u>"),
    ]);
    transform(folder.path(), &["--param", "href=/d/@href"]).with(0, "below,escaped\n", "");
    transform(folder.path(), &["--string-param", "href=more/../d.xml"]).with(0, "below,\n", "");

    let outside = secret.path().join("secret.xml").display().to_string();
    let href = |href: &str| format!("href={href}");
    transform(folder.path(), &["--string-param", &href(&outside)]).with(1, "", "--allow FOLDER lets it be read");
    let up = format!("../{}/secret.xml", secret.path().file_name().unwrap().display());
    transform(folder.path(), &["--string-param", &href(&up)]).with(1, "", "--allow FOLDER lets it be read");
    std::os::unix::fs::symlink(&outside, folder.path().join("link.xml")).unwrap();
    transform(folder.path(), &["--string-param", "href=link.xml"]).with(1, "", "--allow FOLDER lets it be read");
    let allowed = ["--string-param", &href(&outside), "--allow", &secret.path().display().to_string()];
    transform(folder.path(), &allowed).with(0, "below,secret\n", "");
    transform(folder.path(), &["--string-param", "href=http://127.0.0.1:1/x"]).with(1, "", "nothing from the network");
    transform(folder.path(), &["--allow", "/nowhere"]).with(2, "", "/nowhere: ");
}

#[test]
fn endless_recursion_ends_at_a_depth_that_can_be_set() {
    let body = "<xsl:template match='/'><xsl:apply-templates select='.'/></xsl:template>";
    quick(body, &[]).with(1, "", "more than 5000 deep");
    quick(body, &["--max-depth", "70"]).with(1, "", "more than 70 deep");
}

#[test]
fn timing_is_told_on_standard_error() {
    let ended = quick("<xsl:template match='x'><y/></xsl:template>", &["--timing"]);
    ended.with(0, "<y/>\n", "-: compiling took ");
    assert!(ended.err.contains("d.xml: reading took ") && ended.err.contains("d.xml: transforming took "));
}

#[test]
fn results_are_in_the_encoding_that_the_stylesheet_says() {
    let body = "<xsl:output encoding='US-ASCII'/><xsl:template match='/'><y>ä</y></xsl:template>";
    quick(body, &[]).with(0, "<y>&#228;</y>\n", "");
}

#[test]
fn explain_shows_the_program_and_whether_it_streams_and_needs_no_document() {
    let explain = |body: &str| {
        let ended = run(&["xslt", "-", "--explain"], sheet(body));
        assert_eq!((ended.code, ended.err.as_str()), (0, ""));
        ended.out
    };
    let streams = explain("<xsl:template match='x'><y><xsl:apply-templates/></y></xsl:template>");
    assert!(streams.contains("apply-templates") && streams.contains("\nin one pass "), "{streams}");
    let needs_a_tree = explain("<xsl:template match='x'><y><xsl:value-of select='//z'/></y></xsl:template>");
    assert!(needs_a_tree.contains("\nby way of a tree: ") && needs_a_tree.contains("//z"), "{needs_a_tree}");
    assert_eq!(run(&["xslt", "s.xsl"], "").code, 2);
}
