import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { plainEnvironment } from '../../sandbox/process.ts'
import type { SandboxParts } from '../../sandbox/sandbox.ts'
import { type ChildStore, newDataDir, startChildStore } from '../child-store.ts'
import { startSmtpSink } from '../harness/smtp.ts'
import type { Buyer } from '../stories/buyer.ts'
import { sendChoice, sendForm } from '../stories/coins/person.ts'
import { bodyFor, buy, eventually, get, post, termsOf, until } from '../stories/requests.ts'
import { buyerAt } from './data-folder.ts'

// A day in the life of an operator: what happens outside, and what they type, on one store from its start to its books.

const phone = '+12025550123'
const month = new Date().toISOString().slice(0, 7)

let dataDir: string
let settings: Record<string, string>
let sink: Awaited<ReturnType<typeof startSmtpSink>>
let store: ChildStore
let parts: SandboxParts
let ada: Buyer

beforeAll(async () => {
  dataDir = await newDataDir()
  sink = await startSmtpSink()
  settings = { SANDBOX_OFFERS: '600', SMTP_URL: sink.url, ALERT_MAIL: 'operator@example.com' }
  store = await startChildStore({ dataDir, env: settings })
  parts = JSON.parse(readFileSync(join(dataDir, 'connection.json'), 'utf8')).parts
  ada = await buyerAt(store, dataDir)
})
afterAll(async () => {
  await store?.stop()
  await sink.stop()
  await rm(dataDir, { recursive: true, force: true })
})

interface Said {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** What an operator types, as Anna. */
function kiosk402(...args: string[]): Promise<Said> {
  const env = { ...plainEnvironment(), ...settings, DATA_DIR: dataDir, SUDO_USER: 'anna' }
  return new Promise((settle) => {
    execFile(resolve('scripts/kiosk402'), args, { env }, (error, stdout, stderr) => {
      settle({ code: Number(error?.code ?? 0), stdout, stderr })
    })
  })
}

const isDone = ({ code }: Said) => code === 0

/** The same once more as a program reads it. */
async function asData(...args: string[]) {
  const said = await kiosk402(...args, '--json')
  expect(said.code, said.stderr).toBe(0)
  return JSON.parse(said.stdout)
}

const because = ['--reason', 'A day in the life'] as const

const signals = async () => (await get(store.url, '/.well-known/x402')).body.signals

/** What the supplier's wallet holds, in US cents. */
async function supplierHolds(availableBalance: number): Promise<void> {
  const headers = { authorization: `Bearer ${parts.supplier.apiKey}` }
  const { origin } = new URL(parts.supplier.url)
  const set = await post(origin, '/_admin/balance', { availableBalance }, headers)
  expect(set.status).toBe(200)
}

/** The text of a mail, without the line breaks of its encoding (RFC 2045). */
const textOf = ({ data }: { readonly data: string }) =>
  data
    .replace(/=\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, code) => String.fromCharCode(parseInt(code, 16)))

const mailed = (pattern: RegExp) =>
  eventually(
    () => sink.mails.filter((mail) => pattern.test(textOf(mail))),
    ({ length }) => length > 0,
  )

async function buyTopup(): Promise<string> {
  const { answer } = await buy(store, ada, 'topup', { ...bodyFor('topup', 'OK'), msisdn: phone })
  await until(store, answer.body.orderId, ({ orders: [one] }) => one.state === 'FULFILLED')
  return answer.body.orderId
}

/** A person who pays for a voucher in Bitcoin; where their money would go back to, and their order. */
async function buyInBitcoin() {
  const { answer, refundTo } = await sendChoice(store, 'BTC')
  expect(answer.status, await answer.clone().text()).toBe(303)
  const { url, storeId, apiKey } = parts.btcpay
  const headers = { authorization: `token ${apiKey}` }
  const invoices = await eventually(
    () => get(url, `/api/v1/stores/${storeId}/invoices`, headers),
    ({ body }) => body.length === 1,
  )
  const [{ id }] = invoices.body
  await post(url, `/sandbox/invoices/${id}/pay`, {})
  const found = await eventually(
    () => kiosk402('order', 'find', refundTo, '--json'),
    ({ code, stdout }) => code === 0 && JSON.parse(stdout).found[0].state === 'FULFILLED',
  )
  return { refundTo, order: JSON.parse(found.stdout).found[0].order as string }
}

const sentInBitcoin = async (to: string) => {
  const { body } = await get(parts.btcpay.url, '/sandbox/ledger')
  return body.BTC.outgoing.filter(({ address }: { address: string }) => address === to)
}

