import { beginningOf } from '../../api/fault-words.ts'
import { purchasePath } from '../../api/paths.ts'
import type { Offer } from '../../catalog/offer.ts'
import type { FaultCode } from '../../lib/refusal.ts'
import type { Payee } from '../../payments/terms.ts'
import { type Html, html } from '../frame/html.ts'
import { type MessageId, messagesOf, type Texts } from '../texts/texts.ts'
import { type FormField, fieldTextsIn, names } from './form.ts'

/** The form's value for paying from a wallet; no coin has this name. */
const walletWay = 'USDC'

/**
 * What the wallet's script knows about this purchase. It signs nothing that differs from this, whatever the store
 * answers later.
 */
export interface WalletSettings {
  readonly store: string
  readonly offerId: string
  readonly purchaseUrl: string
  /** The price as `seenOf` writes it. */
  readonly seen: string
  readonly network: {
    readonly id: string
    readonly chainId: number
    readonly name: string
    /** An RPC endpoint for wallets that do not know the chain. The page itself never calls it. */
    readonly rpcUrl: string
    readonly explorer: string
  }
  readonly asset: string
  readonly domain: { readonly name: string; readonly version: string }
  readonly payTo: string
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
      rpcUrl: network.publicRpcUrl,
      explorer: new URL(network.explorer).origin,
    },
    asset: network.usdc,
    domain: network.usdcDomain,
    payTo,
  }
}

/** The names of the messages of paying from a wallet, without "wallet." before them. */
export type WalletText = {
  [Id in MessageId]: Id extends `wallet.${infer Name}` ? Name : never
}[MessageId]

export type PayFault = WalletText extends infer Name
  ? Name extends `faults.${infer Fault}`
    ? Fault
    : never
  : never

const walletTexts = Object.keys(messagesOf('en')).flatMap((id) =>
  id.startsWith('wallet.') ? [id.slice('wallet.'.length) as WalletText] : [],
)

/** The panel for paying from a wallet in this browser. It is hidden until the script shows it. */
export function walletPanel(
  settings: WalletSettings,
  fields: readonly FormField[],
  t: Texts,
): Html {
  const { network } = settings
  // Faults of fields have the same texts as when the form is sent for a coin.
  const words = {
    ...Object.fromEntries(walletTexts.map((name) => [name, t.open(`wallet.${name}`)])),
    fields: faultTexts(fields, t),
  }
  return html`<div class="way" id="wallet" data-settings="${JSON.stringify(settings)}" data-texts="${JSON.stringify(words)}" hidden="hidden">
<input type="radio" id="pay-${walletWay}" name="${names.pay}" value="${walletWay}">
<label for="pay-${walletWay}"><b>${t('form.wallet', { network: network.name })}</b> <span>${t('form.walletHint')}</span></label>
<div class="panel">
<div class="wallets" id="wallets" tabindex="-1"></div>
<p class="fault" id="wallet-fault" role="alert"></p>
<p class="step" id="wallet-step" role="status"></p>
<button class="button wide" type="button" id="wallet-pay" hidden="hidden"></button>
</div>
</div>
`
}

/** The script recognises a fault by the beginning of the API's sentence. */
function faultTexts(shown: readonly FormField[], t: Texts) {
  const fields = fieldTextsIn(t)
  const texts = shown.flatMap(({ name }) => {
    const known = fields[name]
    if (known === undefined) return []
    const { missing, wrong, faults = {} } = known
    const codes = Object.entries(faults) as [FaultCode, string][]
    const said = codes.map(([code, text]) => [beginningOf(code, name), text])
    return [[name, { missing, wrong, said }] as const]
  })
  return Object.fromEntries(texts)
}
