import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { CoinPayout } from '../../checkouts/ports.ts'
import type { PaidBack } from '../../payments/payment.ts'
import { type RecordedRequest, type Reply, scripted } from './scripted.fixture.ts'

const payout: CoinPayout = {
  reference: 'ref_1-1',
  coin: 'BTC',
  network: 'Bitcoin',
  to: 'bc1qbuyer',
  units: 120_000n,
}

interface Pull {
  readonly id: string
  archived: boolean
  readonly outs: { readonly id: string; state: string }[]
}

/**
 * BTCPay's pull payments; requests take effect one after the other. BTCPay also refuses a second payout under
 * way to the same address. That is left out, because nothing may depend on it.
 */
function pullPayments() {
  const pulls: Pull[] = []
  const amount = '0.0012'
  const shown = ({ id, archived }: Pull) => ({
    id,
    name: payout.reference,
    currency: 'BTC',
    amount,
    archived,
  })
  const outShown = ({ id, state }: { id: string; state: string }) => ({
    id,
    destination: payout.to,
    originalAmount: amount,
    state,
    paymentProof: state === 'Completed' ? { id: 'ab'.repeat(32) } : null,
  })
  const isLive = ({ state }: { state: string }) => state !== 'Cancelled'

  function create(): Reply {
    // The order of ids says nothing about which pull payment was created first.
    const pull = {
      id: `P${(pulls.length * 7 + 3) % 10}x${pulls.length}`,
      archived: false,
      outs: [],
    }
    pulls.push(pull)
    return { json: shown(pull) }
  }
  function claim(pull: Pull): Reply {
    if (pull.archived) return { status: 400, json: { code: 'archived', message: '' } }
    if (pull.outs.some(isLive)) return { status: 400, json: { code: 'overdraft', message: '' } }
    const out = { id: `O${pull.id}${pull.outs.length}`, state: 'AwaitingPayment' }
    pull.outs.push(out)
    return { json: outShown(out) }
  }
  function archive(pull: Pull): Reply {
    pull.archived = true
    for (const out of pull.outs) if (out.state === 'AwaitingPayment') out.state = 'Cancelled'
    return {}
  }
  function onOne(method: string | undefined, pull: Pull): Reply {
    if (method === 'DELETE') return archive(pull)
    return method === 'POST' ? claim(pull) : { json: pull.outs.map(outShown) }
  }
  return {
    pulls,
    live: () => pulls.flatMap(({ outs }) => outs.filter(isLive)),
    complete() {
      for (const { outs } of pulls) {
        for (const out of outs) if (out.state === 'AwaitingPayment') out.state = 'Completed'
      }
    },
    serve({ call }: RecordedRequest): Reply {
      const [method, path = ''] = call.split(' ')
      const [, id] = /\/pull-payments\/(\w+)/.exec(path) ?? []
      const pull = pulls.find((one) => one.id === id)
      if (pull !== undefined) return onOne(method, pull)
      return method === 'POST' ? create() : { json: pulls.map(shown) }
    },
  }
}

/** `lost`: done, but the answer is lost. `never`: not done. `late`: done after the caller gave up. */
const fates = ['heard', 'lost', 'never', 'late', 'late'] as const

/** Random numbers from a seed, so that a failure can be repeated. */
function drawing(seed: number) {
  let state = seed
  return (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return (state >>> 8) % below
  }
}

/** A network that delays, reorders and loses requests, until it is calm. */
function network(serve: (asked: RecordedRequest) => Reply, draw: (below: number) => number) {
  const late: RecordedRequest[] = []
  const network = { isCalm: false }
  const land = (at: number) => {
    for (const asked of late.splice(at, 1)) serve(asked)
  }
  async function inStorm(asked: RecordedRequest): Promise<Reply> {
    for (let wait = draw(6); wait > 0; wait -= 1) await Promise.resolve()
    if (late.length > 0 && draw(10) === 0) land(draw(late.length))
    // Reads may be lost too, but that shows little, so it is rare.
    const fate = asked.call.startsWith('GET') && draw(8) > 0 ? 'heard' : fates[draw(fates.length)]
    switch (fate) {
      case 'heard':
        return serve(asked)
      case 'lost':
        serve(asked)
        return 'unreached'
      case 'late':
        late.push(asked)
        return 'unreached'
      default:
        return 'unreached'
    }
  }
  return {
    arrive: (asked: RecordedRequest) => (network.isCalm ? serve(asked) : inStorm(asked)),
    calmDown() {
      while (late.length > 0) land(0)
      network.isCalm = true
    },
  }
}

/** Two nodes, which the lease would keep apart, pay the same reference at once. */
async function play(seed: number) {
  const draw = drawing(seed)
  const btcpay = pullPayments()
  const { arrive, calmDown } = network(btcpay.serve, draw)
  const { processor } = scripted(arrive)
  for (let round = 0; round < 6; round += 1) {
    await Promise.all([processor.payOut(payout), processor.payOut(payout)])
    if (draw(3) === 0) btcpay.complete()
    expect(btcpay.live().length, 'payouts at one time').toBeLessThanOrEqual(1)
  }
  calmDown()
  const last: PaidBack[] = []
  for (let round = 0; round < 6; round += 1) {
    last.push(await processor.payOut(payout))
    btcpay.complete()
  }
  return { live: btcpay.live(), last: last.at(-1), pulls: btcpay.pulls }
}

it('pays once, whatever the network does and however many ask', async () => {
  let several = 0
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 0xffff_ffff }), async (seed) => {
      const { live, last, pulls } = await play(seed)
      if (pulls.length > 1) several += 1
      // A claim that was cancelled on its way waits for an operator; nothing is ever paid twice.
      expect(live.length).toBeLessThanOrEqual(1)
      expect(last).toMatchObject(
        live.length === 1 ? { outcome: 'paid' } : { outcome: 'blocked', code: 'payout_cancelled' },
      )
    }),
    { numRuns: 600 },
  )
  expect(several, 'runs with more than one pull payment').toBeGreaterThan(100)
})