test('an operator gets through a day with kiosk402', async () => {
  const topup = await buyTopup()
  const bitcoin = await buyInBitcoin()

  // The supplier runs dry: the store sells nothing, and its operator hears why.
  await supplierHolds(0)
  await eventually(signals, ({ agent_action }) => agent_action === 'stop')
  const [alert] = await mailed(/^Subject: .*supplier is down/ms)
  expect(alert?.to).toEqual(['operator@example.com'])
  expect(textOf(alert ?? { data: '' })).toContain('docs/operators/treasury.md')

  const paused = await kiosk402('sales', 'pause', 'supplier:zendit', ...because)
  expect(paused.stdout).toContain('In force on all nodes within 5 s')
  await supplierHolds(10_000_000)
  const { reason } = await eventually(signals, (seen) => seen.reason !== undefined)
  expect(reason).toBe('Sales are paused.')
  expect((await kiosk402('sales')).stdout).toMatch(/supplier:zendit {2}pause {2}by anna/)
  expect((await kiosk402('sales', 'resume', 'supplier:zendit', ...because)).code).toBe(0)
  await eventually(signals, ({ agent_action }) => agent_action === 'pay')
  const again = await buyTopup()

  // A buyer who lost the link is found by phone.
  const { found } = await asData('order', 'find', '+1 (202) 555-0123')
  expect(found.map(({ order }: { order: string }) => order)).toEqual([again, topup])
  const resent = await kiosk402('order', 'resend', topup, '--to', 'ada@example.org', ...because)
  expect(resent.stdout).toContain('Sent to ada@example.org')
  const [link] = await mailed(/^To: ada@example\.org/m)
  const [, token = ''] = new RegExp(`${topup}#(\\S+)`).exec(textOf(link ?? { data: '' })) ?? []
  const opened = await sendForm(store, `/orders/${topup}/open`, { token })
  expect([opened.status, opened.headers.get('location')]).toEqual([303, `/orders/${topup}`])

  // Goodwill goes the way that the payment came.
  const given = await eventually(
    () => kiosk402('refund', 'goodwill', bitcoin.order, '0.50', ...because),
    isDone,
  )
  expect(given.stdout).toContain('the running store pays it')
  await eventually(
    () => sentInBitcoin(bitcoin.refundTo),
    ({ length }) => length === 1,
  )
  expect((await kiosk402('refund', 'goodwill', bitcoin.order, '0.50', ...because)).code).toBe(1)

  // A person asks to be forgotten.
  const erase = ['person', 'erase', phone, ...because]
  // An order is open until its payment is final.
  await eventually(() => kiosk402(...erase, '--dry-run'), isDone)
  expect((await kiosk402(...erase)).stdout).toMatch(/^Erased: 2 orders/)
  expect((await kiosk402('order', 'find', phone)).code).toBe(1)

  // One brand becomes dearer, after a look at what that does.
  const body = bodyFor('voucher', 'OK')
  const { brand } = (await get(store.url, `/api/catalog/vouchers/offers/${body['offerId']}`)).body
  const raise = ['price', 'set', `brand:${brand}`, '--margin-bps', '200', ...because]
  const before = await termsOf(store.url, 'voucher', body)
  const dry = await asData(...raise, '--dry-run')
  const changed = dry.changes.offers.find(
    ({ offerId }: { offerId: string }) => offerId === body['offerId'],
  )
  expect(Number(changed.usdcBefore)).toBe(Number(before.amount) / 1e6)
  expect((await asData('price')).length).toBe(0)
  await asData(...raise)
  const dearer = await eventually(
    () => termsOf(store.url, 'voucher', body),
    ({ amount }) => amount !== before.amount,
  )
  expect(Number(dearer.amount) / 1e6).toBe(Number(changed.usdcAfter))

  // The month, and every book of it.
  const orders = await kiosk402('export', 'orders', month)
  expect(orders.stdout.split('\r\n').filter((line) => line.startsWith('ord_'))).toHaveLength(3)
  const closed = await eventually(() => kiosk402('export', 'month', month), isDone)
  expect(closed.stderr).toContain(`${month} so far closes.`)
  const compared = await eventually(() => kiosk402('reconcile', '--settle-minutes', '0'), isDone)
  expect(compared.stdout).toContain('Nothing differs.')
  const acts = await asData('audit', '--by', 'anna')
  expect(acts.map(({ act }: { act: string }) => act)).toEqual([
    'price set',
    'person erase',
    'refund goodwill',
    'order resend',
    'sales resume',
    'sales pause',
  ])
})
