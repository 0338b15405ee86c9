//! The text that Prometheus reads, in the older form of the two: the library writes OpenMetrics.

/// The media type of OpenMetrics.
pub(crate) const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
/// The media type of the text format of Prometheus.
pub(crate) const PROMETHEUS: &str = "text/plain; version=0.0.4; charset=utf-8";

/// A page of OpenMetrics in the text format of Prometheus: there a counter is named as its samples are, nothing says
/// units, and nothing ends the page.
///
/// Source: Prometheus, exposition formats, text-based format 0.0.4; OpenMetrics 1.0 §5.1.
pub(crate) fn as_prometheus(page: &str) -> String {
    let lines: Vec<&str> = page.lines().collect();
    let mut counters: Vec<&str> = Vec::new();
    for line in &lines {
        if let Some(name) = line.strip_prefix("# TYPE ").and_then(|rest| rest.strip_suffix(" counter")) {
            counters.push(name);
        }
    }
    let mut text = String::with_capacity(page.len());
    for line in lines {
        let mut words = line.splitn(4, ' ');
        match (words.next(), words.next(), words.next(), words.next()) {
            (Some("#"), Some("EOF" | "UNIT"), ..) => continue,
            (Some("#"), Some(word @ ("HELP" | "TYPE")), Some(name), Some(rest)) if counters.contains(&name) => {
                text += &format!("# {word} {name}_total {rest}");
            }
            _ => text += line,
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_named_as_their_samples_are() {
        let page = "# HELP a Requests so far.\n# TYPE a counter\na_total{b=\"# TYPE c counter\"} 1\n\
                    # HELP c Now.\n# TYPE c gauge\n# UNIT c seconds\nc 2\n# EOF\n";
        let expected = "# HELP a_total Requests so far.\n# TYPE a_total counter\na_total{b=\"# TYPE c counter\"} 1\n\
                        # HELP c Now.\n# TYPE c gauge\nc 2\n";
        assert_eq!(as_prometheus(page), expected);
    }
}
