import { type EIP1193RequestFn, http, type Transport } from 'viem'

/** No call to the chain may hang longer than this; an order's lease is much longer. */
const callMostMs = 8_000

/** The receipt of one transaction that fills a block with logs has less. */
const answerMostBytes = 10 * 1_048_576

/**
 * What a call that changes nothing may compute. Checking a signature can run a contract of the
 * payer's own, which shall not compute for as long as the node allows. A smart wallet with a
 * passkey that has yet to be deployed takes about a fifth of this.
 */
const callGas = '0x989680'

/**
 * How a node is spoken with: to the address that the operator gave and to no other, for a limited
 * time from the connection to the last byte, with limits on what it answers and computes.
 */
export function rpcTransport(url: string, mostMs = callMostMs): Transport {
  const plain = http(url, {
    timeout: mostMs,
    retryCount: 1,
    batch: false,
    maxResponseBodySize: answerMostBytes,
    // The package's own time ends with the first byte of the body.
    fetchFn: (target, init) => {
      const signals = [AbortSignal.timeout(mostMs), ...(init?.signal ? [init.signal] : [])]
      return fetch(target, { ...init, redirect: 'error', signal: AbortSignal.any(signals) })
    },
  })
  return (config) => {
    const transport = plain(config)
    const request = ((asked, options) =>
      transport.request(withGas(asked) as never, options)) as EIP1193RequestFn
    return { ...transport, request }
  }
}

function withGas(asked: { readonly method: string; readonly params?: unknown }): unknown {
  if (asked.method !== 'eth_call' || !Array.isArray(asked.params)) return asked
  const [call, ...rest] = asked.params
  return { ...asked, params: [{ gas: callGas, ...call }, ...rest] }
}
