import { mkdirSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { type DestinationStream, type Logger, multistream, pino } from 'pino'

/**
 * The store's log, one JSON object a line. What could carry a secret is left out here too, in case a caller forgets:
 * headers, bodies, and the long form of errors, which repeats calldata. An outage takes two lines, however many calls
 * fail.
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

/** What is failing, if there may be very many such lines. */
function failingIn(facts: unknown, isOfDatabase: (error: unknown) => boolean): string | undefined {
  if (typeof facts !== 'object' || facts === null) return undefined
  const { err, error = err, what } = facts as Readonly<Record<string, unknown>>
  if (isOfDatabase(error)) return 'database'
  return error !== undefined && typeof what === 'string' ? what : undefined
}

export const liveLog = (): DestinationStream => standard(process.stdout)

/** Into a file, so that the terminal stays readable; errors go to the terminal too. */
export function sandboxLog(dataDir: string): DestinationStream {
  return multistream([
    { level: 'trace', stream: fileIn(dataDir, 'store.log') },
    { level: 'error', stream: standard(process.stderr) },
  ])
}

const maxMessage = 300
const maxHex = /0x[0-9a-fA-F]{65,}/g

/** Without long hexadecimal: it is calldata or a signature. */
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

export interface Sink {
  readonly writableLength: number
  write(text: string, done: (error?: Error | null) => void): unknown
}

/** Buffered for a stalled reader; further lines are lost. */
const maxBuffered = 8 * 1024 * 1024

/**
 * While a disk is full, a pipe closed or its reader stalled, lines are lost, and the next one that gets through comes
 * after one that says how many. A log must never stop the store.
 */
export function lossy(sink: Sink): DestinationStream {
  let lost = 0
  // A disk that fills up may take only the beginning of a line.
  let isCut = false
  return {
    write(line) {
      if (sink.writableLength > maxBuffered) {
        lost += 1
        return
      }
      const carried = lost
      const loss = carried === 0 ? '' : `${isCut ? '\n' : ''}${lossLine(carried)}`
      lost = 0
      isCut = false
      sink.write(`${loss}${line}`, (error) => {
        if (!error) return
        lost += carried + 1
        isCut = true
      })
    },
  }
}

function lossLine(lost: number): string {
  return `${JSON.stringify({ level: 40, time: Date.now(), lost, msg: 'lines of the log were lost' })}\n`
}

/** Node writes to a pipe without waiting for its reader, and goes on after an error. */
export function standard(stream: NodeJS.WriteStream): DestinationStream {
  // Each write gets its own error in its callback.
  stream.on('error', () => undefined)
  return lossy(inOneWrite(stream))
}

/** Writes together what comes in one turn of the event loop: a busy store writes many lines in each. */
function inOneWrite(stream: NodeJS.WriteStream): Sink {
  let isWaiting = false
  const letGo = () => {
    if (isWaiting) stream.uncork()
    isWaiting = false
  }
  process.on('exit', letGo)
  return {
    get writableLength() {
      return stream.writableLength
    },
    write(text, done) {
      if (!isWaiting) {
        stream.cork()
        setImmediate(letGo)
      }
      isWaiting = true
      stream.write(text, done)
    },
  }
}

export function fileIn(folder: string, name: string): DestinationStream {
  mkdirSync(folder, { recursive: true })
  const file = openSync(join(folder, name), 'a')
  return lossy({
    writableLength: 0,
    write(text, done) {
      try {
        const bytes = Buffer.from(text)
        for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at)
        done()
      } catch (error) {
        done(error as Error)
      }
    },
  })
}

/** Longer than a statement that hangs takes to fail, so that one outage is not reported as several. */
const quietMs = 30_000

export interface Outage {
  readonly what: string
  readonly failures: number
  readonly seconds: number
}

interface Failing {
  failures: number
  lastAt: number
  readonly timer: NodeJS.Timeout
}

/**
 * Groups failures of one kind into one outage, until none has come for 30 s. A single failure is no outage: rare work
 * may still fail when it is next tried.
 *
 * @returns whether an outage begins with this failure
 */
export function groupingOutages(ended: (outage: Outage) => void): (what: string) => boolean {
  const outages = new Map<string, Failing>()

  function beginOutage(what: string): void {
    const since = Date.now()
    const end = () => {
      outages.delete(what)
      const { failures, lastAt } = failing
      if (failures > 1) ended({ what, failures, seconds: Math.round((lastAt - since) / 1_000) })
    }
    const timer = setTimeout(end, quietMs).unref()
    const failing: Failing = { failures: 1, lastAt: since, timer }
    outages.set(what, failing)
  }

  return (what) => {
    const outage = outages.get(what)
    if (outage === undefined) {
      beginOutage(what)
      return true
    }
    outage.failures += 1
    outage.lastAt = Date.now()
    outage.timer.refresh()
    return false
  }
}
