import { examine } from '../../doctor/examine.ts'
import { isHealthy, linesFor, originOf } from '../../doctor/report.ts'
import { messageOf } from '../lib/errors.ts'
import { type Act, parseArguments, UsageError } from './act.ts'

const usage = `Usage: kiosk402 doctor [URL] [--public URL] [--metrics]

Looks at a running store as a buyer or an index would meet it, and never pays.

  URL            the address to examine; otherwise the public one of the store of the settings
  --public URL   the address that buyers use, when that is another one
  --metrics      of a store of your own: reads /metrics as well, with METRICS_TOKEN

Exit code 0 when nothing would stop a buyer, 1 when something would. Everything that can be found is listed
in docs/operators/doctor.md.

Examples:
  kiosk402 doctor https://shop.example
  kiosk402 doctor http://127.0.0.1:8402 --public https://shop.example --metrics`

export const doctor: Act = {
  summary: 'examines a store from outside, as a buyer meets it',
  usage,
  async run(args, { config }) {
    const { values, positionals } = parseArguments({
      args: [...args],
      allowPositionals: true,
      options: { public: { type: 'string' }, metrics: { type: 'boolean', default: false } },
    })
    const [url, ...more] = positionals
    if (more.length > 0) throw new UsageError(`One store at a time; ${more[0]} is one too many`)
    const origin = originIn(url ?? config().site.url)
    const publicOrigin = originIn(values.public ?? origin)
    const token = url === undefined ? config().metricsToken : process.env['METRICS_TOKEN']
    const examined = await examine(origin, publicOrigin, values.metrics ? { token } : undefined)
    const ok = isHealthy(examined)
    return {
      exit: ok ? 0 : 1,
      data: { store: origin, public: publicOrigin, ok, ...examined },
      lines: linesFor(origin, examined),
    }
  },
}

function originIn(text: string): string {
  try {
    return originOf(text)
  } catch (error) {
    throw new UsageError(messageOf(error))
  }
}
