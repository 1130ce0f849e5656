import type { Random } from './random.ts'

type Break = (random: Random, good: Buffer) => Buffer

/** Breaks the HTTP of a good request: cuts it, repeats it, shifts it, or frames it wrongly. */
export function brokenHttp(random: Random, good: Buffer): Buffer {
  return random.pick(breaks)(random, good)
}

const breaks: readonly Break[] = [
  // Cut off anywhere.
  (random, good) => good.subarray(0, random.below(good.length)),
  // A few bits flipped.
  (random, good) => {
    const copy = Buffer.from(good)
    for (let left = 1 + random.below(8); left > 0; left -= 1) {
      const at = random.below(copy.length)
      copy.writeUInt8(copy.readUInt8(at) ^ (1 << random.below(8)), at)
    }
    return copy
  },
  // Bytes inserted anywhere.
  (random, good) => {
    const at = random.below(good.length)
    return Buffer.concat([good.subarray(0, at), latin1(random.pick(bytes)), good.subarray(at)])
  },
  // One or two more header lines, most of them about the length of the request.
  (random, good) => withLine(good, random.pick(lines)),
  (random, good) => withLine(withLine(good, random.pick(lines)), random.pick(lines)),
  // Chunked encoding instead of a length, valid or not.
  (random, good) => chunked(random, good),
  // Several requests at once, the last cut off.
  (random, good) => {
    const many = Array.from({ length: 2 + random.below(8) }, () => good)
    return Buffer.concat([...many, good.subarray(0, random.below(good.length))])
  },
  // Other first lines.
  (random, good) => {
    const rest = good.toString('latin1').split('\r\n').slice(1)
    return latin1([random.pick(firstLines), ...rest].join('\r\n'))
  },
  // Other line endings.
  (random, good) =>
    latin1(good.toString('latin1').replaceAll('\r\n', random.pick(['\n', '\r', '\r\r\n']))),
  // Far too many headers.
  (random, good) => {
    const header = `x-${'n'.repeat(random.below(20))}: ${'v'.repeat(random.below(200))}`
    return withLine(
      good,
      Array(random.pick([90, 400, 2_500]))
        .fill(header)
        .join('\r\n'),
    )
  },
  // No HTTP at all.
  (random) => latin1(random.pick(bytes).repeat(1 + random.below(50))),
]

const bytes: readonly string[] = [
  ...[
    '\0',
    '\r',
    '\n',
    '\r\n',
    '\r\n\r\n',
    ' ',
    '\t',
    '\x7f',
    '\xff\xfe',
    ':',
    '%',
    '\x16\x03\x01\x02',
  ],
  ...['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'GET /\r\n', 'HTTP/1.1 200 OK\r\n\r\n', '\x05\x01\0'],
  ...['GET / HTTP/1.1\r\nHost: x\r\n\r\n', '0\r\n\r\n', 'a'.repeat(9_000)],
]

const lines: readonly string[] = [
  ...['Content-Length: 0', 'Content-Length: 5', 'Content-Length: -1', 'Content-Length: +5'],
  ...['Content-Length: 0x5', 'Content-Length: 5, 5', 'Content-Length: 99999999999999999999'],
  ...['Content-Length:', 'Content-Length: 5 ', 'Content-Length : 5', 'Content-Length: 1e2'],
  ...['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked, chunked', 'Transfer-Encoding: x'],
  ...['Transfer-Encoding:\tchunked', 'Transfer-Encoding: gzip, chunked', 'Transfer-Encoding: '],
  ...['Transfer-Encoding: identity', 'transfer_encoding: chunked', 'Trailer: content-length'],
  ...['Connection: close', 'Connection: upgrade\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQ'],
  ...['Connection: Upgrade\r\nUpgrade: websocket', 'Expect: 100-continue', 'Expect: 200-maybe'],
  ...[
    'Host: other.example',
    'Host:',
    'Host: a b',
    ' folded: line',
    '\tfolded',
    ': no name',
    'no colon',
  ],
  ...['X-A: a\0b', 'X-B: a\rb', 'X-C: a\nb', 'X-D\0: a', 'X E: a', `X-F: ${'x'.repeat(20_000)}`],
]

const firstLines: readonly string[] = [
  ...['GET / HTTP/0.9', 'GET / HTTP/1.0', 'GET / HTTP/2.0', 'GET / HTTP/1.1 ', 'GET /', 'GET'],
  ...['GET  / HTTP/1.1', 'GET\t/ HTTP/1.1', ' GET / HTTP/1.1', 'GET / http/1.1', 'GET / HTTP/11.1'],
  ...['GET http://other.example/ HTTP/1.1', 'GET //other.example/ HTTP/1.1', 'GET * HTTP/1.1'],
  ...['OPTIONS * HTTP/1.1', 'CONNECT other.example:443 HTTP/1.1', 'CONNECT / HTTP/1.1'],
  ...[
    'GET /\xff HTTP/1.1',
    'GET /a b HTTP/1.1',
    'GET ? HTTP/1.1',
    'GET # HTTP/1.1',
    'GET \\ HTTP/1.1',
  ],
  ...['GET /#a?b HTTP/1.1', 'GET /ai#x HTTP/1.1', 'GET file:///etc HTTP/1.1', 'GET /ai; HTTP/1.1'],
  ...[`GET /${'a'.repeat(17_000)} HTTP/1.1`, 'M-SEARCH * HTTP/1.1', 'POST /ai HTTP/1.1'],
]

/** The request with a chunked body, sometimes with invalid chunks or a wrong end. */
function chunked(random: Random, good: Buffer): Buffer {
  const [head = '', body = ''] = good.toString('latin1').split('\r\n\r\n', 2)
  const kept = head.split('\r\n').filter((line) => !/^content-length/i.test(line))
  const size = 1 + random.below(64)
  const chunks = (body.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []).map((chunk) => {
    const length = random.chance(0.03)
      ? random.pick(['zz', '-1', 'fffffffff', ''])
      : hex(chunk.length)
    const extension = random.chance(0.1)
      ? random.pick([';a=b', ';', ' ', `;${'x'.repeat(20_000)}`])
      : ''
    return `${length}${extension}\r\n${chunk}\r\n`
  })
  const end = random.pick([
    '0\r\n\r\n',
    '0\r\nX-Trailer: a\r\n\r\n',
    '0\r\n',
    '',
    '00000000000\r\n\r\n',
  ])
  return latin1(
    `${[...kept, 'Transfer-Encoding: chunked'].join('\r\n')}\r\n\r\n${chunks.join('')}${end}`,
  )
}

function withLine(good: Buffer, line: string): Buffer {
  return latin1(good.toString('latin1').replace('\r\n', () => `\r\n${line}\r\n`))
}

function hex(length: number): string {
  return length.toString(16)
}

function latin1(text: string): Buffer {
  return Buffer.from(text, 'latin1')
}
