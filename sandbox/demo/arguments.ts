import { parseArgs } from 'node:util'

export type Wanted =
  | { readonly type: 'help' }
  | {
      readonly type: 'run'
      /** Without a trailing slash. */
      readonly storeUrl: string
      readonly json: boolean
    }

export const usage = `Plays a buyer against a running sandbox store: buys, polls, and gets a refund.

  npm run demo -- [--store URL] [--json]

  --store URL   the store (default: STORE_URL, else http://localhost:8402)
  --json        one JSON line a step on stdout and nothing else
                (npm run --silent demo -- --json, or npm adds lines of its own)
  --help        this text

Exits with 0 when every step went well and the wallet's balance adds up, else with 1.`

/** @throws Error with a message for the user, if the arguments are invalid */
export function readArguments(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Wanted {
  const { values } = parseArgs({
    args: [...args],
    options: {
      store: { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return { type: 'help' }
  const given = values.store ?? (env['STORE_URL'] || 'http://localhost:8402')
  return { type: 'run', storeUrl: storeUrlOf(given), json: values.json }
}

function storeUrlOf(given: string): string {
  const url = URL.parse(given)
  if (url && /^https?:$/.test(url.protocol)) return given.replace(/\/+$/, '')
  throw new Error(`The store must be an http or https URL, and "${given}" is not.`)
}
