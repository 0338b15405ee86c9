//! HTML and XHTML: what W3C's tests of `xsl:output` look for, among others.

use super::*;

fn html(set: &[(&str, &str)]) -> OutputProperties {
    let mut properties = properties(&[("method", "html"), ("indent", "no"), ("include-content-type", "no")]);
    set.iter().for_each(|(name, value)| properties.set(name, value).unwrap());
    properties
}

#[test]
fn void_elements_have_no_end_tag_and_others_always_do() {
    let make = |output: &mut Output<'_>| {
        output.start_element(plain("HTML"))?;
        element(output, "br", "")?;
        element(output, "p", "")?;
        element(output, "IMG", "")?;
        output.start_element(named("", "x", "urn:x"))?;
        output.end_element()?;
        output.end_element()
    };
    assert_eq!(written(&html(&[]), make), "<HTML><br><p></p><IMG><x xmlns=\"urn:x\"/></HTML>");
}

#[test]
fn attributes_are_written_as_html_reads_them() {
    let make = |output: &mut Output<'_>| {
        output.start_element(plain("input"))?;
        output.attribute(plain("checked"), "checked")?;
        output.attribute(plain("value"), "<a>&\"&{x};\u{A0}")?;
        output.attribute(plain("src"), "ä b?c&d")?;
        output.attribute(plain("title"), "ä")?;
        output.end_element()
    };
    let expected = "<input checked value=\"<a>&amp;&quot;&{x};&nbsp;\" src=\"%C3%A4 b?c&amp;d\" title=\"ä\">";
    assert_eq!(written(&html(&[]), make), expected);
    let unescaped = written(&html(&[("escape-uri-attributes", "no")]), make);
    assert!(unescaped.contains("src=\"ä b?c&amp;d\""), "{unescaped}");
}

#[test]
fn scripts_and_styles_are_not_escaped() {
    let make = |output: &mut Output<'_>| {
        output.start_element(plain("html"))?;
        element(output, "script", "if (a < b && c) {}")?;
        element(output, "STYLE", "a > b {}")?;
        element(output, "p", "a < b & \u{A0}ä")?;
        output.instruction("php", "x")?;
        assert_eq!(output.instruction("php", "a > b"), Err(OutputError::HtmlInstruction));
        output.end_element()
    };
    let expected = "<html><script>if (a < b && c) {}</script><STYLE>a > b {}</STYLE>\
                    <p>a &lt; b &amp; &nbsp;ä</p><?php x></html>";
    assert_eq!(written(&html(&[]), make), expected);
}

#[test]
fn a_head_says_the_content_type_once() {
    let make = |output: &mut Output<'_>| {
        output.start_element(plain("html"))?;
        output.start_element(plain("head"))?;
        output.start_element(plain("meta"))?;
        output.attribute(plain("http-equiv"), "content-type")?;
        output.attribute(plain("content"), "text/html; charset=x")?;
        output.end_element()?;
        output.start_element(plain("meta"))?;
        output.attribute(plain("charset"), "y")?;
        output.end_element()?;
        output.start_element(plain("meta"))?;
        output.attribute(plain("name"), "n")?;
        output.end_element()?;
        output.end_element()?;
        output.end_element()
    };
    let meta = "<meta http-equiv=\"Content-Type\" content=\"text/html; charset=UTF-8\">";
    let with = html(&[("include-content-type", "yes")]);
    assert_eq!(written(&with, make), format!("<html><head>{meta}<meta name=\"n\"></head></html>"));
    assert!(written(&html(&[]), make).contains("charset=x"));
    let indented = html(&[("include-content-type", "yes"), ("indent", "yes")]);
    assert_eq!(
        written(&indented, make),
        format!("<html>\n  <head>\n    {meta}\n    <meta name=\"n\">\n  </head>\n</html>")
    );
    let empty = |output: &mut Output<'_>| element(output, "head", "");
    assert_eq!(written(&with, empty), format!("<head>{meta}</head>"));
}

#[test]
fn document_types_are_those_of_html() {
    let make = |output: &mut Output<'_>| element(output, "html", "");
    for (set, expected) in [
        (&[("version", "4.01")][..], "<html></html>"),
        (&[("version", "5.0")], "<!DOCTYPE html>\n<html></html>"),
        (
            &[("doctype-public", "-//W3C//DTD HTML 4.01//EN")],
            "<!DOCTYPE html PUBLIC \"-//W3C//DTD HTML 4.01//EN\">\n<html></html>",
        ),
        (&[("doctype-system", "about:legacy-compat")], "<!DOCTYPE html SYSTEM \"about:legacy-compat\">\n<html></html>"),
        (&[("doctype-system", "s"), ("doctype-public", "p")], "<!DOCTYPE html PUBLIC \"p\" \"s\">\n<html></html>"),
    ] {
        assert_eq!(written(&html(set), make), expected);
    }
}

