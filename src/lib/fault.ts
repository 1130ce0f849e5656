/** One fault of one field of a request. The API and the website each word it themselves. */
export type Fault = FaultReason & {
  readonly field: string
  /** The value that the caller probably meant. */
  readonly didYouMean?: string | number
}

export type FaultCode = FaultReason['code']

/** The code of a fault, with the values that its message contains. */
export type FaultReason = Plain | Bounded | OtherPlace | Listed | BadAddress

interface Plain {
  readonly code:
    | 'missing'
    | 'missing_offer'
    /** The value does not have the format of this field. */
    | 'malformed'
    | 'unknown_field'
    /** More than one was asked for at once. */
    | 'several'
    /** A value was given for an offer with a fixed price. */
    | 'fixed_price'
    | 'impossible_number'
    | 'not_mobile'
    /** No numbering plan contains this number. The buyer may confirm it. */
    | 'unassigned_number'
    /** This eSIM cannot be topped up with the store's plans. */
    | 'foreign_esim'
    /** The address belongs to the store itself. */
    | 'own_address'
}

/** Amounts are US dollars with two decimals. */
interface Bounded {
  readonly code: 'missing_value' | 'out_of_range'
  readonly min: string
  readonly max: string
  readonly step: string
}

/** The phone number belongs to another country than the offer. */
type OtherPlace =
  | {
      readonly code: 'other_calling_code'
      readonly found: string
      readonly country: string
      readonly wanted: string
    }
  | { readonly code: 'other_country'; readonly found: string; readonly country: string }

type Listed =
  /** `position` counts from 1. */
  | { readonly code: 'malformed_item'; readonly position: number }
  | { readonly code: 'unknown_limit' | 'no_limit'; readonly known: readonly string[] }
  | { readonly code: 'unknown_coin'; readonly known: readonly string[] }

interface BadAddress {
  readonly code: 'bad_address'
  readonly reason: AddressFault
}

export type AddressFault =
  | 'missing'
  | 'spaces'
  | 'no_address'
  | 'link'
  | 'mistyped'
  | 'wrong_coin'
  | 'test_network'
  | 'unpayable'
