import { type Expected, provesTransfer, type TokenLog } from '../../src/payments/payment.ts'
import type { Clock } from './clock.ts'

/** A signed EIP-3009 authorization, as the token reads it. In the model, all signatures are valid. */
export interface Authorization extends Expected {
  /** Chain time, in seconds. */
  readonly validBefore: number
}

/** The call of a transaction to the token. */
export type Act =
  /** `transferWithAuthorization`. */
  | { readonly type: 'transfer'; readonly authorization: Authorization }
  /** `cancelAuthorization`, which sets the same flag as a use. */
  | { readonly type: 'cancel'; readonly authorization: Authorization }
  /** Another authorization of the payer with the same nonce, with a transfer that looks like the payment. */
  | { readonly type: 'spend elsewhere'; readonly authorization: Authorization }
  /** A plain transfer by the owner. */
  | ({ readonly type: 'move' } & Movement)

interface Movement {
  readonly from: string
  readonly to: string
  readonly value: bigint
}

export interface Transfer {
  readonly from: string
  readonly to: string
  readonly value: bigint
  readonly nonce: string
  readonly at: Date
  readonly block: number
  readonly transaction: string
}

/** A transaction in a block, with everything to undo if the block is dropped. */
export interface Mined {
  readonly hash: string
  readonly act: Act
  readonly block: number
  readonly logs: readonly TokenLog[]
  readonly moved: readonly Movement[]
  readonly transfer: Transfer | undefined
}

/** How far an RPC node is behind the chain; blocks. */
export interface View {
  readonly lag: number
  /** The lag of the safe block, which another machine may answer. */
  readonly safeLag: number
}
export const latest: View = { lag: 0, safeLag: 0 }

export type Verdict =
  | { readonly verdict: 'transferred'; readonly transaction: string; readonly block: number }
  | { readonly verdict: 'dead'; readonly cause: 'cancelled' | 'spent_elsewhere' | 'expired' }
  | { readonly verdict: 'open' }

export const blockSeconds = 2
/** The safe block is this far behind the head (30 s); newer blocks may still be dropped. */
const safeLagBlocks = 15

export type Chain = ReturnType<typeof modelChain>

/**
 * USDC on a chain: balances, authorizations that can be used or cancelled once, and their logs.
 *
 * @param onMined called for every transaction that gets into a block
 */
