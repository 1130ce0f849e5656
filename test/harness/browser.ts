import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Browser, chromium } from 'playwright-core'
import { createViteServer } from 'vitest/node'
import { resolvePackage } from '../../sandbox/process.ts'
import { leftOut } from './left-out.ts'

/** A real Chromium with an empty profile. */
export async function openBrowser(): Promise<Browser> {
  if (found === undefined) throw new Error(missing)
  const browser = await chromium.launch({ ...found, args: quiet })
  browser.on('context', (context) => context.setDefaultTimeout(maxWaitMs))
  return browser
}

/** Only ends operations that hang, before the test times out: on a busy machine, pages are slow too. */
const maxWaitMs = 150_000

/**
 * An empty page in a real Chromium, served from a loopback origin of its own.
 *
 * @param root the folder with the TypeScript modules that the page may import
 * @param packages the packages that these modules import
 */
export async function openPage(root: string, packages: readonly string[]) {
  const cacheDir = await mkdtemp(join(tmpdir(), 'kiosk402-page-'))
  const server = await createViteServer({
    root,
    cacheDir,
    configFile: false,
    appType: 'custom',
    logLevel: 'error',
    server: { host: '127.0.0.1', port: 0, ws: false, watch: null },
    optimizeDeps: { include: [...packages], noDiscovery: true },
  })
  // Vite's own page would open a WebSocket to reload itself.
  server.middlewares.use('/', (_, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8')
    response.end('<!doctype html><title>Another origin</title><link rel="icon" href="data:,">')
  })
  await server.listen()
  const browser = await openBrowser()
  const page = await browser.newPage()
  const url = server.resolvedUrls?.local[0] ?? ''
  await page.goto(url)
  return {
    page,
    origin: new URL(url).origin,
    async close() {
      await browser.close()
      await server.close()
      await rm(cacheDir, { recursive: true, force: true })
    },
  }
}

export type OpenPage = Awaited<ReturnType<typeof openPage>>

/** Allows it to run as root and without a screen, and prevents connections of its own. */
const quiet = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
]

const run = promisify(execFile)

/** The path of the program, and the environment that it needs. */
interface Chromium {
  readonly executablePath: string
  readonly env: Readonly<Record<string, string>>
}

const systemChromium = '/usr/bin/chromium'

/**
 * The Chromium that npm installed, with its own libraries and fonts, so that it needs nothing else. It is
 * built for Linux on x64; elsewhere the system's Chromium is used.
 *
 * @returns undefined if there is neither
 * @throws if none starts of those that are there: then no test may be skipped unnoticed
 */
async function findChromium(): Promise<Chromium | undefined> {
  const inherited = Object.entries(process.env).filter(([, value]) => value !== undefined)
  const env = Object.fromEntries(inherited) as Record<string, string>
  const isPackaged = process.platform === 'linux' && process.arch === 'x64'
  const candidates = [
    ...(isPackaged ? [() => installedChromium(env)] : []),
    ...(existsSync(systemChromium) ? [async () => ({ executablePath: systemChromium, env })] : []),
  ]
  const troubles: string[] = []
  for (const candidate of candidates) {
    try {
      const found = await candidate()
      await run(found.executablePath, ['--version'], { env: found.env })
      return found
    } catch (error) {
      troubles.push(String(error))
    }
  }
  if (troubles.length > 0) throw new Error(`No Chromium starts. ${troubles.join('. ')}`)
  return undefined
}

async function installedChromium(env: Readonly<Record<string, string>>): Promise<Chromium> {
  const folder = await unpacked()
  return {
    executablePath: join(folder, 'chromium'),
    env: {
      ...env,
      LD_LIBRARY_PATH: join(folder, 'al2023', 'lib'),
      FONTCONFIG_FILE: join(folder, 'fonts.conf'),
    },
  }
}

/** The folder of the unpacked package. The first process that needs it unpacks it for all. */
async function unpacked(): Promise<string> {
  const entry = resolvePackage('@sparticuz/chromium')
  const { version } = JSON.parse(await readFile(new URL('../package.json', entry), 'utf8'))
  const cache = fileURLToPath(new URL('../../../.cache/', entry))
  const folder = join(cache, `chromium-${version}`)
  if (existsSync(folder)) return folder
  await mkdir(cache, { recursive: true })
  const draft = await mkdtemp(`${folder}-`)
  try {
    await unpack(entry, draft)
    await writeFile(join(draft, 'fonts.conf'), fontsIn(join(folder, 'fonts')))
    await chmod(draft, 0o755)
    await rename(draft, folder)
  } catch (error) {
    await rm(draft, { recursive: true, force: true })
    if (!existsSync(folder)) throw error
  }
  return folder
}

/** Runs in a process with another TMPDIR, because the package unpacks into the folder for temporary files. */
async function unpack(entry: URL, folder: string): Promise<void> {
  const archives = ['chromium.br', 'fonts.tar.br', 'al2023.tar.br']
  const bin = fileURLToPath(new URL('../bin/', entry))
  const paths = JSON.stringify(archives.map((name) => join(bin, name)))
  const script = `
    const { inflate } = await import(${JSON.stringify(entry.href)})
    await Promise.all(${paths}.map((path) => inflate(path)))`
  await run(process.execPath, ['--input-type=module', '--eval', script], {
    env: { TMPDIR: folder },
  })
  await chmod(join(folder, 'chromium'), 0o755)
}

const fontsIn = (folder: string) => `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>${folder}</dir><dir>/usr/share/fonts</dir></fontconfig>
`

const missing = 'no Chromium is installed (on Debian: apt-get install chromium)'

// At the end, because the search uses the constants above.
const found = await findChromium()

/** The reason why no browser can be started here; undefined if one can. */
export const noBrowser = leftOut(found ? undefined : missing)
