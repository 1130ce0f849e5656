import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

const require = createRequire(import.meta.url)

/** The file of an installed package. Works wherever modules run, test runners included. */
export function resolvePackage(specifier: string): URL {
  return pathToFileURL(require.resolve(specifier))
}
