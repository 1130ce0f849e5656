import { existsSync } from 'node:fs'
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises'
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

await linkCommand()

/** For `npm exec kiosk402`. As a bin of package.json, npm would first install this package into a cache, and refuse its script. */
async function linkCommand(): Promise<void> {
  const link = new URL('node_modules/.bin/kiosk402', root)
  await mkdir(new URL('.', link), { recursive: true })
  await rm(link, { force: true })
  await symlink('../../scripts/kiosk402', link)
}

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
  const old = oldNodeOfNpm()
  const act = old
    ? `npm runs on Node ${old}, and leaves out packages that need 20.19 or newer. Install with a newer one:
npx --yes --package node@24 --package npm@11 npm ci`
    : `What builds it is not installed. Install everything, then take away what only development needs:
npm ci && npm prune --omit=dev --omit=optional`
  console.error(`${why}\n${act}`)
  process.exit(1)
}

/**
 * The version of the Node that npm itself runs on, if it is too old. Then npm leaves out the optional packages whose
 * `engines` ask for a newer one, without a word: the bundler's program, and that of the sandbox's chain.
 */
function oldNodeOfNpm(): string | undefined {
  const agent = process.env['npm_config_user_agent'] ?? ''
  const [, version, major, minor] = /\bnode\/v((\d+)\.(\d+)\S*)/.exec(agent) ?? []
  const isOld = Number(major) < 20 || (major === '20' && Number(minor) < 19)
  return isOld ? version : undefined
}
