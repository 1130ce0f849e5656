import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { maxAtOnce } from '../../src/http/at-once.ts'
import { bodyFor, purchasePath } from './requests.ts'
import { useStore } from './store.ts'

const store = useStore({ offers: 1_000 })

/** Sends a request over a connection of its own from this address, and gives the status. */
async function ask(localAddress: string, line: string, body = ''): Promise<string> {
  const socket = connect({ port: Number(new URL(store.url).port), host: '127.0.0.1', localAddress })
  const head = [`${line} HTTP/1.1`, 'host: localhost', 'connection: close']
  if (body !== '') head.push('content-type: application/json', `content-length: ${body.length}`)
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
  const [start] = await once(socket, 'data')
  await once(socket.resume(), 'close')
  return String(start).slice(9, 12)
}

test('who comes behind 60 searches at once of another address is answered before most of them', async () => {
  const answered: string[] = []
  const noting = async (who: string, answer: Promise<string>) => {
    const status = await answer
    answered.push(who)
    return status
  }
  const flood = Array.from({ length: 60 }, (_, at) => {
    const target = `/search?kind=voucher&q=a&min=1&max=${1_000 + at}`
    return noting('flood', ask('127.0.0.1', `GET ${target}`))
  })
  const body = JSON.stringify(bodyFor('voucher', 'OK'))
  const honest = [
    noting('reads', ask('127.0.0.2', 'GET /readyz')),
    noting('buys', ask('127.0.0.3', `POST ${purchasePath('voucher')}`, body)),
  ]
  expect(await Promise.all(honest)).toEqual(['200', '402'])
  expect(answered.indexOf('reads')).toBeLessThan(30)
  expect(answered.indexOf('buys')).toBeLessThan(30)
  expect(new Set(await Promise.all(flood))).toEqual(new Set(['200']))
})

test('a balancer is told that the store lives, whoever keeps its address busy', async () => {
  const port = Number(new URL(store.url).port)
  const head = [`POST ${purchasePath('voucher')} HTTP/1.1`, 'host: localhost']
  head.push('content-type: application/json', 'content-length: 9')
  // Each is under way from its headers on, and its body never comes.
  const busy = Array.from({ length: maxAtOnce }, () => {
    const socket = connect({ port, host: '127.0.0.1', localAddress: '127.0.0.4' })
    socket.write(`${head.join('\r\n')}\r\n\r\n`)
    return socket
  })
  try {
    await expect.poll(() => ask('127.0.0.4', 'GET /')).toBe('429')
    expect(await ask('127.0.0.4', 'GET /livez')).toBe('200')
    expect(await ask('127.0.0.4', 'GET /readyz')).toBe('200')
  } finally {
    for (const socket of busy) socket.destroy()
  }
})
