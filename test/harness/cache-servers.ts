import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../sandbox/port.ts'
import { startServer } from './server.ts'

/** The folder and the port of a cache server, and the URL of the store behind it. */
interface Place {
  readonly dir: string
  readonly port: number
  readonly store: URL
}

interface CacheServer {
  readonly name: string
  /** The path in Debian's package; without the program, the story is skipped. */
  readonly program: string
  /** Whether it caches answers; Debian's Caddy does not. */
  readonly keeps: boolean
  readonly file: string
  readonly config: (place: Place) => string
  readonly args: (file: string, place: Place) => readonly string[]
}

/** Caches everything that the headers of the answer allow, even for requests with a token or a cookie. */
const nginx: CacheServer = {
  name: 'nginx',
  program: '/usr/sbin/nginx',
  keeps: true,
  file: 'nginx.conf',
  config: ({ dir, port, store }) => `
${process.getuid?.() === 0 ? 'user root;' : ''}
daemon off; pid ${dir}/pid; error_log ${dir}/error.log; worker_processes 1;
events {}
http {
  access_log off;
  client_body_temp_path ${dir}/body; proxy_temp_path ${dir}/temp; fastcgi_temp_path ${dir}/f;
  uwsgi_temp_path ${dir}/u; scgi_temp_path ${dir}/s;
  proxy_cache_path ${dir}/kept keys_zone=all:1m;
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://${store.host};
      proxy_buffer_size 32k; proxy_buffers 8 32k; proxy_busy_buffers_size 64k;
      proxy_cache all; proxy_cache_methods GET HEAD POST; proxy_cache_valid any 10m;
      proxy_cache_key $uri$is_args$args;
      add_header x-cache $upstream_cache_status always;
    }
  }
}`,
  args: (file, { dir }) => ['-p', dir, '-c', file],
}

/** Looks up every GET in its cache, even with a token or a cookie. */
const varnish: CacheServer = {
  name: 'varnish',
  program: '/usr/sbin/varnishd',
  keeps: true,
  file: 'default.vcl',
  config: ({ store }) => `vcl 4.1;
backend default { .host = "${store.hostname}"; .port = "${store.port}"; }
sub vcl_recv { if (req.method == "GET" || req.method == "HEAD") { return (hash); } return (pass); }
sub vcl_deliver {
  if (obj.hits > 0) { set resp.http.x-cache = "HIT"; } else { set resp.http.x-cache = "MISS"; }
}`,
  args: (file, { dir, port }) =>
    ['-F', '-j', 'none', '-T', 'none', '-n', dir, '-a', `127.0.0.1:${port}`].concat([
      '-f',
      file,
      '-s',
      'malloc,16m',
    ]),
}

const caddy: CacheServer = {
  name: 'caddy',
  program: '/usr/bin/caddy',
  keeps: false,
  file: 'Caddyfile',
  config: ({ port, store }) => `{
  admin off
  auto_https off
}
http://127.0.0.1:${port} {
  reverse_proxy ${store.host}
}`,
  args: (file) => ['run', '--config', file, '--adapter', 'caddyfile'],
}

export const cacheServers: readonly CacheServer[] = [nginx, varnish, caddy]

/** Starts a cache server in front of a store, in a folder of its own. */
export async function startCacheServer(server: CacheServer, storeUrl: string) {
  const dir = await mkdtemp(join(tmpdir(), 'kiosk402-cache-'))
  const place = { dir, port: await freePort(), store: new URL(storeUrl) }
  const file = join(dir, server.file)
  await mkdir(join(dir, 'kept'))
  await writeFile(file, server.config(place))
  const url = `http://127.0.0.1:${place.port}`
  const isThere = () => fetch(`${url}/livez`).then(({ ok }) => ok)
  const { stop } = await startServer({ ...server, dir, args: server.args(file, place), isThere })
  return { url, stop }
}
