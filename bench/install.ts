import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Figure, figure } from './table.ts'

interface Locked {
  readonly dev?: boolean
  readonly optional?: boolean
  readonly devOptional?: boolean
}

/** How much a production installation has: `npm ci --omit=dev --omit=optional`, and the store itself. */
export async function measureInstall(): Promise<Figure[]> {
  const lock = JSON.parse(await readFile('package-lock.json', 'utf8'))
  const packages = Object.entries(lock.packages as Readonly<Record<string, Locked>>)
    .filter(
      ([path, { dev, optional, devOptional }]) => path !== '' && !dev && !optional && !devOptional,
    )
    .map(([path]) => path)
  let bytes = await sizeOf('src')
  for (const path of packages) bytes += await sizeOf(path)
  return [
    figure('A production installation', bytes / 1e6, 'MB', { most: 150 }),
    ['Packages in it', String(packages.length)],
  ]
}

/** The bytes of all files in a folder, without the packages that are nested in it. */
async function sizeOf(folder: string): Promise<number> {
  let bytes = 0
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
    const path = join(folder, entry.name)
    if (entry.isDirectory() && entry.name !== 'node_modules') bytes += await sizeOf(path)
    if (entry.isFile()) bytes += (await stat(path)).size
  }
  return bytes
}
