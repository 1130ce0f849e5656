import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

const require = createRequire(import.meta.url)

/** The file of an installed package. Unlike `import.meta.resolve`, this also works in test runners. */
export function resolvePackage(specifier: string): URL {
  return pathToFileURL(require.resolve(specifier))
}