export function modelChain(clock: Clock, onMined: (mined: Mined) => void = () => {}) {
  const balances = new Map<string, bigint>()
  const uses = new Map<string, Mined>()
  const mined: Mined[] = []
  const transfers: Transfer[] = []
  let orphans: { readonly mined: Mined; readonly droppedIn: number }[] = []
  const token = { isPaused: false, blacklist: new Set<string>() }
  let sent = 0

  const balanceNow = (address: string) => balances.get(address.toLowerCase()) ?? 0n
  const fund = (address: string, value: bigint) =>
    balances.set(address.toLowerCase(), balanceNow(address) + value)
  const head = () => Math.floor(clock.now().getTime() / 1_000 / blockSeconds)
  const safeOf = ({ safeLag }: View) => head() - safeLag - safeLagBlocks
  const isClosedTo = (address: string) =>
    token.isPaused || token.blacklist.has(address.toLowerCase())

  function balanceOf(address: string, { lag }: View = latest): bigint {
    const wallet = address.toLowerCase()
    if (lag === 0) return balanceNow(wallet)
    const unseen = mined.filter(({ block }) => block > head() - lag).flatMap(({ moved }) => moved)
    return unseen.reduce((balance, { from, to, value }) => {
      const before = from.toLowerCase() === wallet ? balance + value : balance
      return to.toLowerCase() === wallet ? before - value : before
    }, balanceNow(wallet))
  }

  /** Mines it into the current block; undefined if the token reverts. */
  function mine(act: Act, hash = newHash()): Mined | undefined {
    if (!isPossible(act)) return undefined
    const { logs, moved } = effectOf(act)
    for (const { from, to, value } of moved) {
      fund(from, -value)
      fund(to, value)
    }
    const block = head()
    const transfer = transferOf(act, { block, hash, at: clock.now() })
    const entry = { hash, act, block, logs, moved, transfer }
    mined.push(entry)
    if (transfer) transfers.push(transfer)
    if (act.type !== 'move') uses.set(useKey(act.authorization), entry)
    onMined(entry)
    return entry
  }

  function newHash(): string {
    sent += 1
    return `0x${String(sent).padStart(64, 'a')}`
  }

  function isPossible(act: Act): boolean {
    if (act.type === 'move') return canMove(act)
    if (uses.has(useKey(act.authorization))) return false
    return act.type !== 'transfer' || canTransfer(act.authorization)
  }

  const canMove = ({ from, to, value }: Movement) =>
    !isClosedTo(from) && !isClosedTo(to) && balanceNow(from) >= value

  const canTransfer = (authorization: Authorization) =>
    head() * blockSeconds < authorization.validBefore && canMove(authorization)

  /** Drops the newest blocks, but no safe ones. Returns their transactions, the oldest first. */
  function drop(blocks: number): Mined[] {
    const from = Math.max(head() - blocks, safeOf(latest)) + 1
    const at = mined.findIndex(({ block }) => block >= from)
    const dropped = at < 0 ? [] : mined.splice(at)
    for (const entry of dropped.toReversed()) undo(entry)
    return dropped
  }

  function undo(entry: Mined): void {
    if (entry.transfer) transfers.pop()
    for (const { from, to, value } of entry.moved) {
      fund(from, value)
      fund(to, -value)
    }
    if (entry.act.type !== 'move') uses.delete(useKey(entry.act.authorization))
    orphans.push({ mined: entry, droppedIn: head() })
  }

  /** The use of an authorization that a node with this lag sees; it may be in a block that was dropped since. */
  function useSeen(authorization: Expected, { lag }: View): Mined | undefined {
    const key = useKey(authorization)
    const use = uses.get(key)
    if (use && use.block <= head() - lag) return use
    if (lag === 0) return undefined
    orphans = orphans.filter(({ droppedIn }) => droppedIn > head() - maxLag)
    return orphans.find(
      ({ mined: { act, block }, droppedIn }) =>
        act.type !== 'move' &&
        useKey(act.authorization) === key &&
        droppedIn > head() - lag &&
        block <= head() - lag,
    )?.mined
  }

  function judge(authorization: Authorization, view: View = latest): Verdict {
    const use = useSeen(authorization, view)
    const safe = safeOf(view)
    const used = uses.get(useKey(authorization))
    const isUsedForGood = used !== undefined && used.block <= safe
    // A log from a node that is behind may be of a dropped block. Only the state at the safe block proves
    // that something else used the authorization.
    if (use) return verdictOf(use, authorization, isUsedForGood)
    if (isUsedForGood || safe * blockSeconds < authorization.validBefore) return { verdict: 'open' }
    return { verdict: 'dead', cause: 'expired' }
  }

  /** The block of a transaction that proves this transfer; undefined if there is none. */
  function blockOf(hash: string, authorization: Expected, view: View = latest): number | undefined {
    const use = useSeen(authorization, view)
    return use?.hash === hash && provesTransfer(use.logs, authorization) ? use.block : undefined
  }

  return {
    token,
    /** The transfers in blocks that were not dropped, the oldest first. */
    transfers: transfers as readonly Transfer[],
    balanceOf,
    fund,
    mine,
    drop,
    execute: (authorization: Authorization) => mine({ type: 'transfer', authorization }),
    cancel: (authorization: Authorization) => mine({ type: 'cancel', authorization }),
    spendElsewhere: (authorization: Authorization) =>
      mine({ type: 'spend elsewhere', authorization }),
    judge,
    blockOf,
    isClosedTo,
    head,
    seconds: () => head() * blockSeconds,
    isSafe: (block: number, view: View = latest) => block <= safeOf(view),
    /** Whether this transaction used the authorization in a block that is safe for this view. */
    isUsedForGood(hash: string, authorization: Expected, view: View = latest): boolean {
      const used = uses.get(useKey(authorization))
      return used !== undefined && used.hash === hash && used.block <= safeOf(view)
    },
    isUsed: (authorization: Authorization, view: View = latest) =>
      useSeen(authorization, view) !== undefined,
  }
}

/** The largest lag of an RPC node; blocks. */
const maxLag = 30

function useKey({ from, nonce }: Expected): string {
  return `${from}:${nonce}`.toLowerCase()
}

function effectOf(act: Act): Pick<Mined, 'logs' | 'moved'> {
  switch (act.type) {
    case 'move':
      return { logs: [], moved: [act] }
    case 'transfer':
      return { logs: logsOf(act), moved: [act.authorization] }
    default:
      return { logs: logsOf(act), moved: [] }
  }
}

function transferOf(
  act: Act,
  place: { block: number; hash: string; at: Date },
): Transfer | undefined {
  if (act.type !== 'transfer') return undefined
  const { from, to, value, nonce } = act.authorization
  return { from, to, value, nonce, at: place.at, block: place.block, transaction: place.hash }
}

function logsOf({ type, authorization }: Exclude<Act, { type: 'move' }>): TokenLog[] {
  const { from, to, value, nonce } = authorization
  switch (type) {
    case 'transfer':
      return [
        { event: 'AuthorizationUsed', authorizer: from, nonce, index: 0 },
        { event: 'Transfer', from, to, value, index: 1 },
      ]
    case 'cancel':
      return [{ event: 'AuthorizationCanceled', authorizer: from, nonce, index: 0 }]
    case 'spend elsewhere':
      return [
        { event: 'AuthorizationUsed', authorizer: from, nonce, index: 0 },
        { event: 'Transfer', from, to: from, value, index: 1 },
        { event: 'Transfer', from: 'another buyer', to, value, index: 2 },
      ]
  }
}

/** Only logs prove a transfer, and only a final use of the nonce proves that none will come. */
function verdictOf(
  { logs, hash, block }: Mined,
  expected: Authorization,
  isForGood: boolean,
): Verdict {
  if (provesTransfer(logs, expected)) return { verdict: 'transferred', transaction: hash, block }
  if (!isForGood) return { verdict: 'open' }
  const isCancelled = logs.some(({ event }) => event === 'AuthorizationCanceled')
  return { verdict: 'dead', cause: isCancelled ? 'cancelled' : 'spent_elsewhere' }
}
