#!/bin/sh
# Runs a command of Valetkey as the user of valetkey.service, with its settings and keys. Install it as
# /usr/local/sbin/valetkey.
set -eu
settings=/etc/valetkey/valetkey.env
# The file is read as systemd reads it. A shell would execute what follows a space, `;` or `&` in a value.
if [ -f "$settings" ]; then
  while IFS= read -r line || [ -n "$line" ]; do
    case $line in
      [A-Za-z_]*=*)
        value=${line#*=}
        case $value in
          \"*\" | \'*\') value=${value#?} value=${value%?} ;;
        esac
        export "${line%%=*}=$value"
        ;;
    esac
  done < "$settings"
fi
DATA_DIR=${DATA_DIR:-/var/lib/valetkey}
VALETKEY_KEYS=$(cat /etc/valetkey/keys)
export DATA_DIR VALETKEY_KEYS
cd /
exec setpriv --reuid=valetkey --regid=valetkey --clear-groups \
  /opt/valetkey/node_modules/.bin/node --disable-sigusr1 /opt/valetkey/cli/valetkey.js "$@"
