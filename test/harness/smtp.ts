import { createServer, type Socket } from 'node:net'

/** A mail that was received. */
interface CaughtMail {
  readonly from: string
  readonly to: readonly string[]
  /** Headers and text; lines end with a line feed. */
  readonly data: string
}

/** No test sends more than this in a connection; more closes it. */
const maxBytes = 100_000
const maxMails = 100

/** A mail server on loopback that accepts everything and delivers nothing. */
export async function startSmtpSink() {
  const mails: CaughtMail[] = []
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => socket.destroy())
    converse(socket, (mail) => {
      if (mails.length < maxMails) mails.push(mail)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    url: `smtp://127.0.0.1:${port}`,
    mails,
    async stop() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** The part of SMTP (RFC 5321) that sending a mail needs. */
function converse(socket: Socket, caught: (mail: CaughtMail) => void): void {
  let [from, to, data]: [string, string[], string[] | undefined] = ['', [], undefined]
  let [rest, bytes] = ['', 0]
  const say = (line: string) => socket.write(`${line}\r\n`)

  const command = (line: string) => {
    const verb = line.slice(0, 4).toUpperCase()
    const [, path = ''] = /<([^>]*)>/.exec(line) ?? []
    if (verb === 'DATA') {
      data = []
      return say('354 go on')
    }
    if (verb === 'QUIT') return socket.end('221 bye\r\n')
    if (verb === 'MAIL') [from, to] = [path, []]
    if (verb === 'RCPT') to.push(path)
    return say('250 ok')
  }

  const read = (line: string) => {
    if (data === undefined) return command(line)
    if (line !== '.') return data.push(line.replace(/^\./, ''))
    caught({ from, to, data: data.join('\n') })
    data = undefined
    return say('250 taken')
  }

  say('220 sink')
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    bytes += chunk.length
    if (bytes > maxBytes) socket.destroy()
    const lines = (rest + chunk).split('\r\n')
    rest = lines.pop() ?? ''
    for (const line of lines) read(line)
  })
}
