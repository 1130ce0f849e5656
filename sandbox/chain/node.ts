import { existsSync } from 'node:fs'
import { chmod, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from '../port.ts'
import { readFileIfThere, writePrivateFile } from '../private-file.ts'
import {
  type Launched,
  launch,
  logTail,
  resolvePackage,
  untilEarlierEnded,
  waitUntil,
} from '../process.ts'
import { CHAIN_ID, chainClient } from './rpc.ts'
import { stateFileIn } from './state.ts'

export type ChainNode = {
  rpcUrl: string
  hasEnded(): boolean
  /** Ends the node, which saves its chain; does nothing if it has ended. */
  stop(): Promise<void>
}

/** In milliseconds. The node first reads the saved state, which has more than 100 MB after a long run. */
const startMs = 60_000

/**
 * Starts the EVM node of a folder with its saved chain, on its last port if that is free. When it ends, also because
 * this process does, it saves its chain there.
 */
export async function startChainNode(chainDir: string): Promise<ChainNode> {
  await untilEarlierEnded(processFileIn(chainDir))
  const portFile = join(chainDir, 'port.json')
  const last = Number(await readFileIfThere(portFile)) || undefined
  for (let tries = 1; ; tries += 1) {
    const port = await freePort(last)
    const node = await launchNode(chainDir, port)
    const rpcUrl = `http://127.0.0.1:${port}`
    if (await comesUp(node, rpcUrl)) {
      await writePrivateFile(portFile, String(port))
      return { rpcUrl, hasEnded: node.hasEnded, stop: node.stop }
    }
    await node.stop()
    const logFile = join(chainDir, 'anvil.log')
    const trouble = logTail(logFile)
    // Another program took the port meanwhile.
    if (tries < 10 && trouble.includes('Address already in use')) continue
    throw new Error(
      `The sandbox chain did not start. It wrote to ${logFile}:\n${trouble}\n` +
        `If its saved state is damaged, remove ${stateFileIn(chainDir)} to begin a new chain.`,
    )
  }
}

/**
 * The node mines every transaction at once; `safe` is one block behind the head and `finalized` two. It keeps the
 * states of the last 256 blocks in memory; by default it would write older ones to a folder in the user's home.
 *
 * The node accepts commands such as `anvil_setBalance` from any client, and by default its CORS headers allow this to
 * every page in a browser on this machine. Without these headers, browsers send it no JSON from pages.
 */
async function launchNode(chainDir: string, port: number): Promise<Launched> {
  const state = stateFileIn(chainDir)
  const last = `${state}.last`
  return launch({
    command: await anvilProgram(),
    args: [
      ...['--host', '127.0.0.1', '--port', String(port), '--no-cors'],
      ...['--chain-id', String(CHAIN_ID), '--accounts', '0', '--silent'],
      ...['--slots-in-an-epoch', '1', '--prune-history', '256'],
      ...(existsSync(state) ? ['--load-state', state] : []),
      // It writes in place, and every minute by default: only a file that it wrote at its end is whole.
      ...['--dump-state', last, '--state-interval', '1000000000'],
    ],
    logFile: join(chainDir, 'anvil.log'),
    processFile: processFileIn(chainDir),
    leaves: [last, state],
    patience: 60,
  })
}

/**
 * The path of the EVM node that npm installed for this platform, made executable if the installer dropped that bit. The
 * package's own launcher is not used, because it would be one more process to stop.
 */
async function anvilProgram(): Promise<string> {
  const name = `@foundry-rs/anvil-${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`
  const launcher = fileURLToPath(resolvePackage('@foundry-rs/anvil/package.json'))
  try {
    const manifest = createRequire(launcher).resolve(`${name}/package.json`)
    const path = join(dirname(manifest), 'bin', 'anvil')
    if (((await stat(path)).mode & 0o111) === 0) await chmod(path, 0o755)
    return path
  } catch (cause) {
    throw new Error(
      `The package ${name} is not installed: there is no sandbox chain for this platform, or npm ` +
        'was told to omit optional packages.',
      { cause },
    )
  }
}

async function comesUp(node: Launched, rpcUrl: string): Promise<boolean> {
  // A refused, reset or silent connection means that it does not answer, or not yet.
  const answers = () =>
    chainClient(rpcUrl)
      .getChainId()
      .then(
        (id) => id === CHAIN_ID,
        () => false,
      )
  await waitUntil(async () => node.hasEnded() || (await answers()), startMs, 5)
  return !node.hasEnded() && answers()
}

function processFileIn(chainDir: string): string {
  return join(chainDir, 'process.json')
}
