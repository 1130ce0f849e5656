import { expect, test } from 'vitest'
import { createLog } from './log.ts'

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
