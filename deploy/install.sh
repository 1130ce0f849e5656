#!/bin/sh
# Installs a store on Debian 12 from the tarball of a release, beside a PostgreSQL on the same machine. It says what it
# does, and may be run again: what is there stays, above all secrets. docs/operators/going-live.md has the steps by hand.
set -eu

usage='Usage: deploy/install.sh [--dry-run] [--proxy caddy|nginx|none] [--node FOLDER] TARBALL

  --dry-run      says what it would do, and changes nothing
  --proxy        the proxy to configure if it has no configuration of ours; caddy otherwise
  --node FOLDER  Node 24 for Linux, unpacked; otherwise the node in PATH must be version 24

Example: sudo deploy/install.sh --node /opt/node-v24.21.0-linux-x64 kiosk402-0.2.0.tgz'

dry='' proxy=caddy node='' tarball=''
while [ $# -gt 0 ]; do
  case $1 in
    --dry-run) dry=1 ;;
    --proxy) proxy=${2?$usage}; shift ;;
    --node) node=${2?$usage}; shift ;;
    -*) echo "$usage" >&2; exit 2 ;;
    *) tarball=$1 ;;
  esac
  shift
done
case $proxy in caddy | nginx | none) ;; *) echo "$usage" >&2; exit 2 ;; esac
case $tarball in *kiosk402-*.tgz) ;; *) echo "$usage" >&2; exit 2 ;; esac
tarball=$(readlink -e "$tarball") || { echo 'There is no such tarball' >&2; exit 2; }
[ -n "$dry" ] || [ "$(id -u)" -eq 0 ] || { echo 'Run it as root: sudo' >&2; exit 1; }

etc=/etc/kiosk402
secrets=$etc/secrets
name=$(basename "$tarball" .tgz)
home=/opt/$name
# The programs of PostgreSQL run as another account, which may not read this folder.
cd /

# step TEXT COMMAND...: says the text, and runs the command unless it is a dry run.
step() {
  echo "$1"
  shift
  [ -n "$dry" ] || "$@"
}

packages() {
  apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -yq --no-install-recommends "$@"
}

account() {
  adduser --quiet --system --group --no-create-home --home /opt/kiosk402 kiosk402
}

unpack() {
  # What was broken off is no installation.
  rm -rf /opt/.kiosk402-part && mkdir /opt/.kiosk402-part
  tar --extract --file "$tarball" --directory /opt/.kiosk402-part --no-same-owner
  mv "/opt/.kiosk402-part/$name" /opt/ && rmdir /opt/.kiosk402-part
}

links() {
  [ -z "$node" ] || ln -sfn "$node/bin/node" /usr/local/bin/node
  ln -sfn "$home" /opt/kiosk402
  ln -sfn /opt/kiosk402/scripts/kiosk402 /usr/local/bin/kiosk402
}

settings() {
  install -d -m 755 "$etc"
  install -d -m 700 "$secrets" /var/backups/kiosk402
  [ -f "$etc/store.env" ] || install -m 600 "$home/deploy/store.env" "$etc/store.env"
}

# secret NAME: keeps standard input as a secret, unless there is one.
secret() {
  [ -s "$secrets/$1" ] || install -m 600 /dev/stdin "$secrets/$1"
}

own_secrets() {
  head -c 32 /dev/urandom | base64 -w 0 | secret SECRETS_KEY
  random | secret METRICS_TOKEN
  echo 'Keep a copy of SECRETS_KEY apart from the database and its backups.'
}

random() {
  head -c 24 /dev/urandom | od -An -tx1 | tr -d ' \n'
}

as_postgres() {
  runuser -u postgres -- "$@"
}

# has SQL: whether the query has a row.
has() {
  as_postgres psql -tAc "$1" | grep -q 1
}

