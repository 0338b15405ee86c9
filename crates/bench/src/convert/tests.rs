use std::process::Command;

use clap::Parser;

use super::*;

#[derive(Parser)]
struct CommandLine {
    #[command(flatten)]
    arguments: Arguments,
}

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9 + expected.abs() * 2e-3, "{found} is not {expected}");
}

/// Converts one text, with the concurrency told, and gives what it came to.
fn converted(text: &str) -> Result<(Cell, Outcome), String> {
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = (folder.path().join("written"), folder.path().join("results"));
    std::fs::write(&file, text).unwrap();
    let words = ["convert", "--target", "bus", "--size", "1K", "--out", out.to_str().unwrap(), file.to_str().unwrap()];
    let arguments = CommandLine::try_parse_from(words).unwrap_or_else(|error| panic!("{error}")).arguments;
    run(&arguments, &mut Vec::new()).map_err(|error| format!("{error:#}"))?;
    let results = results::read(&out).unwrap();
    let cell = results.run.cells[0].clone();
    let outcome = results.turns(&cell, "bus")[0].outcome.clone();
    Ok((cell, outcome))
}

const AB: &str = "This is ApacheBench, Version 2.3\nConcurrency Level:      10\n\
    Time taken for tests:   2.000 seconds\nComplete requests:      2000\nFailed requests:        30\n   \
    (Connect: 0, Receive: 0, Length: 30, Exceptions: 0)\nNon-2xx responses:      20\n\
    Total transferred:      1180000 bytes\nTotal body sent:        1310000\n\
    Time per request:       10.000 [ms] (mean)\nTime per request:       1.000 [ms] (mean, across all)\n\
    Percentage of the requests served within a certain time (ms)\n  50%      8\n  90%     12\n  99%     30\n \
    100%     55 (longest request)\n";

const WRK: &str = "Running 1s test @ http://127.0.0.1:9161/x\n  1 threads and 10 connections\n  \
    Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency     1.75ms    4.16ms  38.95ms   91.66%\n    \
    Req/Sec    27.82k     9.45k   41.98k    60.00%\n  Latency Distribution\n     50%  166.00us\n     75%    1.56ms\n     \
    90%    4.99ms\n     99%   24.43ms\n  27705 requests in 2.00s, 1.00MB read\n  \
    Socket errors: connect 0, read 1, write 0, timeout 2\n  Non-2xx or 3xx responses: 5\nRequests/sec:  13852.50\n";

#[test]
fn summaries_are_read() {
    let (cell, ab) = converted(AB).unwrap();
    assert_eq!((cell.connections, cell.size_bytes, ab.requests, ab.failures), (10, 1024, 1950, 50));
    near(ab.requests_per_second, 975.0);
    for (found, expected) in [(ab.latency.mean, 0.01), (ab.latency.p90, 0.012), (ab.latency.p999, 0.055)] {
        near(found, expected);
    }
    near(ab.received_megabytes_per_second, 0.59);
    let (cell, wrk) = converted(WRK).unwrap();
    assert_eq!((cell.connections, wrk.requests, wrk.failures, wrk.received_bytes), (10, 27_700, 8, 1 << 20));
    for (found, expected) in [(wrk.latency.mean, 0.00175), (wrk.latency.p50, 0.000_166), (wrk.latency.max, 0.03895)] {
        near(found, expected);
    }
    let k6 = r#"{"metrics": {"http_reqs": {"count": 180, "rate": 90}, "vus_max": {"value": 20, "min": 20, "max": 20},
        "http_req_failed": {"passes": 4, "fails": 176, "value": 0.02}, "data_received": {"count": 1000000, "rate": 1},
        "http_req_duration": {"avg": 144.5, "min": 1, "med": 110.4, "max": 1140, "p(90)": 203.5, "p(95)": 215.9}}}"#;
    let (cell, k6) = converted(k6).unwrap();
    assert_eq!((cell.connections, k6.requests, k6.failures), (20, 176, 4));
    near(k6.seconds, 2.0);
    near(k6.latency.p90, 0.2035);
    // It was told no nearer.
    near(k6.latency.p99, 1.14);
}

