import { purchasePath } from '../../api/paths.ts'
import type { Offer } from '../../catalog/offer.ts'
import type { Payee } from '../../payments/terms.ts'
import { type Html, html } from '../frame/html.ts'
import type { Texts } from '../texts/en.ts'
import type { FormField } from './form-fields.ts'
import { names } from './typed.ts'

/** What the form has to be chosen for the wallet; no coin has this name. */
const walletWay = 'USDC'

/**
 * What the script is told of this purchase. It signs nothing that differs from this, whatever an answer
 * of the store says later.
 */
export interface WalletSettings {
  readonly store: string
  readonly offerId: string
  /** Where it is bought. */
  readonly purchaseUrl: string
  /** The price as the form carries it. */
  readonly seen: string
  readonly network: {
    /** CAIP-2. */
    readonly id: string
    readonly chainId: number
    readonly name: string
    /** Where a wallet that does not know the chain finds it. The page itself never asks there. */
    readonly rpcUrl: string
    readonly explorer: string
  }
  readonly asset: string
  readonly domain: { readonly name: string; readonly version: string }
  readonly payTo: string
}

/** Public nodes of the chains, by CAIP-2, for wallets that have to add them. */
const rpcUrls: Readonly<Record<string, string>> = {
  'eip155:8453': 'https://mainnet.base.org',
  'eip155:84532': 'https://sepolia.base.org',
}

export function walletSettings(
  offer: Pick<Offer, 'id' | 'kind'>,
  { network, payTo }: Payee,
  { seen, store }: { readonly seen: string; readonly store: string },
): WalletSettings {
  return {
    store,
    offerId: offer.id,
    purchaseUrl: purchasePath(offer.kind),
    seen,
    network: {
      id: network.id,
      chainId: network.chainId,
      name: network.name,
      rpcUrl: rpcUrls[network.id] ?? '',
      explorer: new URL(network.explorer).origin,
    },
    asset: network.usdc,
    domain: network.usdcDomain,
    payTo,
  }
}

/** Paying from a wallet in this browser. It needs script, which shows it. */
export function walletPanel(
  settings: WalletSettings,
  fields: readonly FormField[],
  { form, wallet }: Texts,
): Html {
  const { network } = settings
  // What is wrong with a field is said in the same words as where the form is sent for a coin.
  const said = fields.map(({ name }) => [name, form.fields[name]] as const)
  const texts = { ...wallet, fields: Object.fromEntries(said) }
  return html`<div class="way" id="wallet" data-settings="${JSON.stringify(settings)}" data-texts="${JSON.stringify(texts)}" hidden="hidden">
<input type="radio" id="pay-${walletWay}" name="${names.pay}" value="${walletWay}">
<label for="pay-${walletWay}"><b>${form.wallet(network.name)}</b> <span>${form.walletHint}</span></label>
<div class="panel">
<div class="wallets" id="wallets" tabindex="-1"></div>
<p class="fault" id="wallet-fault" role="alert"></p>
<p class="step" id="wallet-step" role="status"></p>
<button class="button wide" type="button" id="wallet-pay" hidden="hidden"></button>
</div>
</div>
`
}
