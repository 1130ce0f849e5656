import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const folder = new URL('../scripts/wallet/', import.meta.url)
const bundler = fileURLToPath(new URL('bundle.ts', import.meta.url))
const bytesMost = 4 * 1_024 * 1_024

const made = new Map<string, Promise<string>>()

/**
 * A script of `scripts/wallet/` in one file, with what it needs of viem and no more. It is put together
 * when the store starts: that takes less than a second, and what is served can never be older than its
 * source, as a built file that is kept with the source could be.
 */
export function bundledScript(name: 'main.js' | 'sign-in.js'): Promise<string> {
  const script = made.get(name) ?? bundle(name)
  made.set(name, script)
  return script
}

/**
 * In a process of its own, because the bundler keeps some 200 MB of whoever loads it. It gets none of
 * the store's environment, which holds keys.
 */
async function bundle(name: string): Promise<string> {
  const input = fileURLToPath(new URL(name, folder))
  const options = { env: {}, maxBuffer: bytesMost }
  const { stdout } = await promisify(execFile)(process.execPath, [bundler, input], options)
  return stdout
}