# The store's role owns the database, and the audit belongs to another one.
database() {
  if [ ! -s "$secrets/DATABASE_URL" ]; then
    password=$(random)
    act=create
    ! has "select 1 from pg_roles where rolname = 'kiosk402'" || act=alter
    echo "$act role kiosk402 login createdb password '$password'" | as_postgres psql -q -v ON_ERROR_STOP=1
    printf 'postgres://kiosk402:%s@127.0.0.1/kiosk402' "$password" | secret DATABASE_URL
  elif ! grep -q '@127.0.0.1/kiosk402$' "$secrets/DATABASE_URL"; then
    echo '  DATABASE_URL names another one: run deploy/audit.sql on it as its administrator'
    return
  fi
  has "select 1 from pg_database where datname = 'kiosk402'" ||
    as_postgres createdb --owner kiosk402 --encoding UTF8 --template template0 kiosk402
  as_postgres psql -q -v ON_ERROR_STOP=1 --dbname kiosk402 --file - <"$home/deploy/audit.sql"
}

units() {
  unit=/etc/systemd/system/kiosk402@.service
  install -m 644 "$home"/deploy/*.service "$home"/deploy/*.timer /etc/systemd/system/
  [ -s "$secrets/REDIS_URL" ] || sed -i '/REDIS_URL/d' "$unit"
  [ -s "$secrets/RPC_WITNESS_URLS" ] || sed -i '/RPC_WITNESS_URLS/d' "$unit"
  [ -s "$secrets/RPC_WITNESS_URLS" ] || sed -i '/^WITNESS_ABOVE_USDC/d' "$etc/store.env"
  # Where systemd does not run, as in an image that is being made, the units are only enabled.
  [ ! -d /run/systemd/system ] || systemctl daemon-reload
  # shellcheck disable=SC2046
  systemctl enable --quiet kiosk402@1.service $(basename -a "$home"/deploy/*.timer)
}

front() {
  case $proxy in
    caddy) file=/etc/caddy/Caddyfile from=Caddyfile ;;
    nginx) file=/etc/nginx/conf.d/kiosk402.conf from=nginx.conf ;;
  esac
  grep -qs kiosk402 "$file" || install --backup=numbered -m 644 "$home/deploy/$from" "$file"
}

wanted='adduser postgresql ca-certificates'
[ "$proxy" = none ] || wanted="$wanted $proxy"
missing=''
for package in $wanted; do
  dpkg-query -Wf '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
done

# shellcheck disable=SC2086
[ -z "$missing" ] || step "Installs$missing" packages $missing
[ -n "$node" ] || [ "$(node -p 'process.versions.node.split(".")[0]' 2>/dev/null)" -ge 24 ] 2>/dev/null ||
  { echo 'Node 24 is missing: unpack it from nodejs.org, and name its folder with --node' >&2; exit 1; }
getent passwd kiosk402 >/dev/null || step 'Makes the account kiosk402' account
[ -d "$home" ] || step "Unpacks $name into /opt" unpack
step "Points /opt/kiosk402 at $home, and kiosk402 into /usr/local/bin" links
step "Makes $etc with store.env, and /var/backups/kiosk402, if they are missing" settings
step "Makes SECRETS_KEY and METRICS_TOKEN in $secrets, if they are missing" own_secrets
step 'Makes the roles and the database kiosk402, if they are missing, and gives the audit to its own role' database
step 'Installs the unit of nodes and the timers, and enables them' units
[ "$proxy" = none ] || step "Configures $proxy, unless it is" front

cat <<SAY

What is left:
  1. In $etc/store.env: PUBLIC_URL, PAY_TO and the contact. In the configuration of the proxy: your domain name.
  2. RPC_URL, GAS_KEY, REFUND_KEY and SUPPLIER_KEY, which only root may read, each by:
     read -rsp 'NAME: ' value && printf %s "\$value" | sudo install -m 600 /dev/stdin $secrets/NAME
  3. systemctl start kiosk402@1 && journalctl --unit kiosk402@1 --follow
SAY