#[test]
fn html_5_is_the_default_of_version_3() {
    let make = |output: &mut Output<'_>| {
        output.start_element(plain("html"))?;
        element(output, "br", "")?;
        element(output, "p", "")?;
        output.end_element()
    };
    for (method, version, expected) in [
        ("html", 2.0, "<html><br><p></p></html>"),
        ("html", 3.0, "<!DOCTYPE html>\n<html><br><p></p></html>"),
        ("xhtml", 2.0, "<html><br/><p/></html>"),
        ("xhtml", 3.0, "<!DOCTYPE html>\n<html><br /><p></p></html>"),
    ] {
        let mut properties = html(&[("method", method), ("omit-xml-declaration", "yes")]);
        properties.set_stylesheet_version(version);
        assert_eq!(written(&properties, make), expected, "{method} {version}");
    }
}

#[test]
fn an_element_of_another_namespace_is_no_html_whatever_its_name() {
    let mut properties = html(&[("method", "xhtml"), ("omit-xml-declaration", "yes")]);
    properties.set_stylesheet_version(3.0);
    let make = |output: &mut Output<'_>| {
        output.start_element(named("z", "html", "urn:z"))?;
        element(output, "frame", "")?;
        element(output, "br", "")?;
        output.end_element()
    };
    assert_eq!(written(&properties, make), "<z:html xmlns:z=\"urn:z\"><frame></frame><br /></z:html>");
}

#[test]
fn the_first_element_tells_html_from_xml() {
    let default = properties(&[("indent", "no"), ("omit-xml-declaration", "yes")]);
    let with = |name: Name<'static>| {
        move |output: &mut Output<'_>| {
            output.text(" \n")?;
            output.comment("c")?;
            output.start_element(name)?;
            element(output, "br", "")?;
            output.end_element()
        }
    };
    assert_eq!(written(&default, with(plain("HtMl"))), " \n<!--c--><HtMl><br></HtMl>");
    assert_eq!(written(&default, with(plain("a"))), " \n<!--c--><a><br/></a>");
    assert_eq!(
        written(&default, with(named("h", "html", "urn:x"))),
        " \n<!--c--><h:html xmlns:h=\"urn:x\"><br/></h:html>"
    );
    let text_first = |output: &mut Output<'_>| {
        output.text("t")?;
        element(output, "html", "")
    };
    assert_eq!(written(&default, text_first), "t<html/>");
    let xhtml = |output: &mut Output<'_>| {
        output.start_element(named("", "html", "http://www.w3.org/1999/xhtml"))?;
        output.start_element(named("", "br", "http://www.w3.org/1999/xhtml"))?;
        output.end_element()?;
        output.start_element(named("", "p", "http://www.w3.org/1999/xhtml"))?;
        output.end_element()?;
        output.end_element()
    };
    let open = "<html xmlns=\"http://www.w3.org/1999/xhtml\">";
    assert_eq!(written(&default, xhtml), format!("{open}<br/><p/></html>"));
    let mut modern = default.clone();
    modern.set_stylesheet_version(2.0);
    assert_eq!(written(&modern, xhtml), format!("{open}<br /><p></p></html>"));
}

#[test]
fn html_is_indented_where_no_line_of_text_is_broken() {
    let make = |output: &mut Output<'_>| {
        output.start_element(plain("html"))?;
        output.start_element(plain("body"))?;
        element(output, "p", "t")?;
        output.start_element(plain("p"))?;
        element(output, "b", "t")?;
        element(output, "i", "u")?;
        output.end_element()?;
        output.start_element(plain("pre"))?;
        element(output, "div", "t")?;
        output.end_element()?;
        output.end_element()?;
        output.end_element()
    };
    let expected =
        "<html>\n  <body>\n    <p>t</p>\n    <p><b>t</b><i>u</i></p>\n    <pre><div>t</div></pre>\n  </body>\n</html>";
    assert_eq!(written(&html(&[("indent", "yes")]), make), expected);
    assert_eq!(written(&html(&[("indent", "yes"), ("indent", "no")]), make).lines().count(), 1);
}
