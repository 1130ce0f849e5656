import { createTransport, type EIP1193RequestFn, type Transport } from 'viem'
import { type NodeLoad, nodeLoad } from './node-load.ts'
import { type NodeAddress, nodeAddress, type RpcRequest, resultOf } from './rpc-call.ts'

/** The limit of one call to a node; an order's lease is much longer. */
const maxCallMs = 8_000

/**
 * The gas limit of an `eth_call`. Checking a signature can run the payer's own contract, which must not
 * compute for as long as the node allows. A smart wallet with a passkey that has yet to be deployed takes
 * about a fifth of this.
 */
const callGas = '0x989680'

/**
 * The gas limit of an estimate. A node finds the answer by executing the call a dozen times. The store
 * pays for a quarter of this at most.
 */
const estimateGas = '0x3d0900'

const gasFor: Readonly<Record<string, string>> = {
  eth_call: callGas,
  eth_estimateGas: estimateGas,
}

/**
 * The transport to a node. It calls only the URL that the operator gave, and limits the time from the
 * connection to the last byte, the size of the answer and the gas of a call. A call that fails in transit,
 * or that the node could not answer just then, is repeated once.
 */
export function rpcTransport(
  url: string,
  load: NodeLoad = nodeLoad(),
  maxMs = maxCallMs,
): Transport {
  const address = nodeAddress(url)
  return ({ timeout }) =>
    createTransport({
      key: 'http',
      name: 'HTTP JSON-RPC',
      type: 'http',
      retryCount: 1,
      timeout,
      request: requestOf(address, maxMs, load),
    })
}

function requestOf(address: NodeAddress, maxMs: number, load: NodeLoad): EIP1193RequestFn {
  const request = async (asked: RpcRequest) => {
    try {
      const result = await resultOf(address, withGas(asked), maxMs)
      load.note()
      return result
    } catch (error) {
      load.note(error)
      throw error
    }
  }
  return request as EIP1193RequestFn
}

function withGas(asked: RpcRequest): RpcRequest {
  const gas = gasFor[asked.method]
  if (gas === undefined || !Array.isArray(asked.params)) return asked
  const [call, ...rest] = asked.params
  return { ...asked, params: [{ gas, ...call }, ...rest] }
}
