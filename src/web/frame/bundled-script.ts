import { fileURLToPath } from 'node:url'

const folder = new URL('../scripts/wallet/', import.meta.url)

const made = new Map<string, Promise<string>>()

/**
 * A script of `scripts/wallet/` in one file, with what it needs of viem and no more. It is put together
 * when the store starts: that takes a fifth of a second, and what is served can never be older than
 * its source, as a built file that is kept with the source could be.
 */
export function bundledScript(name: 'main.js' | 'sign-in.js'): Promise<string> {
  const script = made.get(name) ?? bundle(name)
  made.set(name, script)
  return script
}

async function bundle(name: string): Promise<string> {
  const { rolldown } = await import('rolldown')
  const input = fileURLToPath(new URL(name, folder))
  const build = await rolldown({ input, platform: 'browser', logLevel: 'silent' })
  try {
    const { output } = await build.generate({ format: 'iife', minify: true })
    const [{ code }, ...others] = output
    if (others.length > 0) throw new Error(`the script ${name} is more than one file`)
    return code
  } finally {
    await build.close()
  }
}
