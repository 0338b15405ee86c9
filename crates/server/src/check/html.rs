//! The migration report as a page of its own: no script, nothing fetched, readable on paper.

use std::fmt::Write;

use myelin_engine::{Artefact, Cause, Excerpt, Problem, Report, Share, Summary};
use myelin_xml::escape_text;

const STYLE: &str = "\
:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}\
body{max-width:75rem;margin:2rem auto;padding:0 1rem}\
table{border-collapse:collapse;width:100%;margin:1rem 0}\
caption{text-align:left;font-weight:600;font-size:1.2rem;padding:.5rem 0}\
th,td{text-align:left;vertical-align:top;padding:.3rem .6rem;border-bottom:1px solid #8885}\
td.figure,th.figure{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}\
code{font-size:.9em;overflow-wrap:anywhere}\
details{margin:.3rem 0}summary{cursor:pointer}\
pre{overflow-x:auto;margin:.2rem 0 .6rem;font-size:.9em}mark{background:#b3261e33;color:inherit;text-decoration:underline wavy}\
.faulty{color:#b3261e;font-weight:600}.ok{color:#2e7d32;font-weight:600}\
@media(prefers-color-scheme:dark){.faulty{color:#ff8a80}.ok{color:#81c784}}\
@media print{details>*{display:block}}";

/// The report as HTML.
pub(super) fn page(report: &Report) -> String {
    let summary = Summary::of(report);
    let total = summary.total();
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Migration report</title>\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"><style>{STYLE}</style></head><body>\n\
         <h1>Migration report</h1>\n\
         <p>{} of {} artefacts run ({:.1} %); of {} files, {} run wholly. Checked with Myelin {}.</p>\n",
        total.run,
        total.all,
        total.percent(),
        summary.files,
        summary.whole_files,
        env!("CARGO_PKG_VERSION")
    );
    shares(&mut page, &summary, &total);
    causes(&mut page, "Why the rest does not run", &summary.reasons);
    causes(&mut page, "What will fail when a message reaches it", &summary.latent);
    causes(&mut page, "What has no effect, or another one", &summary.remarks);
    artefacts(&mut page, &report.artefacts);
    page.push_str("</body></html>\n");
    page
}

// Writing into a string cannot fail, here and below.
fn shares(page: &mut String, summary: &Summary, total: &Share) {
    page.push_str(
        "<table><caption>What runs</caption><thead><tr><th scope=\"col\">Kind</th>\
         <th scope=\"col\" class=\"figure\">Run</th><th scope=\"col\" class=\"figure\">Of</th>\
         <th scope=\"col\" class=\"figure\">%</th></tr></thead><tbody>\n",
    );
    for share in summary.kinds.iter().chain([total]) {
        let _ = writeln!(
            page,
            "<tr><th scope=\"row\">{}</th><td class=\"figure\">{}</td><td class=\"figure\">{}</td>\
             <td class=\"figure\">{:.1}</td></tr>",
            escaped(&share.kind),
            share.run,
            share.all,
            share.percent()
        );
    }
    page.push_str("</tbody></table>\n");
}

fn causes(page: &mut String, caption: &str, causes: &[Cause]) {
    if causes.is_empty() {
        return;
    }
    let _ = writeln!(
        page,
        "<table><caption>{caption}</caption><thead><tr><th scope=\"col\">Reason</th>\
         <th scope=\"col\" class=\"figure\">Artefacts</th><th scope=\"col\" class=\"figure\">Files</th>\
         <th scope=\"col\">First</th></tr></thead><tbody>"
    );
    for cause in causes {
        let _ = writeln!(
            page,
            "<tr><td>{}</td><td class=\"figure\">{}</td><td class=\"figure\">{}</td><td><code>{}:{}</code></td></tr>",
            escaped(&cause.sentence),
            cause.artefacts,
            cause.files,
            escaped(cause.first.file()),
            cause.first.line()
        );
    }
    page.push_str("</tbody></table>\n");
}

fn artefacts(page: &mut String, artefacts: &[Artefact]) {
    page.push_str("<h2>Artefacts</h2>\n");
    for artefact in artefacts {
        let (class, standing) = if artefact.is_ok() { ("ok", "runs") } else { ("faulty", "does not run") };
        let title = format!(
            "<span class=\"{class}\">{standing}</span> {} {} <code>{}:{}</code>",
            escaped(&artefact.kind),
            escaped(&artefact.name),
            escaped(&artefact.file),
            artefact.line
        );
        if artefact.problems.is_empty() && artefact.latent.is_empty() && artefact.warnings.is_empty() {
            let _ = writeln!(page, "<div>{title}</div>");
            continue;
        }
        let open = if artefact.is_ok() { "" } else { " open=\"\"" };
        let _ = writeln!(page, "<details{open}><summary>{title}</summary><ul>");
        places(page, "problem", &artefact.problems);
        places(page, "will fail when reached", &artefact.latent);
        places(page, "warning", &artefact.warnings);
        page.push_str("</ul></details>\n");
    }
}

fn places(page: &mut String, word: &str, problems: &[Problem]) {
    for problem in problems {
        let place = format!("{}:{}:{}", escaped(problem.file()), problem.line(), problem.column());
        let excerpt = problem.excerpt().map(excerpt).unwrap_or_default();
        let _ = writeln!(page, "<li>{word}: {} <code>{place}</code>{excerpt}</li>", escaped(problem.message()));
    }
}

/// The line that a problem is in, with a mark over what is meant.
fn excerpt(excerpt: &Excerpt) -> String {
    let before: String = excerpt.text.chars().take(excerpt.column as usize - 1).collect();
    let marked: String = excerpt.text.chars().skip(excerpt.column as usize - 1).take(excerpt.length as usize).collect();
    let after = &excerpt.text[before.len() + marked.len()..];
    let (before, marked, after) = (escaped(&before), escaped(&marked), escaped(after));
    format!("<pre>{} | {before}<mark>{marked}</mark>{after}</pre>", excerpt.line)
}

fn escaped(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    escape_text(text, &mut out);
    // What is escaped is UTF-8 as it was before.
    String::from_utf8(out).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_in_a_configuration_is_text_on_the_page() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.xml");
        let text = "<definitions xmlns='http://ws.apache.org/ns/synapse'>\
                    <sequence name='&lt;script&gt;alert(1)&lt;/script&gt;'><script/></sequence></definitions>";
        std::fs::write(&path, text).expect("a file");
        let report = myelin_engine::load(&[path], &myelin_engine::Settings::default()).report;
        let page = page(&report);
        assert!(page.contains("&lt;script&gt;alert(1)") && !page.contains("<script>"), "{page}");
        assert!(page.contains("0 of 1 artefacts run (0.0 %)"), "{page}");
        assert!(page.contains("&amp;lt;/script&amp;gt;'&gt;<mark>&lt;script</mark>/&gt;&lt;/sequence&gt;"), "{page}");
        // It is well formed, but for the declaration and the tags that HTML leaves open.
        let body = &page[page.find("<body>").expect("a body")..page.find("</html>").expect("an end")];
        assert!(myelin_xml::Document::parse(body.as_bytes().to_vec(), &myelin_xml::Options::default()).is_ok());
    }
}
