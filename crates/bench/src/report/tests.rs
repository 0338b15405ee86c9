mod browser;
mod sample;

use super::compare;
use super::figures::Standing;
use super::measure::Measure;
use super::*;
use crate::results::{Cell, TroubleKind};
use sample::{Sample, cell};

/// A report of one folder in a form, as the command writes it.
fn report(folder: &Path, format: Format) -> anyhow::Result<String> {
    let mut out = Vec::new();
    let arguments = Arguments { folders: vec![folder.to_owned()], format, out: Some(PathBuf::from("-")) };
    run(&arguments, &mut out)?;
    Ok(String::from_utf8(out)?)
}

fn comparison(before: &Path, after: &Path) -> anyhow::Result<String> {
    let mut out = Vec::new();
    let arguments =
        compare::Arguments { before: before.to_owned(), after: after.to_owned(), format: compare::Format::Text };
    compare::run(&arguments, &mut out)?;
    Ok(String::from_utf8(out)?)
}

#[test]
fn own_cost_is_the_median_of_what_lies_above_the_relay_in_the_same_round() {
    let mut sample = Sample::new(&["bus", "relay"], &[cell("direct", 500, 20)]);
    sample.cpu("bus", &[30.0, 50.0, 33.0]);
    sample.cpu("relay", &[10.0, 25.0, 11.0]);
    let run = RunFigures::new("a".to_owned(), &sample.results());
    let [bus, relay] = &run.groups[0].cells[0].targets[..] else { panic!("two targets") };
    // The differences are 20, 25 and 22; the medians of both sides differ by 22 only by chance here.
    assert_eq!(bus.median(Measure::OwnCost), Some(22.0));
    assert_eq!(bus.median(Measure::Cpu), Some(33.0));
    assert_eq!(relay.median(Measure::OwnCost), None);
}

#[test]
fn a_target_in_trouble_has_no_figures_and_is_not_compared() {
    let cells = [cell("direct", 500, 20), cell("direct", 500, 40)];
    let mut sample = Sample::new(&["bus", "liar", "refuser"], &cells);
    sample.trouble("liar", &cells[0], TroubleKind::WrongAnswer, "its answer is another one");
    sample.failures("refuser", 50_000);
    let run = RunFigures::new("a".to_owned(), &sample.results());
    let [bus, liar, refuser] = &run.groups[0].cells[0].targets[..] else { panic!("three targets") };
    assert_eq!(bus.standing, Standing::Measured);
    assert_eq!(liar.standing, Standing::Trouble(TroubleKind::WrongAnswer));
    assert_eq!((liar.median(Measure::Rate), liar.cpu_of_first), (None, None));
    assert_eq!(refuser.standing, Standing::Failing);
    assert!(refuser.median(Measure::Rate).is_some() && refuser.cpu_of_first.is_none());
    let comparisons = &run.groups[0].comparisons;
    assert!(comparisons.iter().all(|it| it.left == "bus" && it.right == "liar" && it.cells == 1), "{comparisons:?}");
    let summary = &summaries(&run)[0];
    assert!(summary.warnings.contains(&"liar: answers wrongly in 1 of 2 cells; not compared there.".to_owned()));
    assert!(summary.warnings.contains(&"refuser: fails in 2 of 2 cells; not compared there.".to_owned()));
}

#[test]
fn a_difference_that_each_round_shows_is_real_and_one_that_wanders_may_be_chance() {
    let mut sample = Sample::new(&["bus", "dear", "equal"], &[cell("direct", 500, 20)]);
    sample.cpu("bus", &[10.0, 10.4, 9.8, 10.1, 9.9]);
    sample.cpu("dear", &[40.1, 40.9, 39.5, 40.2, 39.8]);
    sample.cpu("equal", &[10.3, 9.8, 10.1, 9.9, 10.1]);
    let run = RunFigures::new("a".to_owned(), &sample.results());
    let find = |right: &str| {
        let mut all = run.groups[0].comparisons.iter();
        all.find(|it| it.left == "bus" && it.right == right && it.of == Measure::Cpu).unwrap()
    };
    let (dear, equal) = (find("dear"), find("equal"));
    assert!(dear.is_real() && !equal.is_real());
    assert!((dear.ratio - 0.25).abs() < 0.01 && dear.ratio_low < Some(0.25) && dear.ratio_high > Some(0.25));
    assert!(dear.p_value_corrected > dear.p_value && dear.effect_size < Some(-10.0));
    assert!(
        dear.sentence.starts_with("dear takes 3.99 (3.95 to 4.04) times the CPU per request of bus"),
        "{}",
        dear.sentence
    );
    assert!(dear.sentence.ends_with("; the difference is real (p < 0.001)."), "{}", dear.sentence);
    assert!(equal.sentence.contains("; that may be chance (p = "), "{}", equal.sentence);
    let told = summaries(&run);
    assert!(told[0].sentences[0].starts_with("Least CPU: bus. "), "{:?}", told[0].sentences);
}

