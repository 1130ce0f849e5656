declare const brand: unique symbol

/** A `T` that only its own constructor creates, so that the compiler tells two kinds of string or bigint apart. */
export type Brand<T, Name extends string> = T & { readonly [brand]: Name }
