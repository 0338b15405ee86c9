#!/usr/bin/env bash
# Runs Apache Synapse 3.0.1 with Rampart 1.7.1 in the foreground: run.sh HOME KEYS PORT BACKEND [HEAP, 512m by default]
# HOME is a scratch folder that several may share, KEYS a folder with receivers.jks, BACKEND a URL.
# The gateway is http://127.0.0.1:PORT/services/secure. Status 3: this machine lacks something.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
keys=$(realpath "$2") port=$3 backend=$4 heap=${5:-512m}
mkdir -p "$1"
home=$(cd "$1" && pwd)

build() {
    mvn -q -B "$@" -f "$here/pom.xml" "-Dpeer.directory=$home/built" compile dependency:copy-dependencies
}
command -v java >/dev/null && command -v mvn >/dev/null || { echo "no JDK or no Maven here"; exit 3; }
exec 9>"$home/lock"
flock 9
sources=$(cat "$here/pom.xml" "$here"/src/main/java/myelin/rampart/*.java)
if [ "$sources" != "$(cat "$home/built-from" 2>/dev/null)" ]; then
    # Offline first: without the network it is as good.
    build -o >/dev/null || build || exit 3
    printf '%s\n' "$sources" >"$home/built-from"
fi
exec 9>&-

instance="$home/$port"
mkdir -p "$instance"/repository/{modules,services} "$instance/logs"
cp "$home"/built/jars/rampart-*.mar "$instance/repository/modules/rampart.mar"
for file in axis2.xml synapse.xml policy.xml; do
    sed -e "s#@PORT@#$port#" -e "s#@BACKEND@#$backend#" -e "s#@KEYS@#$keys#" -e "s#@HOME@#$instance#" \
        "$here/$file" >"$instance/$file"
done
cd "$instance"
exec java -server "-Xms$heap" "-Xmx$heap" -XX:+UseParallelGC \
    --add-opens java.base/java.lang=ALL-UNNAMED --add-opens java.base/java.util=ALL-UNNAMED \
    --add-opens java.base/java.net=ALL-UNNAMED --add-opens java.base/sun.nio.ch=ALL-UNNAMED \
    "-Djava.io.tmpdir=$instance/logs" "-Dlog4j.configuration=file:$here/log4j.properties" \
    -cp "$home/built/classes:$home/built/jars/*" org.apache.synapse.SynapseServer \
    "$instance/repository" "$instance/axis2.xml" "$instance" "$instance/synapse.xml" "$instance/repository" rampart