#[test]
fn a_yardstick_is_no_competitor_and_a_lone_competitor_is_held_against_it() {
    let best = |targets: &[&str]| {
        let run = RunFigures::new("a".to_owned(), &Sample::new(targets, &[cell("direct", 500, 20)]).results());
        summaries(&run)[0].sentences[0].clone()
    };
    assert!(best(&["relay", "backend", "bus", "other"]).starts_with("Least CPU: bus. "));
    assert!(best(&["relay", "bus"]).starts_with("CPU per request: relay takes 29 % "), "{}", best(&["relay", "bus"]));
}

#[test]
fn one_round_gives_ratios_and_no_verdict() {
    let mut sample = Sample::new(&["bus", "other"], &[cell("direct", 500, 20)]);
    sample.cpu("bus", &[10.0]);
    sample.cpu("other", &[15.0]);
    let run = RunFigures::new("a".to_owned(), &sample.results());
    let first = &run.groups[0].comparisons[0];
    assert_eq!((first.p_value, first.p_value_corrected), (None, None));
    assert_eq!(
        first.sentence,
        "bus takes 33 % less CPU per request than other; one round cannot tell whether that is chance."
    );
}

#[test]
fn what_comes_from_outside_is_text_on_the_page_and_on_the_terminal() {
    let evil = "<script>alert(1)</script>\u{1b}[2J";
    let mut sample = Sample::new(&[evil, "</script><img src=x onerror=alert(1)>"], &[cell(evil, 500, 20)]);
    sample.trouble(evil, &cell(evil, 500, 20), TroubleKind::Died, evil);
    sample.run.machine.name = evil.to_owned();
    sample.run.command_line = vec![evil.to_owned()];
    sample.run.targets[0].version = evil.to_owned();
    let folder = sample.folder();
    let page = report(folder.path(), Format::Html).unwrap();
    assert!(!page.contains("<script>alert") && !page.contains("<img src=x"));
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;") && page.contains("\\u003cscript>alert(1)"));
    let text = report(folder.path(), Format::Text).unwrap();
    assert!(text.contains("<script>alert(1)") && !text.contains('\u{1b}'));
}

#[test]
fn csv_has_a_line_for_each_target_in_each_cell_and_its_columns_stay() {
    let sample = Sample::new(&["bus", "a,\"b\""], &[cell("direct", 500, 20), cell("direct", 500, 40)]);
    let page = report(sample.folder().path(), Format::Csv).unwrap();
    let lines: Vec<&str> = page.lines().collect();
    assert_eq!(
        lines[0],
        "run,scenario,size_bytes,connections,idle_connections,rate,tls,target,standing,rounds,requests,failures,\
         failures_by_kind,cpu_ms_per_1000,user_ms_per_1000,system_ms_per_1000,own_cost_ms_per_1000,\
         requests_per_second,megabytes_per_second,latency_mean,latency_p50,latency_p90,latency_p99,latency_p999,\
         latency_max,peak_memory_bytes,threads,open_files,start_seconds,warm_up_seconds,cpu_of_first,cpu_p_value,\
         access_log"
    );
    assert_eq!(lines.len(), 5);
    assert!(lines[2].contains(",direct,500,20,0,,false,\"a,\"\"b\"\"\",measured,5,"), "{}", lines[2]);
    assert_eq!(lines[1].split(',').count(), lines[0].split(',').count());
}

#[test]
fn json_has_what_was_computed() {
    let sample = Sample::new(&["bus", "other"], &[cell("direct", 500, 20)]);
    let page: serde_json::Value = serde_json::from_str(&report(sample.folder().path(), Format::Json).unwrap()).unwrap();
    let group = &page["runs"][0]["figures"]["groups"][0];
    assert_eq!(group["cells"][0]["targets"][0]["standing"], "measured");
    assert!(group["cells"][0]["targets"][0]["medians"]["requests_per_second"].is_number());
    assert!(group["comparisons"][0]["p_value_corrected"].is_number());
    assert_eq!(page["runs"][0]["figures"]["run"]["machine"]["name"], "here");
    assert!(page["runs"][0]["summary"][0]["sentences"][0].is_string());
}