#[test]
fn lines_of_requests_are_added_up() {
    let hey = "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset\n\
        0.0100,0.0,0.0,0.0,0.01,0.0,200,0.0\n0.0300,0.0,0.0,0.0,0.03,0.0,200,0.97\n0.02,0,0,0,0,0,503,0.5\n";
    let error = converted(hey).unwrap_err();
    assert!(error.contains("--concurrency"), "{error}");
    let jmeter = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,bytes,sentBytes,allThreads\n\
        1000,10,\"a, b\",200,OK,t 1-1,true,500,600,4\n1500,500,a,500,\"No, really\",t 1-2,false,100,600,5\n";
    let (cell, jmeter) = converted(jmeter).unwrap();
    assert_eq!((cell.connections, jmeter.requests, jmeter.failures, jmeter.sent_bytes), (5, 1, 1, 1200));
    assert_eq!(jmeter.failures_by_kind["status 500"].count, 1);
    near(jmeter.seconds, 1.0);
    near(jmeter.latency.p99, 0.01);
    let grinder = "Thread, Run, Test, Start time (ms since Epoch), Test time, Errors, HTTP response code, HTTP response length\n\
        0, 0, 1, 1000, 20, 0, 200, 512\n1, 0, 1, 1010, 990, 1, 500, 0\n";
    let (cell, grinder) = converted(grinder).unwrap();
    assert_eq!((cell.connections, grinder.requests, grinder.failures), (2, 1, 1));
    near(grinder.seconds, 1.0);
}

#[test]
fn what_cannot_be_read_is_told_with_its_place() {
    let told = |text: &str| converted(text).unwrap_err();
    assert!(told("hello\n").contains("none of these write: ab, wrk"));
    assert!(told(&AB.replace("Complete", "Done")).contains("as what ab writes: there is no line `Complete requests`"));
    assert!(told(&WRK.replace("Latency Distribution", "")).contains("call wrk with --latency"));
    assert!(told("timeStamp,elapsed,success\n1,x,true\n").contains("line 2: column elapsed: `x` is no number"));
    assert!(told("timeStamp,elapsed,success\n").contains("tells of no request"));
}

#[test]
fn several_targets_become_one_folder_and_our_own_results_stay_ours() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(path("one"), AB).unwrap();
    std::fs::write(path("two"), AB.replace("2000", "3000")).unwrap();
    let convert = |target: &str, out: &str| {
        let words = ["convert", "--target", target, "--size", "500", "--out", out, &path("one"), &path("two")];
        run(&CommandLine::try_parse_from(words).ok().unwrap().arguments, &mut Vec::new())
    };
    convert("a", &path("results")).unwrap();
    convert("b", &path("results")).unwrap();
    let results = results::read(Path::new(&path("results"))).unwrap();
    assert_eq!((results.run.targets.len(), results.run.cells.len()), (2, 1));
    assert_eq!(results.turns(&results.run.cells[0], "b")[1].outcome.requests, 2950);
    drop(Folder::begin(Path::new(&path("own")), Run::new(1, 1, Vec::new(), Machine::default())).unwrap());
    assert!(convert("a", &path("own")).unwrap_err().to_string().contains("a run of our own"));
}

#[test]
fn what_the_tools_print_today_is_read() {
    let echo = crate::echo::start("127.0.0.1:0".parse().unwrap(), crate::echo::Options::default()).unwrap();
    let url = format!("http://{}/x", echo.address);
    for (program, arguments) in
        [("ab", &["-q", "-k", "-n", "200", "-c", "4"][..]), ("wrk", &["-t1", "-c4", "-d1s", "--latency"])]
    {
        let Ok(output) = Command::new(program).args(arguments).arg(&url).output() else {
            myelin_testkit::skip(&format!("{program} is not installed"));
            continue;
        };
        let (cell, outcome) = converted(&String::from_utf8_lossy(&output.stdout)).unwrap();
        assert_eq!((cell.connections, outcome.failures), (4, 0), "{program}");
        assert!(
            outcome.requests >= 200 && outcome.seconds > 0.0 && outcome.latency.mean > 0.0,
            "{program}: {outcome:?}"
        );
    }
}
