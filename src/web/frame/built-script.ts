import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'

/** The scripts of `scripts/wallet/` that need viem. Each is built to one file when the store is installed. */
export const builtNames = ['main.js', 'sign-in.js'] as const
export type BuiltName = (typeof builtNames)[number]

export const wallet = new URL('../scripts/wallet/', import.meta.url)
export const builtFolder = new URL('../../../build/', import.meta.url)

/**
 * A script of `scripts/wallet/` in one file, with what it needs of viem and no more.
 *
 * @throws Error when it was never built, or from sources that have changed since
 */
export function builtScript(name: BuiltName): string {
  const text = textOf(new URL(name, builtFolder))
  const line = sourcesLine()
  if (text?.startsWith(line) !== true) {
    const why = text === undefined ? 'was not built' : 'was built from other sources'
    throw new Error(`The page's script ${name} ${why}. Run: npm run prepare`)
  }
  return text.slice(line.length)
}

/** The first line of a built file. It names the sources, so that none older than they are is served. */
export function sourcesLine(): string {
  const hash = createHash('sha256')
  const manifest = new URL('../../../package.json', import.meta.url)
  const names = readdirSync(wallet).filter((name) => !/\.(test|fixture)\.ts$/.test(name))
  for (const file of [manifest, ...names.sort().map((name) => new URL(name, wallet))]) {
    hash.update(readFileSync(file)).update('\0')
  }
  return `// ${hash.digest('hex')}\n`
}

function textOf(file: URL): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
