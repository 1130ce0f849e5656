/** Pieces that have broken parsers of text before. None is a word from the inside of the store. */
export const textPieces: readonly string[] = [
  ...['%00', '%0a', '%0d%0a', '%ff', '%c3', '%c0%80', '%e2%80%ae', '%f0%9f%98%80', '%ed%a0%80'],
  ...['%', '%%', '%u0041', '%2', '%zz', '%25', '%2525', '%2f', '%5c', '%20', '+', '%2B'],
  ...['&', '=', '&&', '==', '?', '??', '#', ';', ',', ',,', '[]', '[0]', '{}', '(', "'", '"', '*'],
  ...['|', '~', '`', '<', '>', '^', '\\', ':', '@', '!', '$', '../', '..%2f', './', '//', '/'],
  ...['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'length', '0', '-1'],
  ...['1e999', '0x1', '00', '1.5', '-0', '99999999999999999999', '9007199254740993', 'NaN', 'null'],
  ...['true', 'Infinity', '\u007f', '\u00e9', '\u00ff', '\u00a0', 'x'.repeat(65), 'x'.repeat(300)],
  ...['a,'.repeat(60), 'US,'.repeat(51), 'a=b&'.repeat(40), '%61'.repeat(700)],
]

/** Control characters, and texts outside ASCII, for places that carry UTF-8. */
export const unicodePieces: readonly string[] = [
  ...['\u0000', '\u0007', '\t', '\n', '\r', '\u001f', '\u0085', '\u200b', '\u2028', '\u202e'],
  ...[
    '\ufeff',
    '\ufffd',
    '\ufffe',
    '\ud800',
    '\udc00',
    '🙂',
    '👩‍👩‍👧‍👦',
    'é',
    'e\u0301',
    'ß',
    'İ',
    'ı',
    'ﬁ',
  ],
  ...['\u0301'.repeat(300), 'ﷺ'.repeat(50), '😀'.repeat(90), '٣', '１２', 'А', '𝒜', '\u{10ffff}'],
]

/** Values at the limits of JSON and its parsers. */
export const extremeValues: readonly unknown[] = [
  ...[null, true, false, 0, -0, -1, 1, 0.5, 1.005, 1e21, 1e308, 5e-324, 2 ** 31, 2 ** 32, 2 ** 53],
  ...[2 ** 53 + 2, -(2 ** 53), '', ' ', '0', '-1', '1e3', '0x', '0x0', '1'.repeat(31)],
  ...['null', '__proto__', 'constructor', '../../etc', 'x'.repeat(5_000)],
  ...[
    [],
    {},
    [[]],
    [null],
    { a: {} },
    ['x'],
    { toString: 1 },
    { length: -1 },
    JSON.parse('{"then":1}'),
  ],
  ...unicodePieces,
]

/** Pieces that break the syntax of JSON or base64. */
export const syntaxPieces: readonly string[] = [
  ...['"', '\\', '\\u0000', '\\ud800', '\\x', '{', '}', '[', ']', ',', ':', '//', '/*', "'", ' '],
  ...[
    'null',
    'true',
    'nul',
    '1e999',
    '-0',
    '01',
    '.5',
    '+1',
    '"__proto__":{},',
    '"constructor":1,',
  ],
  ...[
    '{}',
    '[[[[[[',
    '🙂',
    '\u202e',
    '\ufeff',
    '\u0000',
    '\n',
    '\t',
    '=',
    '==',
    '-',
    '_',
    '+',
    '/',
  ],
  ...['"offerId":"x",', '"x402Version":1,', '9'.repeat(400), 'x'.repeat(2_000)],
]

/** Headers that are in use somewhere; the store must ignore all those that it does not document. */
export const headerNames: readonly string[] = [
  ...['accept', 'accept-charset', 'accept-encoding', 'accept-language', 'authorization', 'cookie'],
  ...['cache-control', 'content-encoding', 'content-language', 'content-location', 'date', 'dnt'],
  ...['access-control-request-headers', 'access-control-request-method', 'early-data', 'forwarded'],
  ...['from', 'if-match', 'if-modified-since', 'if-none-match', 'if-range', 'if-unmodified-since'],
  ...[
    'keep-alive',
    'max-forwards',
    'origin',
    'pragma',
    'prefer',
    'priority',
    'proxy-authorization',
  ],
  ...['proxy-connection', 'range', 'referer', 'sec-fetch-mode', 'te', 'traceparent', 'user-agent'],
  ...['via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-http-method-override'],
  ...['x-original-url', 'x-payment', 'x-real-ip', 'x-request-id', 'x-rewrite-url', '__proto__'],
]

export const headerPieces: readonly string[] = [
  ...['', '=', '%', '{', 'Bearer ', ',', '"', '""', "'", ';', '*', 'W/', 'W/"', '0', '-1', '1e9'],
  ...[', ', ';q=', ';q=0', 'gzip', 'br', '*/*', 'text/html', 'null', 'true', '\t', '\u00ff\u00fe'],
  ...[
    '\u0001',
    '\u007f',
    'é',
    'x'.repeat(700),
    'a,'.repeat(300),
    '='.repeat(80),
    'wait=0',
    'wait=',
  ],
  ...['respond-async', 'bytes=0-1', '127.0.0.1', '::1', '::ffff:7f00:1', '%eth0', '../', '\\'],
]

export const contentTypes: readonly string[] = [
  ...['application/json; charset=utf-8', 'application/json;charset=utf-16', 'APPLICATION/JSON'],
  ...['application/problem+json', 'text/plain', 'text/json', 'application/x-www-form-urlencoded'],
  ...[
    'multipart/form-data',
    'multipart/form-data; boundary=x',
    'application/json,text/plain',
    '*/*',
  ],
  ...[
    'application/json; boundary="',
    'application/',
    '/',
    '',
    ';',
    'application/xml',
    'json',
    'a/b;c',
  ],
  ...['application/octet-stream', 'application/json\u0001', 'x'.repeat(200)],
]

export const methods: readonly string[] = [
  ...['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'MKCOL'],
  ...['QUERY', 'LOCK', 'SEARCH', 'REPORT', 'get', 'Post', 'FOO', 'G', 'PRI', 'SOURCE', 'PURGE'],
]
