import { setTimeout as delay } from 'node:timers/promises'
import { makeAddress } from '../../sandbox/btcpay/addresses.ts'
import { Manifest } from '../../sandbox/demo/answers.ts'
import { newBuyer } from '../../sandbox/demo/buyer.ts'
import type { Demo, Step, Story } from '../../sandbox/demo/demo.ts'
import { hiddenFields, look, press } from '../../sandbox/demo/person.ts'
import { esim, fixedVoucher, topup } from '../../sandbox/demo/steps/goods.ts'
import { rejectedTopup } from '../../sandbox/demo/steps/refund.ts'
import { storeAt } from '../../sandbox/demo/store.ts'
import { query } from '../../test/harness/query.ts'
import { type Parts, recordOf } from './parts.ts'

/** One of each kind, and one that fails and is paid back. */
const purchases: readonly Step[] = [fixedVoucher, topup, esim, rejectedTopup]
const nothing: Story = { start: 0n, purchases: [], coinPayments: [] }
const silent = { colours: false, fact: () => {}, note: () => {}, block: () => {} }
const maxFollowSeconds = 60

/** What an agent does with a wallet of its own; what it buys is looked at on the chain. */
export async function agentBuys(parts: Parts): Promise<readonly string[]> {
  const { chain, publicUrl } = parts
  const sandbox = { ...chain, supplierUrl: parts.settings['SUPPLIER_URL'] ?? '' }
  const store = storeAt(publicUrl)
  const { body: manifest } = await store.get('/.well-known/x402', Manifest)
  const buyer = newBuyer(sandbox)
  await chain.faucet(buyer.address)
  const wait = (seconds: number) => delay(seconds * 1_000)
  const demo: Demo = { store, manifest, sandbox, buyer, tell: silent, wait }
  const bought: string[] = []
  for (const step of purchases) {
    const before = await buyer.balance()
    const { change, purchase } = await step.run(demo, nothing)
    const changed = (await buyer.balance()) - before
    if (changed !== change) throw new Error(`${step.title}: the wallet changed by ${changed}`)
    bought.push(`${purchase?.offerId} ${purchase?.state}`)
  }
  return bought
}

/** What a person does on the website, without script: chooses a coin, pays the invoice, sees the code. */
export async function personBuys(parts: Parts): Promise<string> {
  const { publicUrl, btcpay } = parts
  const store = storeAt(publicUrl)
  const path = '/buy/TEST-VOUCHER-OK'
  const hidden = hiddenFields((await look(store, path)).html)
  const refundTo = makeAddress('BTC', 'person', publicUrl)
  const named = { firstName: 'Ada', lastName: 'Lovelace' }
  const typed = { ...hidden, ...named, pay: 'BTC', 'refundTo-BTC': refundTo }
  const answer = await fetch(`${publicUrl}${path}`, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams(typed),
  })
  const page = answer.headers.get('location') ?? ''
  const [cookie = ''] = (answer.headers.getSetCookie()[0] ?? '').split(';')
  const [row] = await query(
    recordOf(parts),
    `select doc->'invoice'->>'id' as invoice from checkouts where id = $1`,
    [page.slice('/pay/'.length)],
  )
  await fetch(`${btcpay.url}/sandbox/invoices/${row?.['invoice']}/pay`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  })
  const at = async (
    path_: string,
    isThere: (seen: Awaited<ReturnType<typeof look>>) => boolean,
  ) => {
    for (let waited = 0; waited < maxFollowSeconds; waited += 1) {
      const seen = await look(store, path_, cookie)
      if (isThere(seen)) return seen
      await delay(1_000)
    }
    throw new Error(`The page ${path_} is still the same after ${maxFollowSeconds} s`)
  }
  const { location: order = '' } = await at(page, ({ status }) => status === 303)
  await at(order, ({ html }) => html.includes(`${order}/goods`))
  const goods = await press(store, `${order}/goods`, cookie)
  if (goods.status !== 200) throw new Error(`The goods of ${order} answered ${goods.status}`)
  return 'TEST-VOUCHER-OK FULFILLED'
}
