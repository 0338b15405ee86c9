use super::*;
use crate::load::{Ramp, Request, Verify};
use crate::{echo, payload};

/// An agent that ends with the test process.
fn agent(secret: Option<&'static str>) -> String {
    let listener = bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || serve(&listener, secret, &mut std::io::sink()));
    address.to_string()
}

fn plan(url: &str, requests: u64) -> Plan {
    let mut plan = Plan::new(url).unwrap();
    (plan.requests, plan.connections, plan.threads) = (Some(requests), 5, 2);
    plan.method = "POST".to_owned();
    plan.body = payload::soap(500).unwrap();
    plan.verify = Verify::Echo;
    plan.timeout = Duration::from_secs(20);
    plan
}

fn coordinated(plan: &Plan, agents: &[String], secret: Option<&str>) -> anyhow::Result<Outcome> {
    coordinate(plan, agents, secret, &AtomicBool::new(false), &mut |_| {})
}

#[test]
fn agents_share_a_run_and_their_measurements_are_added_up() {
    let echo = echo::start("127.0.0.1:0".parse().unwrap(), echo::Options::default()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let agents = [agent(None), agent(None)];
    let mut plan = plan(&format!("http://{}/", echo.address), 101);
    plan.idle_connections = 3;
    plan.histogram = Some(folder.path().join("latencies.hlog"));
    let outcome = coordinated(&plan, &agents, None).unwrap();
    assert!(outcome.is_clean(), "{:?}", outcome.failures_by_kind);
    assert_eq!((outcome.requests, outcome.connects, outcome.idle_connections), (101, 8, 3));
    assert_eq!((outcome.threads, outcome.agents.as_slice()), (4, &agents[..]));
    assert!(outcome.latency.p50 > 0.0 && outcome.latency.max < 20.0, "{:?}", outcome.latency);
    let log = std::fs::read_to_string(folder.path().join("latencies.hlog")).unwrap();
    assert!(log.lines().any(|line| line.starts_with("0.000,")), "{log}");

    // An open loop with several kinds of requests, and the same agents once more.
    let kind = |path: &str| Request::new(format!("http://{}{path}", echo.address).parse().unwrap());
    plan.mix = vec![kind("/a"), Request { weight: 3, template: true, ..kind("/{{n}}") }];
    plan.ramp = Some(Ramp::constant(400.0));
    (plan.requests, plan.histogram) = (Some(80), None);
    let outcome = coordinated(&plan, &agents, None).unwrap();
    assert!(outcome.is_clean(), "{:?}", outcome.failures_by_kind);
    let counts: Vec<u64> = outcome.by_request.iter().map(|kind| kind.requests).collect();
    assert_eq!(counts, [20, 60]);
    assert!(outcome.seconds > 0.15, "the rate is that of all agents together: {}", outcome.seconds);
}

#[test]
fn requests_of_an_open_loop_are_dealt_out_to_the_threads_of_all_agents() {
    let mut plan = plan("http://127.0.0.1/", 10);
    let closed = parts(&plan, 3);
    let shares: Vec<_> = closed.iter().map(|(plan, part)| (plan.requests, plan.connections, part.first)).collect();
    assert_eq!(shares, [(Some(4), 2, 0), (Some(3), 2, 2), (Some(3), 1, 4)]);
    assert!(closed.iter().all(|(_, part)| part.of == 5));
    plan.rate = Some(10.0);
    assert!(parts(&plan, 3).iter().all(|(plan, _)| plan.requests == Some(10)));
}

#[test]
fn an_interrupt_ends_the_run_of_all_agents() {
    let echo = echo::start("127.0.0.1:0".parse().unwrap(), echo::Options::default()).unwrap();
    let plan = plan(&format!("http://{}/", echo.address), 1_000_000_000);
    let interrupt = AtomicBool::new(false);
    let outcome = coordinate(&plan, &[agent(None), agent(None)], None, &interrupt, &mut |progress| {
        if progress.requests > 0 {
            interrupt.store(true, Ordering::Relaxed);
        }
    });
    let outcome = outcome.unwrap();
    assert!(outcome.requests > 0 && outcome.failures == 0, "{outcome:?}");
}

#[test]
fn what_cannot_be_coordinated_is_said() {
    let refused = |plan: &Plan, agents: &[String], secret: Option<&str>, wanted: &str| {
        let error = format!("{:#}", coordinated(plan, agents, secret).unwrap_err());
        assert!(error.contains(wanted), "{error}");
    };
    let good = plan("http://127.0.0.1:1/", 1);
    refused(&good, &["127.0.0.1:1".to_owned()], None, "cannot reach the agent 127.0.0.1:1");
    refused(&good, &["nowhere".to_owned()], None, "write HOST:PORT");
    refused(&Plan { connections: 1, ..good.clone() }, &[agent(None), agent(None)], None, "see --connections");
    refused(&good, &[agent(Some("one"))], Some("other"), "the secret is another one");
    refused(&good, &[agent(Some("one"))], None, "the secret is another one");
    let template = Plan { template: true, body: payload::Payload::from(b"{{x}}".to_vec()), ..good };
    refused(&template, &[agent(None)], None, "`{{x}}` is none of");

    let open = bind("0.0.0.0:0".parse().unwrap()).unwrap();
    assert!(serve(&open, None, &mut std::io::sink()).is_err());
}

#[test]
fn an_agent_survives_what_is_no_plan() {
    let agent = agent(None);
    for words in [&b""[..], b"GET / HTTP/1.1\r\n\r\n", b"\"Start\"\n", b"{\"Prepare\":{}}\n"] {
        let mut stream = TcpStream::connect(&agent).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.write_all(words).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("{\"Refused\""), "{answer}");
    }
    let echo = echo::start("127.0.0.1:0".parse().unwrap(), echo::Options::default()).unwrap();
    let outcome = coordinated(&plan(&format!("http://{}/", echo.address), 10), &[agent], None).unwrap();
    assert_eq!(outcome.requests, 10);
}
