import { parseArgs } from 'node:util'

export interface Wanted {
  /** The origin at which the store is examined. */
  readonly origin: string
  /** The origin under which it is published. */
  readonly publicOrigin: string
  readonly json: boolean
  /** Undefined: the metrics are not read. */
  readonly metrics: MetricsAccess | undefined
}

/** Access to the metrics; no token is needed if they are open to this machine. */
export interface MetricsAccess {
  readonly token: string | undefined
}

export const usage = `Looks at a running store as a buyer or an index would meet it, and never pays.

  npm run doctor -- URL [--public URL] [--metrics] [--json]

  URL            where the store is asked, such as https://shop.example
  --public URL   where it is published, when that is another address than the asked one
  --metrics      of a store of your own: reads /metrics as well, with METRICS_TOKEN, and tells whether its nodes agree
  --json         one JSON object instead of text

Exit code 0 when nothing would stop a buyer, 1 when something would, 2 when it could not be run.
Everything that can be found is listed in docs/operators/doctor.md.`

/** @throws Error with a sentence that names the wrong argument */
export function readArguments(args: readonly string[], token: string | undefined): Wanted | 'help' {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      public: { type: 'string' },
      metrics: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) return 'help'
  const [url, ...more] = positionals
  if (url === undefined) throw new Error('Name the store: its URL is missing.')
  if (more.length > 0) throw new Error(`One store at a time; ${more[0]} is one too many.`)
  const origin = originOf(url)
  return {
    origin,
    publicOrigin: originOf(values.public ?? origin),
    json: values.json,
    metrics: values.metrics ? { token } : undefined,
  }
}

function originOf(text: string): string {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new Error(`${text} is no http or https URL, such as https://shop.example.`)
  }
  if (url.username !== '' || url.password !== '') {
    throw new Error('Leave user name and password out of the URL.')
  }
  return url.origin
}
