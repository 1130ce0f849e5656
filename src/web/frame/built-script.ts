import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** The scripts of `scripts/wallet/` that need viem. Each is built to one file when the store is installed. */
export const builtNames = ['wallet.js', 'sign-in.js'] as const
export type BuiltName = (typeof builtNames)[number]

export const wallet = new URL('../scripts/wallet/', import.meta.url)
export const root = new URL('../../../', import.meta.url)
export const builtFolder = new URL('build/', root)

/** @throws Error if the script was never built, or if its sources have changed since */
export function builtScript(name: BuiltName): string {
  const text = textOf(new URL(name, builtFolder))
  const [line = ''] = text?.split('\n', 1) ?? []
  const [, , ...sources] = line.split(' ')
  if (line !== sourcesLine(sources)) {
    const why = text === undefined ? 'was not built' : 'was built from other sources'
    throw new Error(`The page's script ${name} ${why}. Run: npm run prepare`)
  }
  return text?.slice(line.length + 1) ?? ''
}

/** The first line of a built file: a digest of our sources in it, and their names from the root of the repository. */
export function sourcesLine(sources: readonly string[]): string {
  const hash = createHash('sha256')
  // `package.json` has the versions of the bundled libraries.
  for (const name of ['package.json', ...sources]) {
    hash.update(`${name}\0${textOf(new URL(name, root)) ?? ''}\0`)
  }
  return `// ${[hash.digest('hex'), ...sources].join(' ')}`
}

function textOf(file: URL): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
