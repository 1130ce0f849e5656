import type { Socket } from 'node:net'

/**
 * Answers a request that the HTTP parser itself could not read. No path is known yet, so the body
 * serves the readers of both interfaces.
 */
export function answerClientError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  const [status, phrase, detail] = answerFor(error.code)
  const body = JSON.stringify({ title: phrase, status, detail, error: detail })
  if (socket.writable) {
    socket.write(
      `HTTP/1.1 ${status} ${phrase}\r\ncontent-type: application/problem+json\r\n` +
        `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
    )
  }
  socket.destroy(error)
}

function answerFor(code: string | undefined): [status: number, phrase: string, detail: string] {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return [431, 'Request Header Fields Too Large', 'The headers are larger than 16 kB.']
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return [408, 'Request Timeout', 'The request took too long to arrive.']
    default:
      return [400, 'Bad Request', 'The request is not valid HTTP.']
  }
}
