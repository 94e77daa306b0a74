#!/bin/sh
# Runs a command of Valetkey as the user of valetkey.service, with its settings and keys. Install it as /usr/local/sbin/valetkey.
set -eu
set -a
if [ -f /etc/valetkey/valetkey.env ]; then . /etc/valetkey/valetkey.env; fi
DATA_DIR=${DATA_DIR:-/var/lib/valetkey}
VALETKEY_KEYS=$(cat /etc/valetkey/keys)
set +a
cd /
exec setpriv --reuid=valetkey --regid=valetkey --clear-groups \
  /opt/valetkey/node_modules/.bin/node --disable-sigusr1 /opt/valetkey/cli/valetkey.js "$@"
