import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../sandbox/port.ts'
import { writePrivateFile } from '../../sandbox/private-file.ts'
import { leftOut, works } from './left-out.ts'
import { type Installed, startServer } from './server.ts'
import { asker } from './tls-client.ts'

/** The name in the files of deploy/. By default it is kept: clients send it, and the certificate names it. */
export const storeName = 'store.example.com'
/** The nodes in the files of deploy/. */
const nodesThere = ['127.0.0.1:8411', '127.0.0.1:8412'] as const

/** The values to fill in: ports, certificate and nodes. */
interface Place {
  readonly dir: string
  /** The host name that clients send and the certificate names. */
  readonly name: string
  readonly port: number
  readonly plainPort: number
  /** The port on which Caddy listens for itself. */
  readonly innerPort: number
  readonly certificate: { readonly file: string; readonly key: string }
  /** The content of the certificate, for clients to trust. */
  readonly ca: string
  readonly nodes: readonly [string, string]
}

export interface Front extends Installed {
  /** The arguments to run the configuration in the folder. */
  readonly args: (dir: string) => readonly string[]
  /** The arguments to only check it. */
  readonly check: (dir: string) => readonly string[]
  /**
   * Writes its file of deploy/ with the values filled in, in one step: if nginx reloaded an empty file, it
   * would close its port.
   */
  readonly write: (place: Place, change?: (text: string) => string) => Promise<void>
}

/** A file of deploy/ with some texts replaced. @throws if a text is not in the file */
export function filled(file: string, texts: readonly (readonly [string, string])[]): string {
  return texts.reduce(
    (text, [there, here]) => {
      if (!text.includes(there)) throw new Error(`deploy/${file} does not say: ${there}`)
      return text.replaceAll(there, here)
    },
    readFileSync(`deploy/${file}`, 'utf8'),
  )
}

const nodesIn = ({ nodes }: Place) => nodesThere.map((node, at) => [node, nodes[at] ?? ''] as const)

const nginx: Front = {
  name: 'nginx',
  program: '/usr/sbin/nginx',
  args: (dir) => ['-p', dir, '-c', join(dir, 'nginx.conf')],
  check: (dir) => ['-t', '-q', '-p', dir, '-c', join(dir, 'nginx.conf')],
  async write(place, change = (text) => text) {
    const { dir, name, port, plainPort, certificate } = place
    const folder = `/etc/letsencrypt/live/${storeName}`
    const text = filled('nginx.conf', [
      ...nodesIn(place),
      ['listen [::]:80;', ''],
      ['listen [::]:443 ssl http2;', ''],
      ['listen 80;', `listen 127.0.0.1:${plainPort};`],
      ['listen 443 ', `listen 127.0.0.1:${port} `],
      [`${folder}/fullchain.pem`, certificate.file],
      [`${folder}/privkey.pem`, certificate.key],
      ['/var/log/nginx', dir],
      [`server_name ${storeName};`, `server_name ${name};`],
    ])
    await writePrivateFile(join(dir, 'kiosk402.conf'), change(text))
    await writePrivateFile(join(dir, 'nginx.conf'), nginxAround(dir))
  },
}

/** The part of Debian's nginx.conf around conf.d that can change an answer. */
function nginxAround(dir: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  return `
${process.getuid?.() === 0 ? 'user root;' : ''}
daemon off; pid ${dir}/pid; error_log ${dir}/error.log; worker_processes 1;
events { worker_connections 768; }
http {
  ${temporary.map((what) => `${what}_temp_path ${dir}/${what};`).join(' ')}
  access_log ${dir}/access.log;
  gzip on;
  include ${dir}/kiosk402.conf;
}`
}

const caddy: Front = {
  name: 'caddy',
  program: '/usr/bin/caddy',
  args: (dir) => ['run', '--adapter', 'caddyfile', '--config', join(dir, 'Caddyfile')],
  check: (dir) => ['validate', '--adapter', 'caddyfile', '--config', join(dir, 'Caddyfile')],
  async write(place, change = (text) => text) {
    const { dir, name, port, plainPort, innerPort, certificate } = place
    const ports = `admin off\n\thttp_port ${plainPort}\n\thttps_port ${port}`
    const text = filled('Caddyfile', [
      ...nodesIn(place),
      [':8403', `:${innerPort}`],
      ['{\n\tservers {', `{\n\t${ports}\n\tservers {`],
      [
        `\n${storeName} {`,
        `\n${name} {\n\tbind 127.0.0.1\n\ttls ${certificate.file} ${certificate.key}`,
      ],
    ])
    await writePrivateFile(join(dir, 'Caddyfile'), change(text))
  },
}

export const fronts: readonly Front[] = [nginx, caddy]

export const noOpenssl = leftOut(
  works('openssl', 'version')
    ? undefined
    : 'openssl is not installed (on Debian: apt-get install openssl)',
)

/** Fills in the files of deploy/ for nodes on this machine, in a new folder with a certificate. */
export async function placeFor(nodes: readonly [string, string], name = storeName): Promise<Place> {
  const dir = await mkdtemp(join(tmpdir(), 'kiosk402-deployed-'))
  const certificate = { file: join(dir, 'crt.pem'), key: join(dir, 'key.pem') }
  execFileSync('openssl', certificateArguments(certificate, name), { stdio: 'ignore' })
  const ports = {
    port: await freePort(),
    plainPort: await freePort(),
    innerPort: await freePort(),
  }
  return { dir, name, ...ports, certificate, ca: readFileSync(certificate.file, 'utf8'), nodes }
}

/** Arguments of openssl for a self-signed certificate. */
function certificateArguments({ file, key }: Place['certificate'], name: string) {
  const made = ['req', '-x509', '-nodes', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256']
  const named = ['-days', '2', '-subj', `/CN=${name}`]
  return [...made, ...named, '-addext', `subjectAltName=DNS:${name}`, '-keyout', key].concat([
    '-out',
    file,
  ])
}

/** Starts a front before two nodes. */
export async function startFront(front: Front, place: Place) {
  await front.write(place)
  const { ca, name } = place
  const ask = asker({ port: place.port, name, ca })
  const isThere = async () => (await ask('/livez')).status === 200
  const { dir } = place
  const server = await startServer({ ...front, args: front.args(dir), dir, isThere })
  return {
    ...server,
    ...{ dir, ask, ca, port: place.port, plainPort: place.plainPort },
    /** Writes its file again with a change, and reloads it. */
    async change(change: (text: string) => string) {
      await front.write(place, change)
      server.reload()
    },
  }
}
