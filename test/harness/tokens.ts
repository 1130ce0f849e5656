import { Tiktoken } from 'js-tiktoken/lite'
import o200k from 'js-tiktoken/ranks/o200k_base'

let encoder: Tiktoken | undefined

/** The number of tokens of a text in the o200k encoding. */
export function tokensIn(text: string): number {
  encoder ??= new Tiktoken(o200k)
  return encoder.encode(text).length
}
