import { type DestinationStream, type Logger, multistream, pino } from 'pino'
import { fileIn, standard } from './log-lines.ts'

/**
 * The store's log, one JSON object a line. What could carry a secret is left out here as well, in
 * case a caller forgets: headers, bodies, and the long form of errors, which repeats calldata.
 */
export function createLog(level: string, destination: DestinationStream): Logger {
  return pino(
    {
      level,
      base: null,
      redact: ['req.headers', 'headers', 'body', 'payload', 'recipient', 'delivery', '*.signature'],
      serializers: { err: describeError, error: describeError, req: describeRequest },
      // Messages, stacks and fields that nobody thought of pass here and nowhere else.
      hooks: { streamWrite: withoutLongHex },
    },
    destination,
  )
}

/** Standard output, and nothing else writes there. */
export const liveLog = (): DestinationStream => standard(process.stdout)

/** Everything goes to a file, so that the terminal stays readable; what is wrong goes there too. */
export function sandboxLog(dataDir: string): DestinationStream {
  return multistream([
    { level: 'trace', stream: fileIn(dataDir, 'store.log') },
    { level: 'error', stream: standard(process.stderr) },
  ])
}

const messageMost = 300
const hexMost = /0x[0-9a-fA-F]{65,}/g

/** Name, first line and stack of an error; long hexadecimal is calldata or a signature. */
function describeError(error: unknown) {
  if (!(error instanceof Error)) return { message: clean(String(error)) }
  const [firstLine = ''] = error.message.split('\n')
  const frames = (error.stack ?? '')
    .split('\n')
    .filter((line) => line.trimStart().startsWith('at '))
  return { type: error.name, message: clean(firstLine), stack: frames.slice(0, 12).join('\n') }
}

function describeRequest(request: { method?: string }) {
  return { method: request.method }
}

function clean(text: string): string {
  return withoutLongHex(text).slice(0, messageMost)
}

function withoutLongHex(text: string): string {
  return text.replace(hexMost, '0x…')
}
