//! Stylesheets of others, and documents for them: fetched from Debian, Maven Central and PyPI by their ordinary clients.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use crate::process::{is_installed, succeeds};
use crate::workspace::root;

/// Of one package.
const DEADLINE: Duration = Duration::from_secs(5 * 60);

/// What copies an artefact out of Maven's registry.
const COPY: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.6.0:copy";

/// A package that is fetched.
struct Package {
    /// Its name on the page.
    name: &'static str,
    /// The folder that it comes to.
    folder: &'static str,
    source: Source,
}

enum Source {
    /// A package of the release of Debian that runs here.
    Debian(&'static str),
    /// An artefact with its version, which is unpacked.
    Maven(&'static str),
    /// An artefact that stays packed, with the file it becomes.
    Jar(&'static str, &'static str),
    /// A package with its version.
    Python(&'static str),
}

const PACKAGES: &[Package] = &[
    Package { name: "DocBook XSL, namespaced", folder: "docbook-xsl-ns", source: Source::Debian("docbook-xsl-ns") },
    Package { name: "DocBook XSL", folder: "docbook-xsl", source: Source::Debian("docbook-xsl") },
    Package { name: "DocBook's DTD", folder: "docbook-xml", source: Source::Debian("docbook-xml") },
    Package { name: "MATE's user guide", folder: "mate-user-guide", source: Source::Debian("mate-user-guide") },
    Package { name: "Yelp XSL", folder: "yelp-xsl", source: Source::Debian("yelp-xsl") },
    Package { name: "GNOME's help", folder: "gnome-user-docs", source: Source::Debian("gnome-user-docs") },
    Package { name: "DITA Open Toolkit", folder: "dita-ot", source: Source::Debian("dita-ot") },
    Package { name: "Nmap", folder: "nmap-common", source: Source::Debian("nmap-common") },
    Package { name: "lxml", folder: "lxml", source: Source::Python("lxml==6.1.3") },
    Package { name: "Saxon-HE", folder: "saxon", source: Source::Jar("net.sf.saxon:Saxon-HE:12.5", "Saxon-HE.jar") },
    Package {
        name: "XML Resolver",
        folder: "xmlresolver",
        source: Source::Jar("org.xmlresolver:xmlresolver:5.2.2", "xmlresolver.jar"),
    },
    Package {
        name: "XML Resolver, data",
        folder: "xmlresolver-data",
        source: Source::Jar("org.xmlresolver:xmlresolver:5.2.2:jar:data", "xmlresolver-data.jar"),
    },
    Package { name: "SchXslt", folder: "schxslt", source: Source::Maven("name.dmaus.schxslt:schxslt:1.10.1") },
    Package { name: "SchXslt2", folder: "schxslt2", source: Source::Maven("name.dmaus.schxslt:schxslt2:1.10.2") },
    Package { name: "XSpec", folder: "xspec", source: Source::Maven("io.xspec:xspec:3.2.2") },
    Package {
        name: "DocBook's schemas",
        folder: "schemas-docbook",
        source: Source::Maven("org.docbook:schemas-docbook:5.2CR5"),
    },
    Package {
        name: "DocBook xslTNG",
        folder: "docbook-xslTNG",
        source: Source::Maven("org.docbook:docbook-xslTNG:2.8.5"),
    },
    Package {
        name: "EN 16931 rules",
        folder: "phive-rules-en16931",
        source: Source::Maven("com.helger.phive.rules:phive-rules-en16931:3.2.13"),
    },
    Package {
        name: "XRechnung rules",
        folder: "phive-rules-xrechnung",
        source: Source::Maven("com.helger.phive.rules:phive-rules-xrechnung:3.2.13"),
    },
    Package {
        name: "Peppol rules",
        folder: "phive-rules-peppol",
        source: Source::Maven("com.helger.phive.rules:phive-rules-peppol:3.2.13"),
    },
    Package {
        name: "ZUGFeRD validator",
        folder: "zugferd-validator",
        source: Source::Maven("org.mustangproject:validator:2.16.0"),
    },
    Package {
        name: "ZUGFeRD library",
        folder: "zugferd-library",
        source: Source::Maven("org.mustangproject:library:2.16.0"),
    },
    Package {
        name: "UBL documents",
        folder: "ph-ubl-testfiles",
        source: Source::Maven("com.helger.ubl:ph-ubl-testfiles:10.1.0"),
    },
    Package {
        name: "CII documents",
        folder: "ph-cii-testfiles",
        source: Source::Maven("com.helger.cii:ph-cii-testfiles:4.1.1"),
    },
];

/// Files of our own: what is run has to come from somewhere, and some packages bring none.
const OWN: &[(&str, &str)] = &[
    (
        "catalog.xml",
        r#"<catalog xmlns="urn:oasis:names:tc:entity:xmlns:xml:catalog">
  <nextCatalog catalog="docbook-xml/usr/share/xml/docbook/schema/dtd/4.5/catalog.xml"/>
</catalog>
"#,
    ),
    ("own/greeting.xspec", include_str!("sheets/greeting.xspec")),
    ("own/greeting.xsl", include_str!("sheets/greeting.xsl")),
    ("own/article.xml", include_str!("sheets/article.xml")),
    ("own/topic.dita", include_str!("sheets/topic.dita")),
    ("own/scan.xml", include_str!("sheets/scan.xml")),
];

/// Fetches what is not there yet, and says what cannot be had; the folder with all of it.
///
/// Errors: when the folder cannot be written.
pub(crate) fn fetch() -> Result<PathBuf> {
    let folder = root().join("target/sheets");
    for (file, text) in OWN {
        let path = folder.join(file);
        fs::create_dir_all(path.parent().unwrap_or(&folder))?;
        fs::write(&path, text).with_context(|| path.display().to_string())?;
    }
    for package in PACKAGES {
        if folder.join(package.folder).is_dir() {
            continue;
        }
        println!("sheets: fetching {}", package.name);
        if let Err(error) = package.fetch(&folder) {
            println!("sheets: {} is skipped: {error:#}", package.name);
        }
    }
    Ok(folder)
}

impl Package {
    /// Fetches it aside, so that its folder is there only when all of it is.
    fn fetch(&self, folder: &Path) -> Result<()> {
        let download = folder.join(".download");
        let aside = folder.join(".unpacked");
        for path in [&download, &aside] {
            // Only a leftover of a run that was ended.
            let _ = fs::remove_dir_all(path);
            fs::create_dir_all(path)?;
        }
        let (version, registry) = self.download(&download)?;
        let file = only_file(&download)?;
        match self.source {
            Source::Debian(_) => run(Command::new("dpkg-deb").arg("-x").arg(&file).arg(&aside))?,
            Source::Jar(_, name) => drop(fs::copy(&file, aside.join(name))?),
            // A wheel is an archive of the same kind.
            Source::Maven(_) | Source::Python(_) => run(Command::new("jar").arg("xf").arg(&file).current_dir(&aside))?,
        }
        let version = version.unwrap_or_else(|| version_of_deb(&file));
        fs::write(aside.join(".version"), format!("{} {version} ({registry})\n", self.name))?;
        fs::rename(&aside, folder.join(self.folder))?;
        Ok(fs::remove_dir_all(&download)?)
    }

    /// Downloads the one file that it is; its version, where that is known before, and where it is from.
    fn download(&self, to: &Path) -> Result<(Option<String>, &'static str)> {
        match self.source {
            Source::Debian(name) => {
                run(Command::new("apt-get").args(["-qq", "download", name]).current_dir(to))?;
                Ok((None, "Debian"))
            }
            Source::Maven(artefact) | Source::Jar(artefact, _) => {
                let mut copy = Command::new("mvn");
                copy.args(["-q", "-B", COPY, &format!("-Dartifact={artefact}")]);
                run(copy.arg(format!("-DoutputDirectory={}", to.display())).current_dir(to))?;
                Ok((artefact.split(':').nth(2).map(str::to_owned), "Maven Central"))
            }
            Source::Python(name) => {
                run(Command::new("pip3").args(["download", "-q", "--no-deps", "-d"]).arg(to).arg(name))?;
                Ok((name.split("==").nth(1).map(str::to_owned), "PyPI"))
            }
        }
    }
}

/// The version in the name of a package's file, `NAME_VERSION_ARCHITECTURE.deb`.
fn version_of_deb(file: &Path) -> String {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    name.split('_').nth(1).unwrap_or_default().replace("%3a", ":")
}

fn only_file(folder: &Path) -> Result<PathBuf> {
    let mut files = fs::read_dir(folder)?.collect::<std::io::Result<Vec<_>>>()?;
    match (files.pop(), files.is_empty()) {
        (Some(file), true) => Ok(file.path()),
        _ => bail!("the download is not one file"),
    }
}

fn run(command: &mut Command) -> Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    ensure!(is_installed(&program), "{program} is not installed");
    ensure!(succeeds(command, DEADLINE)?, "{program} failed");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_taken_from_the_name_of_a_package() {
        assert_eq!(version_of_deb(Path::new("/d/docbook-xsl_1.79.2+dfsg-2_all.deb")), "1.79.2+dfsg-2");
        assert_eq!(version_of_deb(Path::new("erl_1%3a25.2_amd64.deb")), "1:25.2");
    }

    #[test]
    fn each_package_has_a_folder_of_its_own() {
        for (index, package) in PACKAGES.iter().enumerate() {
            assert!(PACKAGES[..index].iter().all(|other| other.folder != package.folder), "{}", package.folder);
        }
    }
}