#[test]
fn a_page_of_the_whole_grid_is_small() {
    let sample = Sample::grid();
    let page = html::page(&[RunFigures::new("grid".to_owned(), &sample.results())]);
    assert!(page.len() <= 3_000_000, "{} bytes", page.len());
}

#[test]
fn what_is_wrong_with_a_folder_is_said_with_its_name() {
    let told = |folder: &Path| format!("{:#}", report(folder, Format::Text).unwrap_err());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    assert!(told(&path.join("none")).contains("none; name one that `myelin bench run --out` has written"));
    assert!(told(path).contains("holds no results of `myelin bench run`"));
    let mut sample = Sample::new(&["bus"], &[cell("direct", 500, 20)]);
    sample.lines.clear();
    sample.write(path);
    assert!(told(path).contains("holds no turn yet: nothing was measured"), "{}", told(path));
    fs::write(path.join("turns.jsonl"), "nonsense\n").unwrap();
    assert!(told(path).contains("turns.jsonl:1 is no result"), "{}", told(path));
}

#[test]
fn the_page_is_written_beside_its_results_unless_another_place_is_named() {
    let folder = Sample::new(&["bus"], &[cell("direct", 500, 20)]).folder();
    let mut out = Vec::new();
    let mut arguments = Arguments { folders: vec![folder.path().to_owned()], format: Format::Html, out: None };
    run(&arguments, &mut out).unwrap();
    assert!(folder.path().join("report.html").is_file());
    assert!(String::from_utf8(out).unwrap().starts_with("Written to "));
    arguments.out = Some(folder.path().join("no/such/folder.html"));
    let error = format!("{:#}", run(&arguments, &mut Vec::new()).unwrap_err());
    assert!(error.contains("cannot write") && error.contains("folder.html"), "{error}");
}

#[test]
fn two_runs_of_one_machine_compare_and_a_dearer_build_is_seen() {
    let mut sample = Sample::new(&["bus", "other"], &[cell("direct", 500, 20)]);
    sample.cpu("bus", &[10.0, 10.1, 9.9, 10.0, 10.1]);
    let before = sample.folder();
    sample.cpu("bus", &[20.0, 20.1, 19.9, 20.2, 20.1]);
    sample.run.targets[0].version = "2".to_owned();
    let after = sample.folder();
    let told = comparison(before.path(), after.path()).unwrap();
    assert!(told.contains("Machine, rounds, threads and configurations are the same"), "{told}");
    assert!(told.contains("The version of bus differs: 1 before, 2 after."), "{told}");
    let line = told.lines().find(|line| line.contains("CPU per request") && line.contains("bus")).unwrap();
    assert!(line.contains("2.00") && line.ends_with("worse"), "{line}");
    let line = told.lines().find(|line| line.contains("CPU ms/1,000") && line.contains("bus")).unwrap();
    assert!(line.contains("2.01") && line.contains("p < 0.001") && line.ends_with("worse"), "{line}");
    assert!(told.contains("1 of 8 figures differ by more than chance explains."), "{told}");
}

#[test]
fn runs_that_may_not_be_compared_are_told_so_and_runs_without_a_common_cell_are_refused() {
    let mut sample = Sample::new(&["bus"], &[cell("direct", 500, 20)]);
    let before = sample.folder();
    sample.run.machine.processor = "another".to_owned();
    sample.run.machine.load = 3.5;
    sample.run.threads = 4;
    sample.run.targets[0].files[0].sha256 = "ff".to_owned();
    let after = sample.folder();
    let told = comparison(before.path(), after.path()).unwrap();
    for sentence in [
        "These runs may not be compared as they stand.",
        "The processor differs: a processor before, another after.",
        "The number of threads of each target differs: 2 before, 4 after.",
        "The machine was busy when the second run began: a load of 3.50 on 2 processors.",
        "The configuration synapse.xml of bus is another one.",
    ] {
        assert!(told.contains(sentence), "{sentence}: {told}");
    }
    let other = Sample::new(&["bus"], &[cell("direct", 1024, 20)]).folder();
    for (folder, is_busy) in [(&before, false), (&after, true)] {
        for format in [Format::Html, Format::Text] {
            let page = report(folder.path(), format).unwrap();
            assert_eq!(page.contains("The machine was busy when the run began."), is_busy, "{format:?}");
        }
    }
    let error = comparison(before.path(), other.path()).unwrap_err().to_string();
    assert!(error.contains("have no cell in common"), "{error}");
}
