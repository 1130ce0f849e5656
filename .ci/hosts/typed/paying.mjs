import { x402Client } from '@x402/core/client'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { wrapFetchWithPayment } from '@x402/fetch'
import { privateKeyToAccount } from 'viem/accounts'

/** Generated clients know nothing of x402: the fetch that they use pays. */
const account = privateKeyToAccount(process.env.PRIVATE_KEY)
const client = new x402Client().register('eip155:*', new ExactEvmScheme(account))
globalThis.fetch = wrapFetchWithPayment(globalThis.fetch, client)
