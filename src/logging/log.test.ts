import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { isOutage, openDatabase } from '../adapters/storage/database.ts'
import { createLog, lossy, type Sink } from './log.ts'

const signature = `0x${'9f'.repeat(65)}`
const hash = `0x${'7e'.repeat(32)}`

/** A log and everything that comes out of it. */
function openLog() {
  const lines: string[] = []
  const log = createLog('trace', { write: (line: string) => lines.push(line) })
  return { log, text: () => lines.join(''), last: () => JSON.parse(lines.at(-1) ?? '') }
}

function failure(): Error {
  const error = new Error(
    `call failed with ${signature}\nRequest body: {"params":["${signature}"]}`,
  )
  error.cause = new Error(`because of ${signature}`)
  return error
}

test.each<[string, (log: ReturnType<typeof openLog>['log']) => void]>([
  ['beside a message', (log) => log.error({ err: failure() }, 'it failed')],
  ['under its other name', (log) => log.error({ error: failure() }, 'it failed')],
  ['without a message', (log) => log.error({ err: failure() })],
  ['alone', (log) => log.error(failure())],
  ['that is only text', (log) => log.error({ err: failure().message }, 'it failed')],
  ['as the message', (log) => log.error(failure().message)],
  ['deep inside', (log) => log.warn({ order: { payment: { signature } } }, 'x')],
  ['in a child', (log) => log.child({ reason: signature }).warn('x')],
])('a signature in an error %s never comes out', (_, write) => {
  const { log, text } = openLog()
  write(log)
  expect(text()).not.toBe('')
  expect(text()).not.toContain('9f9f9f')
})

test('nor does one that begins a line like a stack frame', () => {
  const { log, text } = openLog()
  log.error({ err: new Error(`x\n    at ${signature}`) }, 'it failed')
  expect(text()).not.toContain('9f9f9f')
})

test('an error comes with its name, its first line and where it happened', () => {
  const { log, last } = openLog()
  log.error({ err: new TypeError('wrong\nsecond line') }, 'it failed')
  expect(last()).toMatchObject({ msg: 'it failed', err: { type: 'TypeError', message: 'wrong' } })
  expect(last().err.stack).toContain('log.test.ts')
  expect(JSON.stringify(last())).not.toContain('second line')
})

test.each([
  ['PostgreSQL', Object.assign(new Error('Platte voll'), { code: '53100' }), '53100'],
  [
    'the system',
    new Error('x', { cause: Object.assign(new Error(), { code: 'ENOSPC' }) }),
    'ENOSPC',
  ],
  ['nobody', Object.assign(new Error('x'), { code: 'a secret?' }), undefined],
])('an error comes with the code that %s gave it', (_, err, code) => {
  const { log, last } = openLog()
  log.error({ err }, 'it failed')
  expect(last().err.code).toBe(code)
})

test('what was thrown without being an error is told as text', () => {
  const { log, last } = openLog()
  log.error({ err: 'out of paper' }, 'it failed')
  expect(last().err).toEqual({ message: 'out of paper' })
})

test('a long message is cut', () => {
  const { log, last } = openLog()
  log.error({ err: new Error('a'.repeat(5_000)) }, 'it failed')
  expect(last().err.message).toHaveLength(300)
})

test('a transaction hash stays, because an operator looks for it', () => {
  const { log, text } = openLog()
  log.info({ transaction: hash }, 'paid')
  expect(text()).toContain(hash)
})

test.each(['headers', 'body', 'payload', 'recipient', 'delivery'])('%s are left out', (name) => {
  const { log, text } = openLog()
  log.info({ [name]: { secret: 'SESAME' } }, 'x')
  expect(text()).not.toContain('SESAME')
})

test('a request is its method, and nothing of its headers', () => {
  const { log, last, text } = openLog()
  log.info({ req: { method: 'POST', url: '/x?token=SESAME', headers: { cookie: 'SESAME' } } }, 'x')
  expect(last().req).toEqual({ method: 'POST' })
  expect(text()).not.toContain('SESAME')
})

test('what is below the level is not written', () => {
  const lines: string[] = []
  const log = createLog('warn', { write: (line: string) => lines.push(line) })
  log.info('quiet')
  log.warn('loud')
  expect(lines).toHaveLength(1)
})

/** A sink that takes lines, takes only the beginning of each, or keeps them waiting. */
function openSink() {
  const state = { isBroken: false, writableLength: 0, written: '' }
  const sink: Sink = {
    get writableLength() {
      return state.writableLength
    },
    write(text, done) {
      state.written += state.isBroken ? text.slice(0, 1) : text
      done(state.isBroken ? new Error('ENOSPC') : null)
    },
  }
  return { sink, state, lines: () => state.written.split('\n').filter(Boolean) }
}

