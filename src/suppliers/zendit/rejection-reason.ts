/** Why an offer of the supplier's list is rejected: the names under which they are counted. */
export const rejectionReasons = [
  'not_an_object',
  'missing_offer_id',
  'bad_offer_id',
  'duplicate_offer_id',
  'disabled',
  'wrong_product_type',
  'no_brand',
  'no_country',
  'unknown_country',
  'no_coverage',
  'bad_required_fields',
  'no_price',
  'unknown_price_type',
  'bad_currency',
  'bad_divisor',
  'price_not_whole',
  'price_not_positive',
  'price_too_high',
  'bad_range',
  'unreadable_cost',
] as const
export type RejectionReason = (typeof rejectionReasons)[number]
