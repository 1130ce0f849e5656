import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  type BuiltName,
  builtFolder,
  builtNames,
  builtScript,
  root,
  sourcesLine,
  wallet,
} from '../src/web/frame/built-script.ts'
import { readCarriers } from './carriers.ts'

/*
 * `npm run prepare`, which `npm ci` runs: bundles the page scripts that consist of several files, and makes the table of
 * the operators of phone numbers. Without the libraries for that, it only checks that an earlier installation has built
 * both.
 */

const bundler = await import('rolldown').catch(() => undefined)
for (const name of builtNames) {
  if (bundler) await build(bundler, name)
  else requireBuilt(name)
}

const operatorsFile = new URL('phone-operators.json', builtFolder)
const carriers = await readCarriers()
if (carriers) await writeFile(operatorsFile, JSON.stringify(carriers))
else if (!existsSync(operatorsFile)) refuse('The operators of phone numbers were not built.')

async function build({ rolldown }: typeof import('rolldown'), name: BuiltName): Promise<void> {
  const input = fileURLToPath(new URL(name, wallet))
  const bundle = await rolldown({ input, platform: 'browser', logLevel: 'silent' })
  const { output } = await bundle.generate({ format: 'iife', minify: true })
  await bundle.close()
  const [{ code, moduleIds }, ...others] = output
  if (others.length > 0) throw new Error(`The script ${name} is more than one file.`)
  await mkdir(builtFolder, { recursive: true })
  const sources = moduleIds
    .map((id) => relative(fileURLToPath(root), id))
    .filter((id) => id.startsWith('src/'))
  await writeFile(new URL(name, builtFolder), `${sourcesLine(sources)}\n${code}`)
}

function requireBuilt(name: BuiltName): void {
  try {
    builtScript(name)
  } catch (error) {
    refuse(error instanceof Error ? error.message : String(error))
  }
}

function refuse(why: string): never {
  console.error(`${why}
What builds it is not installed. Install everything, then take away what only development needs:
npm ci && npm prune --omit=dev --omit=optional`)
  process.exit(1)
}
