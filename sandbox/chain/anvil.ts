import { chmod, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { resolvePackage } from '../resolve.ts'

/** Base Sepolia. A signature made in the sandbox must never be valid on Base mainnet. */
export const CHAIN_ID = 84_532

/**
 * The path of the EVM node that npm installed for this platform, made executable if the installer dropped that bit. The
 * package's own launcher is not used, because it would be one more process to stop.
 */
export async function anvilProgram(): Promise<string> {
  const path = findProgram()
  if (((await stat(path)).mode & 0o111) === 0) await chmod(path, 0o755)
  return path
}

function findProgram(): string {
  const os = process.platform
  const cpu = process.arch === 'x64' ? 'amd64' : process.arch
  const name = `@foundry-rs/anvil-${os}-${cpu}`
  const launcher = fileURLToPath(resolvePackage('@foundry-rs/anvil/package.json'))
  try {
    const manifest = createRequire(launcher).resolve(`${name}/package.json`)
    return join(dirname(manifest), 'bin', os === 'win32' ? 'anvil.exe' : 'anvil')
  } catch (cause) {
    throw new Error(
      `The package ${name} is not installed: there is no sandbox chain for this platform, or npm ` +
        'was told to omit optional packages.',
      { cause },
    )
  }
}

/**
 * The arguments of the node. It mines every transaction at once; `safe` is one block behind the head and `finalized`
 * two. It keeps the states of the last 256 blocks in memory; by default it would write older ones to a folder in the
 * user's home.
 *
 * The node accepts commands such as `anvil_setBalance` from any client, and by default its CORS headers allow this to
 * every page in a browser on this machine. Without these headers, browsers send it no JSON from pages.
 */
export function anvilArgs(port: number, stateFile: string | undefined): string[] {
  return [
    ...['--host', '127.0.0.1', '--port', String(port), '--no-cors'],
    ...['--chain-id', String(CHAIN_ID), '--accounts', '0', '--silent'],
    ...['--slots-in-an-epoch', '1', '--prune-history', '256'],
    ...(stateFile ? ['--load-state', stateFile] : []),
  ]
}
