import { fileURLToPath } from 'node:url'

const entry = fileURLToPath(new URL('../scripts/wallet/main.js', import.meta.url))

let made: Promise<string> | undefined

/**
 * The script that pays from a wallet, in one file, with what it needs of viem and no more. It is put
 * together when the store starts: that takes a fifth of a second, and what is served can never be
 * older than its source, as a built file that is kept with the source could be.
 */
export function walletScript(): Promise<string> {
  made ??= bundle()
  return made
}

async function bundle(): Promise<string> {
  const { rolldown } = await import('rolldown')
  const build = await rolldown({ input: entry, platform: 'browser', logLevel: 'silent' })
  try {
    const { output } = await build.generate({ format: 'iife', minify: true })
    const [{ code }, ...others] = output
    if (others.length > 0) throw new Error('the script of the wallet is more than one file')
    return code
  } finally {
    await build.close()
  }
}
