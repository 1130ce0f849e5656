/** Words that only our insides know: stacks, files, the libraries, the database. */
const insides =
  /\bstack\b|\n\s+at |\bat \S+ \(|\/src\/|\bnode_modules\b|\bnode:|\.ts\b|\bECONN|\bEPIPE\b|\bfastify\b|\bFST_|\bzod\b|\bundici\b|\bviem\b|\bpostgres|\bsql\b|\bselect \w|\binsert into|\bdelete from|\brelation "|\bconstraint\b|\b\w+Error\b:|\bundefined\b|\[object/i

/** Demands in base64, signed prices, sealed addresses and what RFC 7515 signs are random letters, and these make words. */
const randomLetters =
  /(?<=payment-required: )\S+|(?<="quote":")[^"]+|(?<=\/x402\/)[\w-]+|\beyJ[\w-]+\.[\w-]+\.[\w-]+/gi

/** What a text tells about how the store is made; undefined when it tells nothing. */
export function insidesIn(text: string): string | undefined {
  return insides.exec(text.replace(randomLetters, ''))?.[0]
}
