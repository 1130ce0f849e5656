import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'

/** The answer to an input. */
export interface Answer {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

export interface Address {
  readonly host: string
  readonly port: number
}

/** No answer came in time: the store hangs. */
export class NoAnswer extends Error {}
/** The store closed the connection without an answer. */
export class Closed extends Error {}
/** The bytes are not an answer, or more than one. */
export class BadFraming extends Error {}

/** Without an answer within this time, the store counts as hanging; milliseconds. */
const maxAnswerMs = 10_000
/** How long a connection is watched after its last answer for bytes that nobody asked for; milliseconds. */
const watchedMs = 50

/** A keep-alive connection that sends one request after another, as bytes. */
export interface Connection {
  /** @throws NoAnswer, Closed, BadFraming */
  ask(bytes: Buffer, method: string): Promise<Answer>
  /** Whether another request may be sent. */
  readonly isOpen: () => boolean
  /** Closes the connection, once nothing more has come for a moment. */
  end(): Promise<void>
}

interface Waiting {
  readonly method: string
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: Error) => void
}

/** @param strayed is told of bytes that come while no request waits for an answer; the connection is then over */
export function openConnection(
  { host, port }: Address,
  strayed: (error: BadFraming) => void,
): Connection {
  const socket = connect(port, host).setNoDelay(true)
  let received: Buffer = Buffer.alloc(0)
  let waiting: Waiting | undefined
  let isOver = false

  const finish = (settle: (asked: Waiting) => void) => {
    const asked = waiting
    waiting = undefined
    socket.setTimeout(0)
    if (asked) settle(asked)
  }
  const fail = (error: Error) => {
    isOver = true
    socket.destroy()
    finish(({ reject }) => reject(error))
  }
  const take = (read: Exclude<ReadAnswer, string>) => {
    const rest = received.subarray(read.length)
    received = Buffer.alloc(0)
    if (rest.length > 0) return fail(new BadFraming(`left over: ${rest.toString('latin1')}`))
    isOver ||= read.answer.headers.get('connection') === 'close'
    return finish(({ resolve }) => resolve(read.answer))
  }
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk])
    const read = waiting ? readAnswer(received, waiting.method) : 'stray'
    const shown = received.subarray(0, 400).toString('latin1')
    if (read === 'stray') {
      fail(new Closed('the connection was closed after stray bytes'))
      strayed(new BadFraming(`without a request: ${shown}`))
    } else if (read === 'bad') fail(new BadFraming(shown))
    else if (read !== 'more') take(read)
  })
  socket.on('timeout', () => fail(new NoAnswer(`no answer within ${maxAnswerMs} ms`)))
  socket.on('error', () => fail(new Closed('the connection broke')))
  socket.on('close', () => fail(new Closed('the connection was closed')))

  return {
    ask: (bytes, method) =>
      new Promise((resolve, reject) => {
        if (isOver) return reject(new Closed('the connection was closed before'))
        waiting = { method, resolve, reject }
        socket.setTimeout(maxAnswerMs)
        socket.write(bytes)
        return undefined
      }),
    isOpen: () => !isOver,
    end: async () => {
      if (!socket.destroyed) await delay(watchedMs)
      isOver = true
      socket.destroy()
    },
  }
}

type ReadAnswer = { readonly answer: Answer; readonly length: number } | 'more' | 'bad'

/** Reads one answer from the beginning of the bytes. Every answer of the store has a Content-Length. */
function readAnswer(bytes: Buffer, method: string): ReadAnswer {
  const headEnd = bytes.indexOf('\r\n\r\n')
  if (headEnd < 0) return 'more'
  const bodyAt = headEnd + 4
  const [first = '', ...lines] = bytes.subarray(0, headEnd).toString('latin1').split('\r\n')
  const status = Number(/^HTTP\/1\.1 (\d{3})( |$)/.exec(first)?.[1])
  if (!status) return 'bad'
  // An interim response, such as 100 Continue, precedes the answer.
  if (status < 200) return shifted(readAnswer(bytes.subarray(bodyAt), method), bodyAt)
  const headers = new Map(lines.map(pairOf))
  const size = bodySizeOf(status, headers, method)
  if (size === undefined) return 'bad'
  if (bytes.length < bodyAt + size) return 'more'
  const body = decoded(headers.get('content-encoding'), bytes.subarray(bodyAt, bodyAt + size))
  return { answer: { status, headers, body }, length: bodyAt + size }
}

function shifted(read: ReadAnswer, by: number): ReadAnswer {
  return typeof read === 'string' ? read : { ...read, length: read.length + by }
}

/** The decompressed body, so that secrets are found in it. */
function decoded(coding: string | undefined, sent: Buffer): string {
  if (sent.length === 0) return ''
  if (coding === 'gzip') return gunzipSync(sent).toString('utf8')
  return coding === 'br' ? brotliDecompressSync(sent).toString('utf8') : sent.toString('utf8')
}

/** The length of the body; undefined if the answer does not name it. */
function bodySizeOf(
  status: number,
  headers: ReadonlyMap<string, string>,
  method: string,
): number | undefined {
  // An error of the HTTP parser (without X-Request-Id) has a body even for HEAD, whose method it did not read.
  const isHead = method === 'HEAD' && headers.has('x-request-id')
  if (isHead || status === 204 || status === 304) return 0
  const said = headers.get('content-length') ?? ''
  return /^\d{1,9}$/.test(said) && !headers.has('transfer-encoding') ? Number(said) : undefined
}

function pairOf(line: string): [name: string, value: string] {
  const at = line.indexOf(':')
  return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()]
}

/** Sends bytes, ends our side of the connection, and returns everything until the store closes it. */
export function askOnce({ host, port }: Address, bytes: Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const socket: Socket = connect(port, host)
    socket.setTimeout(maxAnswerMs, () => {
      reject(new NoAnswer(`the connection stayed open for ${maxAnswerMs} ms`))
      socket.destroy()
    })
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    // The store may answer and close while we still send; what has arrived by then is its answer.
    socket.on('error', () => {})
    socket.on('close', () => resolve(Buffer.concat(chunks).toString('utf8')))
    socket.end(bytes)
  })
}
