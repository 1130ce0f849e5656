import { once } from 'node:events'
import { connect } from 'node:net'
import { serveParent } from './child.ts'

/** Page searches that one address sends at once, each different and on a connection of its own. */
export interface Flood {
  readonly port: number
  readonly count: number
  /** The number of the first search; searches with lower numbers were sent before. */
  readonly from: number
}

async function search(port: number, at: number): Promise<void> {
  const socket = connect(port, '127.0.0.1')
  const target = `/search?kind=topup&q=a&min=1&max=${1_000 + at}`
  const headers = 'host: localhost\r\nx-forwarded-for: 192.0.2.1\r\nconnection: close'
  socket.write(`GET ${target} HTTP/1.1\r\n${headers}\r\n\r\n`)
  await once(socket.resume(), 'close')
}

await serveParent<Flood>(async ({ port, count, from }) => {
  const searches = Promise.all(Array.from({ length: count }, (_, at) => search(port, from + at)))
  return { told: {}, stop: () => searches }
})
