//! `myelin explain`: what a configuration will do, with the settings that its bus will have.

use std::fs;

use super::myelin;

const CONFIGURATION: &str = r#"<definitions xmlns="http://ws.apache.org/ns/synapse">
    <proxy name="Orders"><target><inSequence>
        <filter xpath="//symbol = 'IBM'"><then><drop/></then></filter>
        <send><endpoint><address uri="http://127.0.0.1:9/orders"/></endpoint></send>
    </inSequence></target></proxy>
    <proxy name="Plain" transports="http"><target><inSequence><http.get configKey="Backend"/></inSequence></target></proxy>
    <localEntry key="Backend"><http.init><baseUrl>http://127.0.0.1:9</baseUrl></http.init></localEntry>
    <proxy name="Late"><target><inSequence><sequence key="nowhere"/></inSequence></target></proxy>
    <proxy name="Broken"><target><inSequence><frobnicate/></inSequence></target></proxy>
</definitions>"#;

#[test]
fn services_are_told_with_their_steps_and_the_limits_of_their_settings() {
    let folder = tempfile::tempdir().unwrap();
    let (configuration, settings) = (folder.path().join("synapse.xml"), folder.path().join("deployment.toml"));
    fs::write(&configuration, CONFIGURATION).unwrap();
    fs::write(&settings, "[myelin.content]\nbody_bytes = 4711\n").unwrap();
    let (configuration, settings) = (configuration.display(), settings.display());
    let told = myelin(&format!("explain {configuration} --config {settings}"), "");
    assert_eq!(told.code, 0, "{}", told.err);
    for part in [
        "at /services/Orders\n",
        "at /services/Plain (http)\n",
        "sends to connection Backend",
        "in: reads the body as far as it must, while it passes",
        "send (",
        "sends to http://127.0.0.1:9/orders",
        "there is no sequence \"nowhere\"",
        "largest body that is read, in bytes: 4711",
    ] {
        assert!(told.out.contains(part), "{part} is not in {}", told.out);
    }
    assert!(told.err.contains("artefacts that do not run: 1; `myelin check` reports the reasons"), "{}", told.err);
    let broken = myelin(&format!("explain {configuration} --artefact Broken"), "");
    assert_eq!(broken.code, 1);
    assert!(broken.err.contains("no service named \"Broken\" runs"), "{}", broken.err);
    let json = myelin(&format!("explain {configuration} --artefact Orders --format json"), "");
    assert!(json.out.contains(r#""routes": ["#) && !json.out.contains("Broken"), "{}", json.out);
}
