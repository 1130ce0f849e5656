import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'

/**
 * Answers a request that the HTTP parser could not read. Its path is unknown, so the body has the fields of
 * both interfaces. `charged` is unknown, because the request may have repeated a payment that was charged.
 */
export function answerClientError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  const { status, title, code, detail } = answerFor(error.code)
  const retryable = status === 408
  const requestId = randomUUID()
  const fields = {
    type: 'about:blank',
    title,
    status,
    detail,
    code,
    requestId,
    retryable,
    charged: 'unknown',
  }
  const body = JSON.stringify({ ...fields, error: detail })
  if (socket.writable) {
    socket.write(
      `HTTP/1.1 ${status} ${title}\r\ncontent-type: application/problem+json\r\n` +
        `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
    )
  }
  socket.destroy(error)
}

function answerFor(reason: string | undefined) {
  switch (reason) {
    case 'HPE_HEADER_OVERFLOW':
      return {
        status: 431,
        title: 'Request Header Fields Too Large',
        code: 'headers_too_large',
        detail: 'The headers are larger than 16 kB.',
      }
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return {
        status: 408,
        title: 'Request Timeout',
        code: 'request_timeout',
        detail: 'The request took too long to arrive.',
      }
    default:
      return {
        status: 400,
        title: 'Bad Request',
        code: 'invalid_http',
        detail: 'The request is not valid HTTP.',
      }
  }
}
