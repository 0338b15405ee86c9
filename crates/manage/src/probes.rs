//! What orchestrators and load balancers ask: whether the process lives, and whether it is to get messages.

use myelin_message::StatusCode;
use serde_json::{Value, json};

/// How far the process has come, and how its configuration stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// How far it has come.
    pub stage: Stage,
    /// How many artefacts run.
    pub sound: usize,
    /// Those that do not.
    pub faulty: Vec<Faulty>,
    /// How often the configuration was loaded anew and serves.
    pub reloads: u64,
    /// How often a changed configuration was refused.
    pub refused_reloads: u64,
}

/// How far a process has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stage {
    /// It does not serve yet.
    Starting,
    /// It serves.
    #[default]
    Serving,
    /// It finishes what is under way, and takes no new connections.
    Draining,
}

/// An artefact that does not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Faulty {
    /// Its element.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// The archive that it came in, by its file name; otherwise empty.
    pub archive: String,
}

/// The process answers, so it lives.
pub(crate) fn liveness() -> (StatusCode, Value) {
    (StatusCode::OK, json!({ "version": env!("CARGO_PKG_VERSION"), "status": "ready" }))
}

/// As Micro Integrator has it, which names archives that hold something faulty; artefacts that came in no archive are
/// named beside them.
///
/// Source: `ReadinessProbe` of the Micro Integrator.
pub(crate) fn health(standing: &Standing) -> (StatusCode, Value) {
    let version = env!("CARGO_PKG_VERSION");
    match standing.stage {
        Stage::Starting => {
            (StatusCode::SERVICE_UNAVAILABLE, json!({ "version": version, "status": "not ready, starting" }))
        }
        Stage::Draining => {
            (StatusCode::SERVICE_UNAVAILABLE, json!({ "version": version, "status": "not ready, stopping" }))
        }
        Stage::Serving if standing.faulty.is_empty() => {
            (StatusCode::OK, json!({ "version": version, "status": "ready" }))
        }
        Stage::Serving => {
            let mut archives: Vec<&str> = standing.faulty.iter().map(|faulty| &*faulty.archive).collect();
            archives.retain(|archive| !archive.is_empty());
            archives.sort_unstable();
            archives.dedup();
            let artefacts = standing.faulty.iter().map(|Faulty { kind, name, .. }| format!("{kind} {name}"));
            let artefacts: Vec<String> = artefacts.collect();
            let status =
                if archives.is_empty() { "not ready, faulty artefacts" } else { "not ready, faulty CAPPs detected" };
            let value = json!({ "version": version, "status": status, "Faulty CAPPs": archives, "Faulty artefacts": artefacts });
            (StatusCode::INTERNAL_SERVER_ERROR, value)
        }
    }
}

/// Whether messages should come: a bus serves what is sound though other artefacts are faulty.
pub(crate) fn readiness(standing: &Standing) -> (StatusCode, Value) {
    let (status, word) = match standing.stage {
        Stage::Starting => (StatusCode::SERVICE_UNAVAILABLE, "starting"),
        Stage::Serving => (StatusCode::OK, "ready"),
        Stage::Draining => (StatusCode::SERVICE_UNAVAILABLE, "stopping"),
    };
    (status, json!({ "status": word, "artefacts": standing.sound, "faulty": standing.faulty.len() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standing(stage: Stage, faulty: &[(&str, &str)]) -> Standing {
        let faulty = faulty.iter().map(|(name, archive)| Faulty {
            kind: "proxy".to_owned(),
            name: (*name).to_owned(),
            archive: (*archive).to_owned(),
        });
        Standing { stage, faulty: faulty.collect(), ..Standing::default() }
    }

    #[test]
    fn health_names_what_is_faulty_and_readiness_goes_on_serving() {
        let ready = standing(Stage::Serving, &[]);
        assert_eq!((health(&ready).0, readiness(&ready).0), (StatusCode::OK, StatusCode::OK));
        let faulty = standing(Stage::Serving, &[("A", "orders_1.0.0.car"), ("B", "orders_1.0.0.car"), ("C", "")]);
        let (status, told) = health(&faulty);
        assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR);
        assert_eq!(told["status"], "not ready, faulty CAPPs detected");
        assert_eq!(told["Faulty CAPPs"], json!(["orders_1.0.0.car"]));
        assert_eq!(told["Faulty artefacts"], json!(["proxy A", "proxy B", "proxy C"]));
        assert_eq!(readiness(&faulty).0, StatusCode::OK);
        for stage in [Stage::Starting, Stage::Draining] {
            let standing = standing(stage, &[]);
            assert_eq!(health(&standing).0, StatusCode::SERVICE_UNAVAILABLE);
            assert_eq!(readiness(&standing).0, StatusCode::SERVICE_UNAVAILABLE);
        }
        assert_eq!(liveness().0, StatusCode::OK);
    }
}
