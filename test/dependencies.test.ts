import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'

interface Package {
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
  readonly allowScripts: Readonly<Record<string, boolean>>
}
interface Locked {
  readonly version: string
  readonly license?: string
  readonly resolved?: string
  readonly integrity?: string
  readonly dev?: boolean
  readonly optional?: boolean
  readonly os?: readonly string[]
  readonly cpu?: readonly string[]
  readonly hasInstallScript?: boolean
}
interface Lock {
  readonly packages: Readonly<Record<string, Locked>>
}

const manifest: Package = JSON.parse(readFileSync('package.json', 'utf8'))
const lock: Lock = JSON.parse(readFileSync('package-lock.json', 'utf8'))
const policy = readFileSync('docs/contributors/dependencies.md', 'utf8')

const exact = /^\d+\.\d+\.\d+(-[\w.-]+)?$/
const locked = lockedIn('package-lock.json')
const live = locked.filter(({ dev }) => !dev)
const direct = { ...manifest.dependencies, ...manifest.devDependencies }

function lockedIn(file: string) {
  const { packages }: Lock = JSON.parse(readFileSync(file, 'utf8'))
  return Object.entries(packages)
    .filter(([place]) => place !== '')
    .map(([place, one]) => ({ ...one, place, name: place.split('node_modules/').at(-1) ?? '' }))
}

test.each(Object.entries(direct))('%s is pinned to one version', (name, version) => {
  expect(version).toMatch(exact)
  expect(lock.packages[`node_modules/${name}`]?.version).toBe(version)
})

test('of everything that live mode runs, the lock file has the hash', () => {
  expect(live.length).toBeGreaterThan(50)
  expect(live.filter(({ integrity }) => !integrity?.startsWith('sha512-'))).toEqual([])
})

/** Binaries of development tools for other platforms, which the registry that was asked did not have. */
const withoutHash = {
  '@biomejs/cli-': `android-arm64 android-x64 darwin-arm64 darwin-x64
    linux-arm64-musl linux-x64-musl win32-arm64 win32-x64`,
  '@foundry-rs/anvil-': 'darwin-amd64 darwin-arm64 linux-arm64 win32-amd64',
  '@oxc-parser/binding-': `android-arm-eabi android-arm64 darwin-arm64 darwin-x64 freebsd-x64
    linux-arm-gnueabihf linux-arm-musleabihf linux-ppc64-gnu linux-riscv64-gnu linux-riscv64-musl
    linux-s390x-gnu openharmony-arm64 win32-arm64-msvc win32-ia32-msvc win32-x64-msvc`,
}

test('only named binaries of tools for other platforms are locked without a hash', () => {
  const named = Object.entries(withoutHash).flatMap(([tool, platforms]) =>
    platforms.split(/\s+/).map((platform) => `${tool}${platform}`),
  )
  const bare = locked.filter(({ integrity }) => integrity === undefined)
  expect(bare.map(({ name }) => name).sort()).toEqual(named.sort())
  for (const { dev, optional, os, cpu } of bare) {
    expect({ dev, optional }).toEqual({ dev: true, optional: true })
    expect([os, cpu]).toEqual([[expect.any(String)], [expect.any(String)]])
  }
})

test('no package runs a script when it is installed but the named ones', () => {
  const scripted = locked.filter(({ hasInstallScript }) => hasInstallScript)
  expect(scripted.map(({ name }) => name).sort()).toEqual(Object.keys(manifest.allowScripts).sort())
  const denied = Object.entries(manifest.allowScripts).filter(([, isAllowed]) => !isAllowed)
  expect(denied.map(([name]) => name)).toEqual(['@scarf/scarf'])
  expect(scripted.filter(({ dev }) => !dev)).toEqual([])
  expect(readFileSync('.npmrc', 'utf8')).toMatch(/^strict-allow-scripts=true$/m)
})

/** By their SPDX names. Who ships the store ships these. */
const permissive = [
  'MIT',
  'ISC',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'Apache-2.0',
  '0BSD',
  'MIT-0',
  'Unlicense',
  '(MIT OR CC0-1.0)',
]
/** Tools may also be under these; "X11" is another name of MIT. */
const forTools = [
  ...permissive,
  'MPL-2.0',
  'MIT OR Apache-2.0',
  'MIT/X11',
  'BlueOak-1.0.0',
  '(AFL-2.1 OR BSD-3-Clause)',
]

test('licences are permissive', () => {
  const of = (one: Locked) => one.license ?? ''
  expect(live.filter((one) => !permissive.includes(of(one)))).toEqual([])
  const tools = locked.filter(({ dev, integrity }) => dev && integrity !== undefined)
  expect(tools.filter((one) => !forTools.includes(of(one)))).toEqual([])
})

test('the policy gives a reason for everything that live mode runs, and for nothing else', () => {
  const rows = [...policy.matchAll(/^\| `([^`]+)` \| ([^|]+) \|/gm)]
  const told = rows.map(([, name, licence]) => `${name} ${licence}`)
  const used = Object.keys(manifest.dependencies).map(
    (name) => `${name} ${lock.packages[`node_modules/${name}`]?.license}`,
  )
  expect(told.sort()).toEqual(used.sort())
})

describe('the hosts of agents that shop in a story', () => {
  const place = '.ci/hosts'
  const own: Pick<Package, 'dependencies' | 'allowScripts'> = JSON.parse(
    readFileSync(`${place}/package.json`, 'utf8'),
  )
  const packages = lockedIn(`${place}/package-lock.json`)

  test.each(Object.entries(own.dependencies))('%s is pinned to one version', (name, version) => {
    expect(version).toMatch(exact)
    const found = packages.filter((one) => one.place === `node_modules/${name}`)
    expect(found.map((one) => one.version)).toEqual([version])
  })

  test('are locked by their hashes, whatever registry is asked', () => {
    expect(packages.length).toBeGreaterThan(300)
    expect(packages.filter(({ integrity }) => !integrity?.startsWith('sha512-'))).toEqual([])
    expect(packages.filter(({ resolved }) => resolved !== undefined)).toEqual([])
  })

  test('run no script when they are installed', () => {
    const scripted = packages.filter(({ hasInstallScript }) => hasInstallScript)
    expect(Object.fromEntries(scripted.map(({ name }) => [name, false]))).toEqual(own.allowScripts)
    const settings = readFileSync(`${place}/.npmrc`, 'utf8')
    expect(settings).toMatch(/^ignore-scripts=true$/m)
    expect(settings).toMatch(/^strict-allow-scripts=true$/m)
  })

  const others = {
    // The Inspector's file: Apache-2.0, and MIT for what was written before.
    '@modelcontextprotocol/inspector': 'SEE LICENSE IN LICENSE',
    // The licence of Python, which asks for no more than a notice. Orval reads YAML with it.
    argparse: 'Python-2.0',
  }

  test('are under licences that tools may be under', () => {
    const found = packages.filter(({ license = '' }) => !forTools.includes(license))
    expect(Object.fromEntries(found.map(({ name, license }) => [name, license]))).toEqual(others)
  })
})

test('packages that were once a hole are not, or not there', () => {
  expect(locked.filter(({ name }) => name === 'elliptic')).toEqual([])
  const versions = locked.filter(({ name }) => name === '@fastify/proxy-addr')
  expect(versions.map(({ version }) => version)).toEqual([
    expect.stringMatching(/^5\.([1-9]\d+|[2-9]|1\.([1-9]))/),
  ])
})
