#!/usr/bin/env bash
# Runs Apache Synapse 3.0.1 in the foreground: run.sh HOME FOLDER PORT [HEAP, 256m by default]
# HOME is a scratch folder that several may share; FOLDER holds synapse.xml, and relative files start there.
# It listens on http://127.0.0.1:PORT. Status 3: this machine lacks something.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=$(realpath "$2") port=$3 heap=${4:-256m}
mkdir -p "$1"
home=$(cd "$1" && pwd)

copy() {
    mvn -q -B "$@" -f "$here/pom.xml" dependency:copy-dependencies "-DoutputDirectory=$home/jars"
}
command -v java >/dev/null && command -v mvn >/dev/null || { echo "no JDK or no Maven here"; exit 3; }
exec 9>"$home/lock"
flock 9
sources=$(cat "$here/pom.xml")
if [ "$sources" != "$(cat "$home/built-from" 2>/dev/null)" ]; then
    # Offline first: without the network it is as good.
    copy -o >/dev/null || copy || exit 3
    printf '%s\n' "$sources" >"$home/built-from"
fi
exec 9>&-

repository="$folder/repository"
mkdir -p "$repository"/{conf,modules,services} "$folder/work"
cp "$home"/jars/addressing-*.mar "$repository/modules/addressing.mar"
sed -e "s#@PORT@#$port#" "$here/axis2.xml" >"$repository/conf/axis2.xml"
cp "$here/axis2_blocking_client.xml" "$repository/conf/"
cd "$folder"
exec java -server "-Xms$heap" "-Xmx$heap" -XX:+UseSerialGC \
    --add-opens java.base/java.lang=ALL-UNNAMED --add-opens java.base/java.util=ALL-UNNAMED \
    --add-opens java.base/java.net=ALL-UNNAMED --add-opens java.base/sun.nio.ch=ALL-UNNAMED \
    "-Djava.io.tmpdir=$folder/work" "-Dlog4j.configuration=file:$here/log4j.properties" \
    -cp "$home/jars/*" org.apache.synapse.SynapseServer \
    "$repository" "$repository/conf/axis2.xml" "$folder" "$folder/synapse.xml" "$repository" oracle
