#!/bin/sh
# Makes the role of the store when the database is made (compose.yml); audit.sql runs after it. STORE_PASSWORD is the
# password in DATABASE_URL.
set -eu
psql --username postgres --dbname kiosk402 --set ON_ERROR_STOP=1 --set "password=$(cat /run/secrets/STORE_PASSWORD)" <<'SQL'
create role kiosk402 login createdb password :'password';
alter database kiosk402 owner to kiosk402;
SQL
