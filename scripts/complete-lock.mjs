/**
 * Completes package-lock.json after an `npm install` from a registry that does not hold every
 * platform's binaries. npm then leaves those packages out of the lock, and `npm ci` refuses a lock
 * that does not name them all. This script adds them from the optional dependencies of their parents;
 * npm fetches each only on its own platform.
 *
 * Usage: node scripts/complete-lock.mjs
 */
import { readFileSync, writeFileSync } from 'node:fs'

const file = new URL('../package-lock.json', import.meta.url)
const systems = [
  'android',
  'darwin',
  'linux',
  'win32',
  'freebsd',
  'openharmony',
  'openbsd',
  'netbsd',
  'sunos',
  'aix',
]
const processors = {
  amd64: 'x64',
  x64: 'x64',
  arm64: 'arm64',
  arm: 'arm',
  ia32: 'ia32',
  ppc64: 'ppc64',
  riscv64: 'riscv64',
  s390x: 's390x',
  loong64: 'loong64',
  mips64el: 'mips64el',
}

const lock = JSON.parse(readFileSync(file, 'utf8'))
const added = []
for (const [parent, entry] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    const isThere =
      lock.packages[`node_modules/${name}`] ?? lock.packages[`${parent}/node_modules/${name}`]
    const platform = platformOf(name)
    if (parent === '' || isThere || !platform) continue
    lock.packages[`node_modules/${name}`] = {
      version,
      ...(entry.dev ? { dev: true } : {}),
      ...platform,
      optional: true,
    }
    added.push(`${name}@${version}`)
  }
}
const byName = ([one], [other]) => one.localeCompare(other, 'en')
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(byName))
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`)
console.log(added.length === 0 ? 'Nothing was missing.' : `Added ${added.join(', ')}.`)

/** The platform in the name of a binary package; undefined if the name has none. */
function platformOf(name) {
  const parts = name.split('/').at(-1).split('-')
  const os = parts.find((part) => systems.includes(part))
  const cpu = parts.find((part) => part in processors)
  if (!os || !cpu) return undefined
  const libc = parts.some((part) => part.startsWith('musl')) ? 'musl' : 'glibc'
  return { cpu: [processors[cpu]], ...(os === 'linux' ? { libc: [libc] } : {}), os: [os] }
}
