import { createTransport, type EIP1193RequestFn, type Transport } from 'viem'
import { type NodeLoad, nodeLoad } from './node-load.ts'
import { type NodeAddress, nodeAddress, type RpcRequest, resultOf } from './rpc-call.ts'

/** No call to the chain may hang longer than this; an order's lease is much longer. */
const maxCallMs = 8_000

/**
 * What a call that changes nothing may compute. Checking a signature can run a contract of the
 * payer's own, which shall not compute for as long as the node allows. A smart wallet with a
 * passkey that has yet to be deployed takes about a fifth of this.
 */
const callGas = '0x989680'

/**
 * What an estimate may try with. A node looks for the answer by carrying the call out a dozen times, and
 * the most that the store pays for is a quarter of this.
 */
const estimateGas = '0x3d0900'

const gasFor: Readonly<Record<string, string>> = {
  eth_call: callGas,
  eth_estimateGas: estimateGas,
}

/**
 * How a node is spoken with: to the address that the operator gave and to no other, for a limited
 * time from the connection to the last byte, with limits on what it answers and computes. A call
 * that fails on its way, or that the node could not answer just then, is made once more.
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
