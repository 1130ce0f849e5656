import { readFileSync } from 'node:fs'

const { version: ours } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
) as { version: string }

/** The version of the store that runs in this process. */
export const version = ours
