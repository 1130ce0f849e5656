import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** `frozen`: connections open, but no data passes. `gone`: open ones break, and new ones are closed at once. */
export type Line = 'open' | 'frozen' | 'gone'

/** A TCP proxy between a store and a server that breaks the line on demand. */
export async function startTcpProxy(target: { readonly host: string; readonly port: number }) {
  let line: Line = 'open'
  const pairs = new Map<Socket, Socket>()

  function obey(near: Socket, far: Socket): void {
    if (line === 'gone') return void near.destroy()
    for (const socket of [near, far]) line === 'frozen' ? socket.pause() : socket.resume()
  }

  const server = createServer((near) => {
    const far = connect(target)
    near.pipe(far).pipe(near)
    pairs.set(near, far)
    near.on('close', () => {
      far.destroy()
      pairs.delete(near)
    })
    far.on('close', () => near.destroy())
    for (const socket of [near, far]) socket.on('error', () => undefined)
    obey(near, far)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    set(next: Line): void {
      line = next
      for (const [near, far] of pairs) obey(near, far)
    },
    async close() {
      for (const near of pairs.keys()) near.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