describe('a log that loses lines', () => {
  test('writes them as they come while all is well', () => {
    const { sink, lines } = openSink()
    const log = lossy(sink)
    log.write('a\n')
    log.write('b\n')
    expect(lines()).toEqual(['a', 'b'])
  })

  test.each(['a full disk', 'a stalled reader'])('says how many after %s', (trouble) => {
    const { sink, state, lines } = openSink()
    const log = lossy(sink)
    const isFull = trouble === 'a full disk'
    if (isFull) state.isBroken = true
    else state.writableLength = 2 ** 30
    for (const line of ['aa\n', 'bb\n', 'cc\n']) log.write(line)
    state.isBroken = false
    state.writableLength = 0
    log.write('d\n')
    log.write('e\n')
    const [told = '', ...others] = isFull ? lines().slice(1) : lines()
    expect(JSON.parse(told)).toMatchObject({ level: 40, lost: 3 })
    expect(others).toEqual(['d', 'e'])
  })
})

describe('a process whose log goes nowhere', () => {
  const program = `
    import { createLog } from ${JSON.stringify(new URL('./log.ts', import.meta.url).href)}
    import { standard } from ${JSON.stringify(new URL('./log.ts', import.meta.url).href)}
    const log = createLog('info', standard(process.stdout))
    for (let line = 0; line < 40_000; line += 1) log.info({ text: 'x'.repeat(1_000) }, 'a line')
    setImmediate(() => process.stderr.write('goes on', () => process.exit(0)))`
  const ended: (() => void)[] = []
  afterEach(() => {
    for (const end of ended.splice(0)) end()
  })

  test.each([
    ['into a full disk', () => openSync('/dev/full', 'w')],
    ['into a pipe that nobody reads', () => 'pipe' as const],
  ])('goes on when it writes %s, and ends', async (_, stdout) => {
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      stdio: ['ignore', stdout(), 'pipe'],
    })
    ended.push(() => child.kill('SIGKILL'))
    let said = ''
    child.stderr?.on('data', (chunk: Buffer) => {
      said += chunk.toString()
    })
    expect(await once(child, 'exit')).toEqual([0, null])
    expect(said).toBe('goes on')
  })
})

test('a process that ends at once has said all it had to say', async () => {
  const program = `
    import { standard } from ${JSON.stringify(new URL('./log.ts', import.meta.url).href)}
    const log = standard(process.stdout)
    for (const line of ['a', 'b', 'c']) log.write(line + '\\n')
    process.exit(0)`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program])
  expect(await text(child.stdout)).toBe('a\nb\nc\n')
})

describe('an outage', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  test('an outage is one line at its start and one at its end, however often it is met', () => {
    const lines: Record<string, unknown>[] = []
    const write = (line: string) => lines.push(JSON.parse(line))
    const log = createLog('info', { write })
    const failed = (what: string, error: Error) =>
      log.error({ error, what }, 'background work failed')
    for (let tried = 0; tried < 92; tried += 1) {
      failed('sweep', new Error('gone'))
      if (tried < 2) failed('nodes', new Error('gone'))
      vi.advanceTimersByTime(250)
    }
    const told = () => lines.map(({ level, what, msg, failures }) => [level, what, msg, failures])
    const begun = [
      [50, 'sweep', 'background work failed', undefined],
      [50, 'nodes', 'background work failed', undefined],
    ]
    expect(told()).toEqual(begun)
    vi.advanceTimersByTime(30_000)
    expect(told().slice(2).sort()).toEqual([
      [40, 'nodes', 'works again', 2],
      [40, 'sweep', 'works again', 92],
    ])
    expect(lines.find(({ failures }) => failures === 92)).toMatchObject({ seconds: 23 })
    failed('sweep', new Error('gone again'))
    expect(told().slice(4)).toEqual([begun[0]])
  })

  test('work that is tried once a minute is not said to work again while it fails', () => {
    const messages: string[] = []
    const write = (line: string) => messages.push(JSON.parse(line).msg)
    const log = createLog('info', { write })
    for (let tried = 0; tried < 3; tried += 1) {
      log.error({ error: new Error('gone'), what: 'forget' }, 'background work failed')
      vi.advanceTimersByTime(60_000)
    }
    expect(messages).toEqual(Array(3).fill('background work failed'))
  })

  test('what a database that is away has broken is one outage, whatever lines tell of it', async () => {
    const gone = openDatabase('postgres://nobody@127.0.0.1:1/none', {
      applicationName: 'test',
      poolSize: 1,
      onError: () => undefined,
    })
    const errors = [
      await gone.query('select 1').catch((error: unknown) => error),
      await gone.connect().catch((error: unknown) => error),
      new Error('Connection terminated unexpectedly'),
    ]
    await gone.end()
    const elsewhere = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
    const lines: Record<string, unknown>[] = []
    const write = (line: string) => lines.push(JSON.parse(line))
    const log = createLog('info', { write }, isOutage)
    const request = log.child({ reqId: '1' })
    for (const err of errors) request.error({ err }, 'orders not readable')
    log.error({ error: errors[0], what: 'sweep' }, 'background work failed')
    log.error({ error: elsewhere }, 'mail not sent')
    log.error({ err: elsewhere }, 'mail not sent')
    vi.advanceTimersByTime(30_000)
    expect(lines.map(({ msg, what, failures, reqId }) => [msg, what, failures, reqId])).toEqual([
      ['orders not readable', undefined, undefined, '1'],
      ['mail not sent', undefined, undefined, undefined],
      ['mail not sent', undefined, undefined, undefined],
      ['works again', 'database', 4, undefined],
    ])
  })
})
