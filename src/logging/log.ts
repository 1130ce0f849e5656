import { type DestinationStream, type Logger, multistream, pino } from 'pino'
import { fileIn, standard } from './log-lines.ts'
import { groupingOutages } from './log-outages.ts'

/**
 * The store's log, one JSON object a line. What could carry a secret is left out here too, in case a caller
 * forgets: headers, bodies, and the long form of errors, which repeats calldata.
 *
 * An outage takes one line at its start and one when it is over, however many calls fail.
 *
 * @param isOfDatabase whether an error means that the database is unavailable
 */
export function createLog(
  level: string,
  destination: DestinationStream,
  isOfDatabase: (error: unknown) => boolean = () => false,
): Logger {
  const begins = groupingOutages((outage) => log.warn(outage, 'works again'))
  const log = pino(
    {
      level,
      base: null,
      redact: ['req.headers', 'headers', 'body', 'payload', 'recipient', 'delivery', '*.signature'],
      serializers: { err: describeError, error: describeError, req: describeRequest },
      // Every line passes here, with its messages, stacks and any unforeseen fields.
      hooks: {
        streamWrite: withoutLongHex,
        logMethod(args, method) {
          const what = failingIn(args[0], isOfDatabase)
          if (what === undefined || begins(what)) method.apply(this, args)
        },
      },
    },
    destination,
  )
  return log
}

/**
 * What is failing, if there may be very many such lines: the database, or work that is tried again and again.
 */
function failingIn(facts: unknown, isOfDatabase: (error: unknown) => boolean): string | undefined {
  if (typeof facts !== 'object' || facts === null) return undefined
  const { err, error = err, what } = facts as Readonly<Record<string, unknown>>
  if (isOfDatabase(error)) return 'database'
  return error !== undefined && typeof what === 'string' ? what : undefined
}

/** Standard output, and nothing else writes there. */
export const liveLog = (): DestinationStream => standard(process.stdout)

/** Everything goes to a file, so that the terminal stays readable; errors go to the terminal too. */
export function sandboxLog(dataDir: string): DestinationStream {
  return multistream([
    { level: 'trace', stream: fileIn(dataDir, 'store.log') },
    { level: 'error', stream: standard(process.stderr) },
  ])
}

const maxMessage = 300
const maxHex = /0x[0-9a-fA-F]{65,}/g

/** Name, code, first line and stack of an error, without long hexadecimal: it is calldata or a signature. */
function describeError(error: unknown) {
  if (!(error instanceof Error)) return { message: clean(String(error)) }
  const [firstLine = ''] = error.message.split('\n')
  const frames = (error.stack ?? '')
    .split('\n')
    .filter((line) => line.trimStart().startsWith('at '))
  const code = codeOf(error) ?? codeOf(error.cause)
  return {
    type: error.name,
    ...(code !== undefined && { code }),
    message: clean(firstLine),
    stack: frames.slice(0, 12).join('\n'),
  }
}

/** The error code of the system or of PostgreSQL, whose messages are in the language of the server. */
function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return /^[A-Z0-9_]{1,40}$/.test(code) ? code : undefined
}

function describeRequest(request: { method?: string }) {
  return { method: request.method }
}

function clean(text: string): string {
  return withoutLongHex(text).slice(0, maxMessage)
}

function withoutLongHex(text: string): string {
  return text.replace(maxHex, '0x…')
}
