import { type Hex, type Log, parseEventLogs } from 'viem'
import { usdc } from '../../lib/money.ts'
import type { ChainStatement, ChainTransfer, StoreWallet } from '../../reconcile/ports.ts'
import { type Blocks, blockAt, type ChainNode, inPieces, receiptOf } from './clients.ts'
import { refundNonceOf } from './refunds.ts'
import { floatOf, tokenAbi, tokenLogsIn, topicOf, transferTopic, usedTopic } from './token.ts'

const payersAtOnce = 200

export function chainStatement(chain: ChainNode, wallets: readonly StoreWallet[]): ChainStatement {
  const { network, reader } = chain
  const topicsOf = (role: StoreWallet['role']) =>
    wallets.filter((wallet) => wallet.role === role).map(({ address }) => topicOf(address))
  const [payTo, refunds] = [topicsOf('pay_to'), topicsOf('refunds')]
  return {
    network: network.id,
    asset: network.usdc,
    wallets,

    async heads() {
      const [newest, safe] = await Promise.all([
        reader.getBlockNumber(),
        reader.getBlock({ blockTag: 'safe' }),
      ])
      return { newest: Number(newest), safe: Number(safe.number) }
    },

    received: (from, to) => inPieces({ from, to }, (blocks) => readReceived(chain, payTo, blocks)),

    paidBack: (from, to) =>
      inPieces({ from, to }, async (blocks) =>
        pairTransfers(await tokenLogsIn(chain, blocks, [[transferTopic, usedTopic], refunds])),
      ),

    blockBefore: async (seconds) => {
      const head = await reader.getBlock()
      return blockAt(chain, Number(head.timestamp) - seconds, head)
    },

    async blockAt(time) {
      return blockAt(chain, Math.floor(time.getTime() / 1_000), await reader.getBlock())
    },

    async minedAt(block) {
      const { timestamp } = await reader.getBlock({ blockNumber: BigInt(block) })
      return new Date(Number(timestamp) * 1_000)
    },

    async transferIn(transaction, nonce) {
      const transfers = await transfersIn(chain, transaction)
      return transfers.find((transfer) => transfer.nonce === nonce.toLowerCase())
    },

    plainTransfersIn: async (transaction) =>
      (await transfersIn(chain, transaction)).filter(({ nonce }) => nonce === undefined),

    sentPlainly: (to, from, until) =>
      inPieces({ from, to: until }, (blocks) =>
        readSentPlainly(chain, [...payTo, ...refunds], to, blocks),
      ),

    refundNonceOf: (reference) => refundNonceOf(network.chainId, reference),

    holds: (address) => floatOf(chain, address),
  }
}

async function readReceived(chain: ChainNode, payTo: readonly Hex[], blocks: Blocks) {
  const transfers = await tokenLogsIn(chain, blocks, [transferTopic, null, payTo])
  const payers = [...new Set(transfers.flatMap(({ topics }) => topics[1] ?? []))]
  const used: Log[] = []
  for (let first = 0; first < payers.length; first += payersAtOnce) {
    const some = payers.slice(first, first + payersAtOnce)
    used.push(...(await tokenLogsIn(chain, blocks, [usedTopic, some])))
  }
  return pairTransfers([...transfers, ...used])
}

/** The authorizations of our wallets are read too, because only they tell which transfers are plain. */
async function readSentPlainly(chain: ChainNode, from: readonly Hex[], to: string, blocks: Blocks) {
  const [transfers, used] = await Promise.all([
    tokenLogsIn(chain, blocks, [transferTopic, from, topicOf(to)]),
    tokenLogsIn(chain, blocks, [usedTopic, from]),
  ])
  return pairTransfers([...transfers, ...used]).filter(({ nonce }) => nonce === undefined)
}

async function transfersIn(chain: ChainNode, transaction: string): Promise<ChainTransfer[]> {
  const receipt = await receiptOf(chain, transaction as Hex)
  if (receipt?.status !== 'success') return []
  const token = chain.network.usdc.toLowerCase()
  return pairTransfers(receipt.logs.filter(({ address }) => address.toLowerCase() === token))
}

type TokenLogs = ReturnType<typeof parseEventLogs<typeof tokenAbi>>

/** Each transfer with the authorization directly before it: no other order proves anything (payments/payment.ts). */
function pairTransfers(rawLogs: Log[]): ChainTransfer[] {
  const logs = parseEventLogs({ abi: tokenAbi, logs: rawLogs })
  const used = new Map(
    logs.flatMap((log) =>
      log.eventName === 'AuthorizationUsed' ? [[placeOf(log, 1), log.args] as const] : [],
    ),
  )
  return logs
    .flatMap((log) => {
      if (log.eventName !== 'Transfer') return []
      const authorized = used.get(placeOf(log, 0))
      const isHis = authorized?.authorizer === log.args.from
      return [transferOf(log, isHis ? authorized?.nonce : undefined)]
    })
    .sort((one, other) => one.block - other.block || one.logIndex - other.logIndex)
}

function placeOf({ transactionHash, logIndex }: TokenLogs[number], after: number): string {
  return `${transactionHash}:${(logIndex ?? 0) + after}`
}

function transferOf(
  log: Extract<TokenLogs[number], { eventName: 'Transfer' }>,
  nonce: Hex | undefined,
): ChainTransfer {
  const { args, transactionHash, blockNumber, logIndex } = log
  return {
    transaction: (transactionHash ?? '').toLowerCase(),
    block: Number(blockNumber),
    logIndex: logIndex ?? 0,
    from: args.from.toLowerCase(),
    to: args.to.toLowerCase(),
    amount: usdc(args.value),
    ...(nonce === undefined ? {} : { nonce: nonce.toLowerCase() }),
  }
}
