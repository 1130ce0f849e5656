declare const brand: unique symbol

/** A `T` that only its own constructor can make, so that two kinds of string or bigint never mix. */
export type Brand<T, Name extends string> = T & { readonly [brand]: Name }
