/** The chains whose addresses can be told apart by their looks. */
export type Chain = 'Bitcoin' | 'Litecoin' | 'Ethereum' | 'Tron' | 'Monero'

/**
 * What a text is, judged by itself: an address of a chain, or something that was meant to be one.
 * Chains of Ethereum's kind look alike and are all called Ethereum here.
 */
export type Recognised =
  | {
      readonly is: 'address'
      /** More than one where networks share their addresses, as test networks do. */
      readonly chains: readonly Chain[]
      /** In its usual spelling. */
      readonly address: string
      readonly isTest: boolean
    }
  /** Meant for this chain, but a character is wrong, missing or too much. */
  | { readonly is: 'mistyped'; readonly chain: Chain }
  /** Meant for this chain, and of a kind that money must not be sent to. */
  | { readonly is: 'unpayable'; readonly chain: Chain }
