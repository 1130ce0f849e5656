import { expect, test } from 'vitest'
import { isWebhookUrl, maxWebhookUrl } from './webhook-url.ts'

const longest = `https://hooks.example.com/${'a'.repeat(maxWebhookUrl - 26)}`

test.each([
  'https://hooks.example.com',
  'https://hooks.example.com/orders?of=me&x=%20',
  'https://hooks.example.com:443/',
  'https://hooks.example.com:8443/',
  'HTTPS://Hooks.Example.COM/',
  'https://xn--bcher-kva.example.com/',
  'https://a_b.example.io/',
  longest,
])('%s may be a webhook', (url) => {
  expect(isWebhookUrl(url)).toBe(true)
  expect(isWebhookUrl(url, true)).toBe(true)
})

const never = [
  ...['', 'hooks.example.com', '//hooks.example.com/', 'http://hooks.example.com/', 'https:///'],
  ...['wss://hooks.example.com/', 'file:///etc/passwd', 'javascript:alert(1)', 'https://'],
  ...['https://user@hooks.example.com/', 'https://:secret@hooks.example.com/'],
  ...['https://hooks.example.com/#part', 'https://hooks.example.com\\@10.0.0.1/'],
  ...[
    'https://hooks.example.com/a b',
    'https://hooks.example.com/\n',
    'https://bücher.example.com/',
  ],
  ...['https://hooks.example.com./', 'https://hooks/', 'https://-/', 'https://a..b/'],
  ...['https://10.0.0.1/', 'https://8.8.8.8/', 'https://0x7f.1.2.3/', 'https://2130706434/'],
  ...['https://[fd00::1]/', 'https://[::ffff:127.0.0.1]/', 'https://127.1.1.1/'],
  ...['https://printer.local/', 'https://db.internal/', 'https://a.localhost/', 'https://x.test/'],
  ...[
    'https://router.home.arpa/',
    'https://a.onion/',
    'https://kubernetes.default.svc.cluster.local/',
  ],
  `${longest}a`,
]
test.each(never)('"%s" may not, not even in a sandbox', (url) => {
  expect(isWebhookUrl(url)).toBe(false)
  expect(isWebhookUrl(url, true)).toBe(false)
})

test.each([
  'https://localhost/',
  'https://localhost:9443/',
  'https://127.0.0.1:9443/',
  'https://[::1]/',
  'https://hooks.example.com:9443/',
])('%s may only in a sandbox', (url) => {
  expect(isWebhookUrl(url)).toBe(false)
  expect(isWebhookUrl(url, true)).toBe(true)
})

test.each([undefined, null, 1, true, {}, ['https://hooks.example.com/']])(
  '%j is no URL at all',
  (value) => {
    expect(isWebhookUrl(value)).toBe(false)
  },
)
