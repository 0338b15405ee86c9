# Starts Synapse in the foreground: start.sh FOLDER JARS
set -eu
cd "$1"
mkdir -p repository/services repository/modules logs work
exec java -server -Xms2g -Xmx2g -XX:+UseParallelGC \
    --add-opens java.base/java.lang=ALL-UNNAMED --add-opens java.base/java.util=ALL-UNNAMED \
    --add-opens java.base/java.net=ALL-UNNAMED --add-opens java.base/sun.nio.ch=ALL-UNNAMED \
    "-Djava.io.tmpdir=$1/work" "-Dlog4j.configuration=file:$1/classes/log4j.properties" \
    -Djavax.xml.transform.TransformerFactory=com.sun.org.apache.xalan.internal.xsltc.trax.TransformerFactoryImpl \
    -cp "$1/classes:$2/*" org.apache.synapse.SynapseServer \
    "$1/repository" "$1/axis2.xml" "$1" "$1/synapse.xml" "$1/repository" bench
