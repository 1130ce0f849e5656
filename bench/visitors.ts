import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { type Child, startChild } from './child.ts'
import { type Figure, figure, quantile, ratio } from './figures.ts'
import type { HttpServer } from './http-server.ts'

const offers = 200_000
const atOnce = 300
const rounds = 5

type Server = Child<{ readonly port: number }>

/**
 * What an honest request waits while one address sends hundreds of page searches at once, each of them
 * another one, beside what it waits while nobody does.
 */
export async function measureVisitors(): Promise<Figure[]> {
  const server: Server = await startChild('http-server.ts', { kind: 'store', offers } as HttpServer)
  try {
    const url = `http://127.0.0.1:${server.told.port}`
    await honest(url)
    const alone: number[] = []
    const beside: number[] = []
    for (let round = 0; round < rounds; round += 1) {
      alone.push(await honest(url))
      const flood = Array.from({ length: atOnce }, (_, at) =>
        search(server.told.port, round * atOnce + at),
      )
      beside.push(await honest(url))
      await Promise.all(flood)
    }
    const [quiet, loud] = [quantile(alone, 0.5), quantile(beside, 0.5)]
    return [
      { ...figure('An honest request while nobody else asks', quiet, 'ms'), note },
      figure(`Beside ${atOnce} page searches at once from one address`, loud, 'ms', 200),
      ratio('The same, against none', loud / quiet),
    ]
  } finally {
    await server.stop()
  }
}

/** How long `/readyz` takes for somebody at another address, on a connection of their own. */
async function honest(url: string): Promise<number> {
  const before = performance.now()
  const asked = get(`${url}/readyz`, { localAddress: '127.0.0.2', agent: false })
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  await once(answer.resume(), 'end')
  return performance.now() - before
}

/** A search that nobody has asked for before; past the bound for one address it is refused. */
async function search(port: number, at: number): Promise<void> {
  const socket = connect(port, '127.0.0.1')
  const target = `/search?kind=topup&q=a&min=1&max=${1_000 + at}`
  socket.end(`GET ${target} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`)
  await once(socket.resume(), 'close')
}

const note = `A store of ${offers.toLocaleString('en')} offers in a process of its own. Medians of ${rounds} rounds; the searches and the honest request come from one program on the same machine, from two addresses.`
