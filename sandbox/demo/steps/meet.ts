import { Faucet } from '../answers.ts'
import type { Step } from '../demo.ts'
import { usdcText } from '../money.ts'

/** Reads what the store says about itself, and gets test money. */
export const meet: Step = {
  name: 'meet',
  title: 'Meet the store, and fill an empty wallet',
  async run({ store, manifest, sandbox, buyer, tell }) {
    const { provider_health, agent_action } = manifest.signals
    tell.fact('Store', `${manifest.name} at ${store.url} (GET /.well-known/x402)`)
    tell.fact('Signals', `provider_health ${provider_health}, agent_action ${agent_action}`)
    tell.fact('Chain', `${sandbox.chainId} at ${sandbox.rpcUrl}, USDC ${sandbox.usdc}`)
    tell.fact('Buyer', `${buyer.address}, a wallet made for this run: no account, no API key`)
    if (agent_action === 'stop') {
      throw new Error(`The store asks agents to stop: its health is ${provider_health}.`)
    }
    const { body } = await store.post('/sandbox/faucet', Faucet, { address: buyer.address })
    tell.fact('Faucet', `${usdcText(body.amount)} USDC of test money, worth nothing elsewhere`)
    tell.fact('Transaction', body.transactionHash)
    return {
      change: body.amount,
      data: {
        store: store.url,
        name: manifest.name,
        signals: manifest.signals,
        sandbox,
        wallet: buyer.address,
        faucet: { usdc: usdcText(body.amount), transactionHash: body.transactionHash },
      },
    }
  },
}
